"""kill -9 of coordinator, worker or compile process at random moments: nothing measured is lost or doubled.

WATTUNE_KILLS sets how many there are."""

import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import time

import harness

KILLS = int(os.environ.get("WATTUNE_KILLS", "12"))


class Kills(harness.CommandTest):
    def test_no_evaluation_is_lost_or_doubled(self):
        def change(problem):
            parameters = problem["ConfigurationSpace"]["TuningParameters"]
            parameters[0]["Values"] = "[0]"
            parameters[1]["Values"] = "[2**i for i in range(8)]"
            parameters[1]["Default"] = 1
            parameters.append({"Name": "VARIANT", "Type": "int", "Values": "list(range(12))", "Default": 0})
            problem["ConfigurationSpace"]["Conditions"] = []
        problem = self.copy_problem(change=change)
        kernel = self.folder / "faulty.cl"
        kernel.write_text(kernel.read_text() + "\n// VARIANT makes 12 binaries\nconstant int variant = VARIANT;\n")
        command = ["tune", problem, "--device", "opencl:0", "-o", self.folder / "out", "--seed", "5", "--no-cache"]
        random_source = random.Random(1)
        seen = []
        for kill in range(KILLS):
            process = self.start(*command)
            time.sleep(random_source.uniform(0, 1.5))
            victims = {"coordinator": process.pid}
            for pid, name in harness.children(process.pid).items():
                victims["worker" if "worker-process" in name else "compiler"] = pid
            victim = random_source.choice(sorted(victims))
            try:
                os.kill(victims[victim], signal.SIGKILL)
            except ProcessLookupError:
                pass
            if victim != "coordinator":
                time.sleep(random_source.uniform(0, 0.3))
                process.kill()
            process.wait()
            lines = self.whole_lines()
            self.assertEqual(lines[:len(seen)], seen, f"lost after kill {kill} ({victim})")
            seen = lines
        stdout, stderr = self.wattune(*command, "--json")
        evaluations = json.loads(stdout)["evaluations"]
        self.assertEqual(len(evaluations), 96)
        self.assertEqual({(e["outcome"], e["message"]) for e in evaluations}, {("ok", "")})
        lines = self.whole_lines()
        self.assertEqual(lines[:len(seen)], seen)
        configurations = [json.dumps(json.loads(line)["configuration"], sort_keys=True) for line in lines]
        self.assertEqual(len(configurations), 96)
        self.assertEqual(len(set(configurations)), 96)

    def test_after_the_coordinator_an_endless_compilation_ends_and_its_files_go(self):
        temporary = self.folder / "tmp"
        temporary.mkdir()
        environment = {"TMPDIR": str(temporary)}
        problem = self.copy_problem(change=self.only_faults("[0, 8]"))
        command = ["tune", problem, "--device", "opencl:0", "-o", self.folder / "out", "--compile-processes", "2",
                   "--no-cache"]
        process = self.start(*command, environment=environment)
        self.wait_for_evaluations(2, process)
        compilers = [pid for pid, name in harness.children(process.pid).items() if "compile-process" in name]
        self.assertTrue(any(self.is_running(pid) for pid in compilers))
        process.kill()
        process.wait()
        self.wait_until(lambda: not any(pathlib.Path(f"/proc/{pid}").exists() for pid in compilers),
                        "compile processes outlive their coordinator")
        self.assertEqual(len(list(temporary.glob("wattune-*"))), 1)
        self.wattune(*command, "--compile-timeout", "1", environment=environment)
        self.assertEqual(list(temporary.iterdir()), [])

    def test_what_a_compile_process_has_started_ends_with_the_coordinator(self):
        ours, theirs = socket.socketpair()
        # As a compile process that has started nvcc: the program beside it is in its process group.
        script = f"sleep 1000 & echo $!; exec '{harness.WATTUNE}' compile-process 3<&{theirs.fileno()}"
        process = subprocess.Popen(["sh", "-c", script], pass_fds=[theirs.fileno()], process_group=0,
                                   stdout=subprocess.PIPE, text=True)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        started = int(process.stdout.readline())
        theirs.close()
        ours.close()
        process.wait(timeout=60)
        self.wait_until(lambda: not self.is_running(started), "what a compile process started outlives it")
        process.stdout.close()

    def test_a_configuration_that_kills_workers_is_found_out_though_the_run_is_killed_in_between(self):
        problem = self.copy_problem(change=self.only_faults("[0, 4]"))
        command = ["tune", problem, "--device", "opencl:0", "-o", self.folder / "out"]
        process = self.start(*command)
        self.wait_until(lambda: list((self.folder / "out").glob("*.deaths")) or process.poll() is not None,
                        "no death of a worker was noted")
        process.kill()
        process.wait()
        lines = [json.loads(line) for line in self.whole_lines()]
        self.assertNotIn("crash", [line["outcome"] for line in lines])
        stdout, stderr = self.wattune(*command, "--json")
        crashes = [e for e in json.loads(stdout)["evaluations"] if e["outcome"] == "crash"]
        self.assertEqual(len(crashes), 1)
        self.assertIn("2 workers died", crashes[0]["message"])
        self.assertNotIn("tries this configuration once more", stderr)  # it had its second chance already
        self.assertEqual(list((self.folder / "out").glob("*.deaths*")), [])

    @staticmethod
    def only_faults(values):
        def change(problem):
            problem["ConfigurationSpace"]["TuningParameters"][0]["Values"] = values
        return change

    @staticmethod
    def is_running(pid):
        try:
            return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
        except OSError:
            return False

    def wait_until(self, condition, complaint, seconds=60):
        deadline = time.monotonic() + seconds
        while not condition():
            self.assertLess(time.monotonic(), deadline, complaint)
            time.sleep(0.002)

    def whole_lines(self):
        journals = self.journals()
        self.assertLessEqual(len(journals), 1)
        if not journals:
            return []
        return journals[0].read_text().split("\n")[1:-1]


if __name__ == "__main__":
    harness.main()
