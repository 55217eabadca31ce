#pragma once
// The two-clock search of the joint space of configurations and clocks.

#include "method/stage.hpp"

namespace wattune {

/// A few variants at maximum clock, the best of them at three more clocks, which tell the clock that is most efficient.
/// Then configurations are searched at these two clocks; from time to time the best of either are carried to other
/// clocks, with some that promise much of lower ones, and where another clock turns out better than the predicted one,
/// configurations are searched there as well.
std::unique_ptr<Strategy> make_two_clock(MethodInputs inputs);

}  // namespace wattune
