#pragma once
// What an evaluation tells about the settings that it ran at.

#include "result/evaluation.hpp"

namespace wattune {

enum class Reach {
  reached,  ///< the device works there
  failed,   ///< it does not, or the configuration does not work at all
  unknown   ///< the power cap held the clock below: whether the device could reach it, this configuration cannot tell
};

Reach reach_shown_by(const Evaluation& evaluation);

}  // namespace wattune
