#pragma once

#include "space/counting.hpp"
#include "space/model.hpp"
#include "space/search_space.hpp"

namespace wattune {

struct SearchSpace::Impl {
  Definition definition;
  Count cartesian = 1;
  Counted counted;
  double build_seconds = 0;
};

}  // namespace wattune
