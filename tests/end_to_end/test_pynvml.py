"""Other programs open the library of simulated GPUs in place of NVML: pynvml where it is installed, and what it does by
hand where it is not."""

import ctypes
import os
import pathlib
import subprocess
import sys
import textwrap
import unittest

import harness

LIBRARY = pathlib.Path(os.environ.get("WATTUNE_SIMGPU") or
                       pathlib.Path(harness.WATTUNE).resolve().parents[1] / "lib" / "wattune" / "libwattune_simgpu.so")
INSTALLED = subprocess.run([sys.executable, "-c", "import pynvml"], capture_output=True, check=False).returncode == 0


class OtherProgram(harness.CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "libnvidia-ml.so.1").symlink_to(LIBRARY)

    def python(self, program, **environment):
        """Runs a program for which the simulated library is the installed NVML; returns what it prints."""
        done = subprocess.run([sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False,
                              timeout=60, env={**os.environ, "LD_LIBRARY_PATH": str(self.folder),
                                               "WATTUNE_SIM_GPUS": "h200,a100-pcie-40gb", **environment})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split("\n")[:-1]


@unittest.skipUnless(INSTALLED, "pynvml is not installed; install nvidia-ml-py")
class Pynvml(OtherProgram):
    def test_reads_who_the_boards_are_and_what_they_do(self):
        lines = self.python("""
            import time
            import pynvml as nvml

            def text(value):
                return value.decode() if isinstance(value, bytes) else value

            nvml.nvmlInit()
            for index in range(nvml.nvmlDeviceGetCount()):
                board = nvml.nvmlDeviceGetHandleByIndex(index)
                uuid = text(nvml.nvmlDeviceGetUUID(board))
                assert nvml.nvmlDeviceGetIndex(nvml.nvmlDeviceGetHandleByUUID(uuid.encode())) == index
                before = nvml.nvmlDeviceGetTotalEnergyConsumption(board)
                time.sleep(0.3)
                after = nvml.nvmlDeviceGetTotalEnergyConsumption(board)
                print(text(nvml.nvmlDeviceGetName(board)), uuid, nvml.nvmlDeviceGetPowerUsage(board), after - before,
                      nvml.nvmlDeviceGetClockInfo(board, nvml.NVML_CLOCK_SM),
                      nvml.nvmlDeviceGetClockInfo(board, nvml.NVML_CLOCK_MEM),
                      nvml.nvmlDeviceGetMaxClockInfo(board, nvml.NVML_CLOCK_SM),
                      nvml.nvmlDeviceGetTemperature(board, nvml.NVML_TEMPERATURE_GPU),
                      nvml.nvmlDeviceGetEnforcedPowerLimit(board), nvml.nvmlDeviceGetPciInfo(board).bus,
                      len(nvml.nvmlDeviceGetComputeRunningProcesses(board)), sep="|")
            nvml.nvmlShutdown()
            """, WATTUNE_SIM_REAL_TIME="1")
        self.assertEqual([line.split("|")[0] for line in lines], ["NVIDIA H200", "NVIDIA A100-PCIE-40GB"])
        for line, limit, highest in zip(lines, (700, 250), (1980, 1410)):
            _, uuid, milliwatts, millijoules, sm, memory, most, celsius, cap, _, processes = line.split("|")
            self.assertRegex(uuid, "^GPU-513d513d-")
            self.assertGreater(int(milliwatts), 10_000)
            self.assertGreater(int(millijoules), 0)
            self.assertGreater(int(sm), 0)
            self.assertGreater(int(memory), 0)
            self.assertEqual((int(most), int(cap)), (highest, 1000 * limit))
            self.assertLess(int(celsius), 60)
            self.assertEqual(int(processes), 0)

    def test_is_told_what_there_is_not(self):
        lines = self.python("""
            import pynvml as nvml

            def error_of(function, *arguments):
                try:
                    return function(*arguments)
                except nvml.NVMLError as error:
                    return error.value

            nvml.nvmlInit()
            board = nvml.nvmlDeviceGetHandleByIndex(0)
            print(error_of(nvml.nvmlDeviceGetFanSpeed, board) in
                  (nvml.NVML_ERROR_NOT_SUPPORTED, nvml.NVML_ERROR_FUNCTION_NOT_FOUND))
            print(error_of(nvml.nvmlDeviceGetMigMode, board) == nvml.NVML_ERROR_NOT_SUPPORTED)
            print(error_of(nvml.nvmlDeviceGetHandleByIndex, 7) == nvml.NVML_ERROR_INVALID_ARGUMENT)
            print(error_of(nvml.nvmlDeviceSetGpuLockedClocks, board, 600, 600) == nvml.NVML_ERROR_NO_PERMISSION)
            """, WATTUNE_SIM_USER="user")
        self.assertEqual(lines, ["True"] * 4)


class ByHand(OtherProgram):
    """The calls that pynvml makes, through ctypes and by the name of the installed library."""

    def test_boards_are_read_by_the_names_of_the_installed_library(self):
        lines = self.python("""
            import ctypes
            nvml = ctypes.CDLL("libnvidia-ml.so.1")
            assert nvml.nvmlInitWithFlags(0) == 0
            count = ctypes.c_uint()
            assert nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)) == 0
            for index in range(count.value):
                board, text, number = ctypes.c_void_p(), ctypes.create_string_buffer(96), ctypes.c_uint()
                energy = ctypes.c_ulonglong()
                assert nvml.nvmlDeviceGetHandleByIndex_v2(index, ctypes.byref(board)) == 0
                assert nvml.nvmlDeviceGetName(board, text, 96) == 0
                name = text.value.decode()
                assert nvml.nvmlDeviceGetUUID(board, text, 96) == 0
                assert nvml.nvmlDeviceGetPowerUsage(board, ctypes.byref(number)) == 0 and number.value > 10000
                assert nvml.nvmlDeviceGetTotalEnergyConsumption(board, ctypes.byref(energy)) == 0 and energy.value > 0
                assert nvml.nvmlDeviceGetClockInfo(board, 1, ctypes.byref(number)) == 0
                print(name, text.value.decode(), number.value, sep="|")
            nvml.nvmlErrorString.restype = ctypes.c_char_p
            print(nvml.nvmlErrorString(3).decode())
            print(nvml.nvmlDeviceGetMigMode(board, ctypes.byref(number), ctypes.byref(number)))
            print(nvml.nvmlDeviceSetGpuLockedClocks(board, 600, 600))
            assert nvml.nvmlShutdown() == 0
            print(nvml.nvmlDeviceGetCount_v2(ctypes.byref(count)))
            """, WATTUNE_SIM_USER="user")
        names = [line.split("|")[0] for line in lines[:2]]
        self.assertEqual(names, ["NVIDIA H200", "NVIDIA A100-PCIE-40GB"])
        self.assertEqual(lines[2:5], ["Not Supported", "3", "4"])
        self.assertEqual(lines[5], "1", "after shutdown NVML is not initialised")

    def test_what_it_does_not_have_is_no_symbol(self):
        library = ctypes.CDLL(str(LIBRARY))
        for name in ("nvmlDeviceGetFanSpeed_v2", "nvmlDeviceGetNvLinkState", "nvmlUnitGetCount"):
            self.assertFalse(hasattr(library, name), name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
