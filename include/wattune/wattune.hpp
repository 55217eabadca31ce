#pragma once
// The library's public interface. Programs link wattune::wattune and include this, or the parts they need.

#include "wattune/configuration.hpp"
#include "wattune/device.hpp"
#include "wattune/error.hpp"
#include "wattune/launch_function.hpp"
#include "wattune/observer.hpp"
#include "wattune/reference.hpp"
#include "wattune/runtime.hpp"
#include "wattune/tune.hpp"
#include "wattune/value.hpp"
