"""A simulated machine for tests of clocks and power limits.

What a board is set to is read from the simulated machine itself, not from what wattune says."""

import atexit
import ctypes
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

import harness

MACHINE = tempfile.mkdtemp(prefix="wattune-settings-test-")
atexit.register(shutil.rmtree, MACHINE, ignore_errors=True)
os.environ["WATTUNE_SIM_STATE"] = str(pathlib.Path(MACHINE) / "machine")
os.environ["WATTUNE_SIM_GPUS"] = "a100-pcie-40gb"
DEVICE = "sim:a100-pcie-40gb"
LIBRARY = pathlib.Path(os.environ.get("WATTUNE_SIMGPU") or
                       pathlib.Path(harness.WATTUNE).resolve().parents[1] / "lib" / "wattune" / "libwattune_simgpu.so")
CLOCKS = [600, 900, 1200]
SECONDS = 1.0  # within which a board is put back after a kill


class Board:
    """The truth about the simulated board."""

    def __init__(self):
        self.library = ctypes.CDLL(str(LIBRARY))
        self.library.wattune_sim_truth.restype = ctypes.c_double
        self.library.wattune_sim_fault.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint]

    def truth(self, what):
        return self.library.wattune_sim_truth(0, what.encode())

    def lock(self):
        """The clock in MHz that it is locked to, 0 where it is not."""
        return round(self.truth("sm_lock_high") * 1e-6)

    def settings(self):
        return (self.lock(), round(self.truth("memory_lock_high") * 1e-6), round(self.truth("power_limit"), 3),
                round(self.truth("application_sm_clock") * 1e-6))

    def fault(self, text):
        message = ctypes.create_string_buffer(500)
        if self.library.wattune_sim_fault(text.encode(), message, 500) != 0:
            raise ValueError(message.value.decode())


BOARD = Board()
UNTOUCHED = BOARD.settings()


class Settings(harness.CommandTest):
    def setUp(self):
        super().setUp()
        self.assertEqual(BOARD.settings(), UNTOUCHED)
        self.output = self.folder / "out"

    def command(self, *arguments, budget="6", clocks=",".join(map(str, CLOCKS))):
        return ["tune", harness.GEMM, "--device", DEVICE, "--problem-size", "1024,1024,1024", "--meter", "nvml",
                "--clocks", clocks, "--budget", budget, "-o", self.output, *arguments]

    def tune(self, *arguments, code=0, environment=None, budget="6", **options):
        return self.wattune(*self.command(*arguments, budget=budget, **options), code=code, environment=environment)

    def start_run(self, *arguments, environment=None, new_session=False, budget="4000"):
        """A long run in the background."""
        process = subprocess.Popen([harness.WATTUNE, *map(str, self.command("--allow-settings", *arguments, budget=budget))],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env={**os.environ, **(environment or {})}, start_new_session=new_session)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def wait_for_change(self, process, number=1):
        """Until the clock lock has changed so often; False where the run ended before."""
        deadline = time.monotonic() + 120
        last, changes = BOARD.lock(), 0
        while time.monotonic() < deadline:
            now = BOARD.lock()
            if now != last:
                last, changes = now, changes + 1
                if changes >= number:
                    return True
            if process.poll() is not None:
                return False
        self.fail(f"no {number} changes of the clock")

    def assert_put_back(self, seconds=SECONDS):
        """Every setting is as it was within so long of now."""
        deadline = time.monotonic() + seconds
        while BOARD.settings() != UNTOUCHED:
            self.assertLess(time.monotonic(), deadline, f"{BOARD.settings()} after {seconds} s")
            time.sleep(0.001)

    def child(self, process, name):
        return [pid for pid, command in harness.children(process.pid).items() if name in command]

    def evaluations(self):
        lines = []
        for file in self.journals():
            lines += self.journal_lines(file)
        return lines

    def kill(self, pids):
        """SIGKILL to those that still live."""
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def remove_machine():
    for file in pathlib.Path(MACHINE).rglob("*"):
        if file.is_file():
            file.unlink()
