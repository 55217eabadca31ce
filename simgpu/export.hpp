#pragma once
// Everything that the library exports is declared with this; all else is hidden.

#define WATTUNE_SIM_EXPORT extern "C" __attribute__((visibility("default")))
