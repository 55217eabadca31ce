"""Clocks and power limits on simulated GPUs: set only where that was asked for and is allowed, and always put back."""

import json
import os
import pathlib
import signal
import subprocess
import time
import unittest

import harness
from settings_harness import BOARD, CLOCKS, DEVICE, LIBRARY, UNTOUCHED, Settings, remove_machine


class Permission(Settings):
    def test_nothing_is_set_without_being_allowed(self):
        _, stderr = self.tune(code=3)
        self.assertIn("--allow-settings", stderr)
        self.assertFalse(self.output.exists())

    def test_read_only_forbids_everything_whatever_else_is_asked(self):
        environment = {"WATTUNE_READ_ONLY": "1"}
        _, stderr = self.tune("--allow-settings", code=3, environment=environment)
        self.assertIn("WATTUNE_READ_ONLY=1", stderr)
        _, stderr = self.wattune("run", "--allow-settings", "--device", DEVICE, "--clocks", "900", "--", "true",
                                 code=125, environment=environment)
        self.assertIn("WATTUNE_READ_ONLY=1", stderr)
        stdout, _ = self.wattune("devices", "--device", "sim:all", "--json", environment=environment)
        self.assertEqual(json.loads(stdout)["devices"][0]["power_limit_w"]["max"], 250)

    def test_user_without_permission_is_told_what_to_ask_for(self):
        _, stderr = self.tune("--allow-settings", code=3, environment={"WATTUNE_SIM_USER": "user"})
        for text in ("needs root or CAP_SYS_ADMIN", "application clocks", "wattuned: no server listens"):
            self.assertIn(text, stderr)

    def test_value_that_is_not_supported_names_the_nearest(self):
        _, stderr = self.tune("--allow-settings", clocks="601", code=2)
        self.assertIn("601 MHz is not supported", stderr)
        self.assertIn("600, 615", stderr)

    def test_devices_show_what_may_be_set(self):
        stdout, _ = self.wattune("devices", "--device", "sim:all", "--json")
        may_set = json.loads(stdout)["devices"][0]["may_set"]
        self.assertEqual((may_set["sm_clock"], may_set["memory_clock"], may_set["power_limit"]), (True, False, True))
        self.assertEqual(may_set["route"], "locked clocks")


class Tuning(Settings):
    def test_clocks_and_limits_are_tuned_for_energy_and_put_back(self):
        stdout, _ = self.tune("--allow-settings", "--power-limits", "150,250", "--json", budget="30")
        self.assertEqual(BOARD.settings(), UNTOUCHED)
        result = json.loads(stdout)
        self.assertEqual([objective["name"] for objective in result["objectives"]], ["energy"])
        screened = [e for e in result["evaluations"] if e["tier"] == "screen" and e["outcome"] == "ok"]
        self.assertGreater(len(screened), 10)
        for evaluation in screened:
            self.assertIn(evaluation["configuration"]["nvml_gr_clock"], CLOCKS)
            if "sm_clock" not in evaluation["quantities"]:
                continue  # given up: hopeless
            clock = evaluation["quantities"]["sm_clock"]["value"] * 1e-6
            self.assertLessEqual(clock, evaluation["configuration"]["nvml_gr_clock"] + 16)

    def test_the_clock_changes_once_per_setting(self):
        for strategy in ("random", "brute_force"):
            self.output = self.folder / strategy
            self.tune("--allow-settings", "--strategy", strategy, budget="40")
            lines = [line for file in self.journals(self.output) for line in self.journal_lines(file)]
            clocks = [line["configuration"]["nvml_gr_clock"] for line in lines if line["tier"] == "screen"]
            changes = sum(1 for before, after in zip(clocks, clocks[1:]) if before != after)
            self.assertLessEqual(changes, len(CLOCKS) - 1, clocks)

    def test_settings_of_the_problem_file(self):
        problem = json.loads(harness.GEMM.read_text())
        problem.setdefault("wattune", {})["DeviceSettings"] = {"nvml_gr_clock": "600:1200:3"}
        for file in harness.GEMM.parent.iterdir():
            (self.folder / file.name).write_bytes(file.read_bytes())
        path = self.folder / "problem.json"
        path.write_text(json.dumps(problem))
        stdout, _ = self.wattune("tune", path, "--device", DEVICE, "--problem-size", "1024,1024,1024", "--budget", "6",
                                 "--allow-settings", "-o", self.output, "--json")
        self.assertEqual(BOARD.settings(), UNTOUCHED)
        clocks = {e["configuration"]["nvml_gr_clock"] for e in json.loads(stdout)["evaluations"]}
        self.assertLessEqual(clocks, set(CLOCKS))

    def test_lock_of_somebody_else_is_not_lost(self):
        BOARD.fault("foreign_lock=600")
        try:
            lock = BOARD.lock()
            _, stderr = self.tune("--allow-settings", code=3)
            self.assertIn("somebody seems to have locked it", stderr)
            self.assertEqual(BOARD.lock(), lock)
            self.tune("--allow-settings", "--restore-clock", "600")
            self.assertEqual(BOARD.lock(), 600)
            self.tune("--allow-settings", "--assume-no-lock", budget="7")
            self.assertEqual(BOARD.settings(), UNTOUCHED)
        finally:
            self.wattune("run", "--allow-settings", "--device", DEVICE, "--clocks", "600", "--", "true")


class Kills(Settings):
    def test_kill_of_the_coordinator_at_each_change(self):
        for number in range(1, len(CLOCKS) + 1):
            self.output = self.folder / str(number)
            process = self.start_run(budget="12")
            if not self.wait_for_change(process, number):
                continue
            process.kill()
            self.assert_put_back()

    def test_kill_of_the_worker_at_each_change(self):
        for number in range(1, len(CLOCKS) + 1):
            self.output = self.folder / str(number)
            process = self.start_run(budget="12")
            if self.wait_for_change(process, number):
                for pid in self.child(process, "worker-process"):
                    os.kill(pid, signal.SIGKILL)
            _, stderr = process.communicate(timeout=120)
            self.assertEqual(process.returncode, 0, stderr)
            self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_kill_of_both_at_each_change(self):
        for number in range(1, len(CLOCKS) + 1):
            self.output = self.folder / str(number)
            process = self.start_run(budget="12")
            if not self.wait_for_change(process, number):
                continue
            workers = self.child(process, "worker-process")
            for pid in [*workers, process.pid]:
                os.kill(pid, signal.SIGKILL)
            self.assert_put_back()

    def test_kill_of_the_process_group(self):
        process = self.start_run(new_session=True)
        self.assertTrue(self.wait_for_change(process))
        os.killpg(process.pid, signal.SIGKILL)
        self.assert_put_back()

    def kill_everything(self):
        process = self.start_run()
        self.assertTrue(self.wait_for_change(process))
        self.kill([*self.child(process, "settings-server"), *harness.children(process.pid), process.pid])
        process.wait()
        self.assertNotEqual(BOARD.settings(), UNTOUCHED)

    def test_restore_after_everything_was_killed(self):
        for arguments in (["restore"], ["restore", "--stale"]):
            self.kill_everything()
            stdout, _ = self.wattune(*arguments)
            self.assertIn("put back", stdout)
            self.assertEqual(BOARD.settings(), UNTOUCHED)
        stdout, _ = self.wattune("restore")
        self.assertIn("Nothing to put back", stdout)

    def make_cgroup(self):
        """An empty cgroup, as a batch system makes one for a job. Skips the test where none can be made."""
        mounts = [line.split() for line in pathlib.Path("/proc/mounts").read_text().splitlines()]
        roots = [pathlib.Path(fields[1]) for fields in mounts if fields[2] == "cgroup2"]
        if not roots:
            self.skipTest("no cgroup2 file system is mounted")
        own = [line[3:] for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines() if line.startswith("0::")]
        group = roots[0] / (own[0] if own else "").lstrip("/") / f"wattune-test-{os.getpid()}"
        try:
            group.mkdir()
        except OSError as error:
            self.skipTest(f"no cgroup can be made: {error}")
        self.addCleanup(group.rmdir)
        return group

    @staticmethod
    def members(group):
        return [int(pid) for pid in (group / "cgroup.procs").read_text().split()]

    def test_kill_of_the_cgroup(self):
        group = self.make_cgroup()
        process = subprocess.Popen(["sh", "-c", 'echo $$ >"$0" && exec "$@"', group / "cgroup.procs", harness.WATTUNE,
                                    *map(str, self.command("--allow-settings", budget="4000"))],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.kill)
        self.assertTrue(self.wait_for_change(process), "the run ended, or could not enter the cgroup")
        self.assertGreater(len(self.members(group)), 2)
        deadline = time.monotonic() + 30
        while self.members(group) and time.monotonic() < deadline:
            for pid in self.members(group):
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            process.poll()
        process.wait()
        self.assertEqual(self.members(group), [])
        # Whether a server that died last put the board back is a race; afterwards nothing is left over either way.
        self.wattune("restore", "--stale")
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_next_run_after_everything_was_killed(self):
        self.kill_everything()
        self.output = self.folder / "next"
        self.tune("--allow-settings")
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def kill_server(self, process):
        for pid in self.child(process, "settings-server"):
            os.kill(pid, signal.SIGKILL)

    def test_kill_of_the_settings_server_alone(self):
        process = self.start_run(budget="60")
        self.assertTrue(self.wait_for_change(process))
        self.kill_server(process)
        self.assert_put_back()
        self.assertTrue(self.wait_for_change(process), "the run does not go on with a new server")
        _, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 0, stderr)
        self.assertIn("another has taken its place", stderr)
        self.assertEqual(BOARD.settings(), UNTOUCHED)
        stdout, _ = self.wattune("restore")
        self.assertIn("Nothing to put back", stdout)

    def test_settings_server_that_is_killed_again_and_again(self):
        process = self.start_run()
        self.assertTrue(self.wait_for_change(process))
        deadline = time.monotonic() + 100
        while process.poll() is None and time.monotonic() < deadline:
            self.kill_server(process)
            time.sleep(0.05)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3, stderr)
        self.assertIn("No other can take its place", stderr)
        self.wattune("restore")
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_kill_of_the_settings_server_and_then_of_the_run(self):
        process = self.start_run()
        self.assertTrue(self.wait_for_change(process))
        self.kill_server(process)
        self.assert_put_back()
        self.assertTrue(self.wait_for_change(process))
        process.kill()
        self.assert_put_back()

    def test_signals(self):
        for name in ("SIGINT", "SIGTERM", "SIGHUP"):
            self.output = self.folder / name
            process = self.start_run()
            self.assertTrue(self.wait_for_change(process))
            process.send_signal(getattr(signal, name))
            self.assert_put_back(5)
            _, stderr = process.communicate(timeout=60)
            self.assertEqual(process.returncode, 130, stderr)
            self.assertGreater(len(self.journals(self.output)), 0)

    def test_run_that_hangs_loses_its_lease(self):
        process = self.start_run(environment={"WATTUNE_SETTINGS_LEASE": "1"})
        self.assertTrue(self.wait_for_change(process))
        workers = self.child(process, "worker-process")
        process.send_signal(signal.SIGSTOP)
        self.assert_put_back(10)
        for pid in workers:
            status = pathlib.Path(f"/proc/{pid}/stat")
            self.assertTrue(not status.exists() or ") Z" in status.read_text(), "the worker still runs")
        process.send_signal(signal.SIGCONT)
        self.assertTrue(self.wait_for_change(process), "the run does not go on")
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        self.assertIn("no sign of life for 1 s", stderr)
        self.assertIn("put back", stderr)
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_run_that_was_stopped_while_another_took_the_board(self):
        process = self.start_run(environment={"WATTUNE_SETTINGS_LEASE": "1"})
        self.assertTrue(self.wait_for_change(process))
        process.send_signal(signal.SIGSTOP)
        self.assert_put_back(10)
        self.output = self.folder / "other"
        other = self.start_run()
        self.assertTrue(self.wait_for_change(other))
        process.send_signal(signal.SIGCONT)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3, stderr)
        self.assertIn("no sign of life for 1 s", stderr)
        self.assertIn(f"in use by wattune (pid {other.pid})", stderr)
        self.assertNotEqual(BOARD.settings(), UNTOUCHED)

    def test_lost_device_ends_the_run_and_keeps_its_results(self):
        BOARD.fault("nvml.set_sm_clock:2=gpu_is_lost")
        _, stderr = self.tune("--allow-settings", code=3, budget="60")
        self.assertIn("cannot be set to", stderr)
        self.assertGreater(len(self.evaluations()), 0)
        self.assertEqual(BOARD.settings(), UNTOUCHED)


class SeveralRuns(Settings):
    def test_second_run_refuses_or_waits(self):
        first = self.start_run()
        self.assertTrue(self.wait_for_change(first))
        self.output = self.folder / "second"
        _, stderr = self.tune("--allow-settings", code=3)
        self.assertIn(f"in use by wattune (pid {first.pid})", stderr)
        second = self.start_run("--settings-wait", "100", budget="6")
        time.sleep(0.5)
        self.assertIsNone(second.poll())
        first.send_signal(signal.SIGINT)
        _, stderr = second.communicate(timeout=120)
        self.assertEqual(second.returncode, 0, stderr)
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_restore_leaves_living_runs_alone(self):
        process = self.start_run()
        self.assertTrue(self.wait_for_change(process))
        _, stderr = self.wattune("restore", code=1)
        self.assertIn(f"in use by wattune (pid {process.pid})", stderr)
        stdout, stderr = self.wattune("restore", "--stale")
        self.assertEqual((stdout, stderr), ("", ""))
        self.assertNotEqual(BOARD.settings(), UNTOUCHED)


class Run(Settings):
    def run_program(self, *program, code=0, arguments=("--clocks", "900", "--power-limits", "200")):
        return self.wattune("run", "--allow-settings", "--device", DEVICE, *arguments, "--", *program, code=code)

    def test_program_runs_under_the_settings_and_its_status_is_passed_on(self):
        process = subprocess.Popen([harness.WATTUNE, "run", "--allow-settings", "--device", DEVICE, "--clocks", "900",
                                    "--power-limits", "200", "--", "sh", "-c", "read line; exit 7"], stdin=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.assertTrue(self.wait_for_change(process))
        deadline = time.monotonic() + 20
        while BOARD.settings()[2] != 200 and time.monotonic() < deadline:
            time.sleep(0.001)
        self.assertEqual(BOARD.settings(), (900, UNTOUCHED[1], 200, UNTOUCHED[3]))
        process.communicate(b"\n", timeout=60)
        self.assertEqual(process.returncode, 7)
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_settings_from_a_file_and_from_results(self):
        file = self.folder / "settings.json"
        for content in ({"nvml_gr_clock": 900},
                        {"best": {"energy": {"configuration": {"TILE": 4, "nvml_gr_clock": 900}}}}):
            file.write_text(json.dumps(content))
            _, stderr = self.run_program("true", arguments=("--settings", file))
            self.assertIn("SM clock 900 MHz", stderr)
        file.write_text("{}")
        _, stderr = self.run_program("true", arguments=("--settings", file), code=125)
        self.assertIn("holds no device setting", stderr)

    def test_own_failures_have_their_own_status(self):
        self.run_program("true", arguments=("--clocks", "901"), code=125)
        self.run_program("true", arguments=(), code=125)
        self.run_program("/nonexistent/program", code=127)
        self.run_program("/etc/passwd", code=126)
        self.wattune("run", "--device", DEVICE, "--clocks", "900", "--", "true", code=125)
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_settings_are_made_again_where_the_server_is_killed(self):
        process = subprocess.Popen([harness.WATTUNE, "run", "--allow-settings", "--device", DEVICE, "--clocks", "900",
                                    "--", "sh", "-c", "read line"], stdin=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertTrue(self.wait_for_change(process))
        for pid in self.child(process, "settings-server"):
            os.kill(pid, signal.SIGKILL)
        stderr = b""
        while b"for a moment" not in stderr:
            line = process.stderr.readline()
            self.assertNotEqual(line, b"", stderr)
            stderr += line
        self.assertEqual(BOARD.lock(), 900)
        process.communicate(b"\n", timeout=60)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_kill_puts_the_board_back(self):
        process = subprocess.Popen([harness.WATTUNE, "run", "--allow-settings", "--device", DEVICE, "--clocks", "900",
                                    "--", "sleep", "5"], stderr=subprocess.DEVNULL)
        self.assertTrue(self.wait_for_change(process))
        process.kill()
        self.assert_put_back()
        process.wait()


class SystemWide(Settings):
    def setUp(self):
        super().setUp()
        self.socket = self.folder / "socket"
        config = self.folder / "wattuned.json"
        config.write_text(json.dumps({"bounds": {"sm_clock_mhz": [300, 1200]}}))
        self.server = subprocess.Popen([harness.WATTUNE, "wattuned", "--socket", self.socket, "--config", config],
                                       stderr=subprocess.PIPE, text=True,
                                       env={**os.environ, "WATTUNE_NVML": str(LIBRARY)})
        self.addCleanup(self.server.communicate)
        self.addCleanup(self.server.kill)
        deadline = time.monotonic() + 30
        while not self.socket.exists():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.01)
        self.user = {"WATTUNE_SIM_USER": "user", "WATTUNE_SETTINGS_SOCKET": str(self.socket)}

    def test_user_tunes_through_it(self):
        _, stderr = self.tune("--allow-settings", environment=self.user)
        self.assertIn("set by wattuned", stderr)
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_bounds_hold(self):
        _, stderr = self.tune("--allow-settings", environment=self.user, clocks="1410", code=1)
        self.assertEqual(BOARD.settings(), UNTOUCHED)
        self.assertIn("what this machine's administrator allows", json.dumps(self.evaluations()))

    def test_kill_of_everything_of_the_user(self):
        process = self.start_run(environment=self.user)
        self.assertTrue(self.wait_for_change(process))
        for pid in [*harness.children(process.pid), process.pid]:
            os.kill(pid, signal.SIGKILL)
        self.assert_put_back()
        self.assertIsNone(self.server.poll())

    def test_stop_and_crash_of_the_server(self):
        process = self.start_run(environment=self.user)
        self.assertTrue(self.wait_for_change(process))
        self.server.send_signal(signal.SIGTERM)
        self.assert_put_back(5)
        _, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 3, stderr)
        self.assertIn("wattuned is being stopped", stderr)

def tearDownModule():
    remove_machine()


if __name__ == "__main__":
    unittest.main(verbosity=2)
