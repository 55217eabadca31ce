#pragma once
// The exceptions of the library: Error, and under it UsageError, DeviceError and RunError. A configuration that fails
// is no exception but a result.

#include "base/error.hpp"
