#pragma once
// Whether this program can serve as its own worker and compile processes.

#include "wattune/runtime.hpp"

namespace wattune {

/// True once a Runtime was made.
bool runtime_exists() noexcept;

}  // namespace wattune
