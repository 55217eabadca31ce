#pragma once
// The host references of the kernel suite.

namespace wattune {

/// Registers them (see register_host_reference), by the names that the problem files use. May be called again.
void register_kernel_references();

}  // namespace wattune
