#pragma once
// Value: what parameters and scalar arguments hold.

#include "expr/value.hpp"
