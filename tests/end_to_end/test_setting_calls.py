"""Kills in the middle of the calls that set a simulated GPU, each of which is held for 0.2 s."""

import os
import pathlib
import signal
import time
import unittest

from settings_harness import BOARD, MACHINE, SECONDS, UNTOUCHED, Settings, remove_machine

BOARD.fault("nvml.set_sm_clock:1-1000000=slow;nvml.set_power_limit:1-1000000=slow")
LIMITS = ("--power-limits", "150,200")


class Calls(Settings):
    def start(self):
        process = self.start_run(*LIMITS)
        self.assertTrue(self.wait_for(lambda: self.child(process, "settings-server")))
        return process, self.child(process, "settings-server")[0]

    def wait_for(self, condition, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > deadline:
                return False
        return True

    def wait_for_call(self, number):
        """Until the board is in the middle of a call: before the first takes effect (0), or as one has taken effect."""
        if number == 0:
            return self.wait_for(lambda: list(pathlib.Path(MACHINE).rglob("GPU-*.json")))
        last, changes = BOARD.settings(), 0
        deadline = time.monotonic() + 60
        while changes < number and time.monotonic() < deadline:
            now = BOARD.settings()
            changes += now != last
            last = now
        return changes >= number

    def assert_put_back_by(self, server):
        """The server has gone within the time, and left everything as it was."""
        deadline = time.monotonic() + SECONDS
        status = pathlib.Path(f"/proc/{server}/stat")
        while status.exists() and ") Z" not in status.read_text():
            self.assertLess(time.monotonic(), deadline, f"{BOARD.settings()} after {SECONDS} s")
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def each_call(self, victims):
        for number in range(5):
            with self.subTest(call=number):
                self.output = self.folder / str(number)
                process, server = self.start()
                self.assertTrue(self.wait_for_call(number))
                self.kill(victims(process))
                self.assert_put_back_by(server)

    def test_kill_of_the_coordinator(self):
        self.each_call(lambda process: [process.pid])

    def test_kill_of_coordinator_and_worker(self):
        self.each_call(lambda process: [*self.child(process, "worker-process"), process.pid])

    def test_kill_of_the_worker(self):
        for number in range(5):
            with self.subTest(call=number):
                self.output = self.folder / str(number)
                process = self.start_run(*LIMITS, budget="8")
                self.assertTrue(self.wait_for_call(number))
                self.kill(self.child(process, "worker-process"))
                _, stderr = process.communicate(timeout=120)
                self.assertEqual(process.returncode, 0, stderr)
                self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_kill_of_the_settings_server(self):
        for number in range(3):
            with self.subTest(call=number):
                self.output = self.folder / str(number)
                process, server = self.start()
                self.assertTrue(self.wait_for_call(number))
                os.kill(server, signal.SIGKILL)
                self.assert_put_back()
                process.send_signal(signal.SIGINT)
                _, stderr = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 130, stderr)
                self.assertEqual(BOARD.settings(), UNTOUCHED)


def tearDownModule():
    remove_machine()


if __name__ == "__main__":
    unittest.main(verbosity=2)
