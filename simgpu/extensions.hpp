#pragma once
// What the simulated GPU offers beyond NVIDIA's libraries. Plain C, found by name with dlsym: all of it is optional to
// who loads the library. Boards are counted as NVML counts them.

extern "C" {

/// 0 where simulated GPUs can be used; else 1, and in `message` one line that says what is wrong with the environment.
using WattuneSimCheck = int(char* message, unsigned length);
/// The name of a board as in sim:NAME. 0, or 1 where there is no such board.
using WattuneSimBoardName = int(unsigned board, char* name, unsigned length);
/// The board that a device of the CUDA driver is; -1 where it is none.
using WattuneSimBoardOf = int(int cuda_device);
/// What each of the next launches of this process computes and moves, in FLOP and bytes; 0: unknown.
using WattuneSimWorkload = void(double flop, double bytes);
/// Device time, s.
using WattuneSimNow = double(unsigned board);
using WattuneSimSleepUntil = void(unsigned board, double seconds);
/// Adds faults, written as in WATTUNE_SIM_FAULTS. 0; else 1 and a message.
using WattuneSimFault = int(const char* faults, char* message, unsigned length);
/// The truth about a board: "power" (W), "energy" (J since the beginning), "voltage" (V), "temperature" (degC),
/// "sm_clock", "memory_clock" (Hz), "power_limit" (W), "sm_lock_low", "sm_lock_high", "memory_lock_low",
/// "memory_lock_high", "application_sm_clock", "application_memory_clock" (Hz, 0: not set), "contexts",
/// "voltage_readout" (1: nvidia-smi tells this board's voltage). NaN for anything else.
using WattuneSimTruth = double(unsigned board, const char* what);

}  // extern "C"
