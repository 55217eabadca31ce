"""What was measured is never lost, and nothing is measured twice."""

import json
import os
import signal
import time

import harness


class Resume(harness.CommandTest):
    def arguments(self, budget=40):
        return ["tune", harness.GEMM, "--device", "opencl:0", "--problem-size", "256,256,256", "--strategy", "random",
                "--budget", budget, "--seed", "1", "-o", self.folder / "out", "--json"]

    def configurations(self, file):
        return [json.dumps(line["configuration"], sort_keys=True) for line in self.journal_lines(file)]

    def test_after_a_kill_of_the_coordinator_the_same_command_finishes_the_rest(self):
        process = self.start(*self.arguments(16))
        file = self.wait_for_evaluations(5, process)
        workers = harness.children(process.pid)
        process.kill()
        process.wait()
        before = self.configurations(file)
        deadline = time.monotonic() + 30
        while any(os.path.exists(f"/proc/{pid}") and harness.children(1).get(pid) for pid in workers):
            self.assertLess(time.monotonic(), deadline, "children outlive their coordinator")
            time.sleep(0.01)
        stdout, _ = self.wattune(*self.arguments(16))
        after = self.configurations(file)
        self.assertEqual(after[:len(before)], before)
        self.assertEqual(len(after), 16)
        self.assertEqual(len(set(after)), 16)
        self.assertEqual(len(json.loads(stdout)["evaluations"]), 16)
        self.assertEqual(len(self.journals()), 1)

    def test_after_a_kill_of_the_worker_the_run_goes_on(self):
        process = self.start(*self.arguments(12))
        file = self.wait_for_evaluations(3, process)
        for pid, command in harness.children(process.pid).items():
            if "worker-process" in command:
                os.kill(pid, signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=250)
        self.assertEqual(process.returncode, 0, stderr)
        evaluations = json.loads(stdout)["evaluations"]
        self.assertEqual([e["outcome"] for e in evaluations], ["ok"] * 12)
        self.assertEqual(len(set(self.configurations(file))), 12)

    def test_after_a_kill_of_a_compile_process_the_run_goes_on(self):
        process = self.start(*self.arguments(12))
        file = self.wait_for_evaluations(2, process)
        for pid, command in harness.children(process.pid).items():
            if "compile-process" in command:
                os.kill(pid, signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=250)
        self.assertEqual(process.returncode, 0, stderr)
        self.assertEqual(len(json.loads(stdout)["evaluations"]), 12)
        self.assertEqual(len(set(self.configurations(file))), 12)

    def test_ctrl_c_keeps_all_results_and_prints_them(self):
        process = self.start(*self.arguments(1000))
        self.wait_for_evaluations(3, process)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        result = json.loads(stdout)
        self.assertGreaterEqual(len(result["evaluations"]), 3)
        self.assertEqual(len(self.configurations(self.journals()[0])), len(result["evaluations"]))

    def faulty(self):
        return self.copy_problem(
            change=lambda p: p["ConfigurationSpace"]["TuningParameters"][0].update(Values="[0]"))

    def test_editing_the_kernel_or_a_header_opens_a_new_journal(self):
        problem = self.faulty()
        command = ["tune", problem, "--device", "opencl:0", "-o", self.folder / "out"]
        self.wattune(*command)
        self.assertEqual(len(self.journals()), 1)
        header = self.folder / "faulty.h"
        header.write_text("#define SCALE 4.0f\n")
        _, stderr = self.wattune(*command)
        self.assertEqual(len(self.journals()), 2)
        self.assertIn("have changed", stderr)
        kernel = self.folder / "faulty.cl"
        kernel.write_text(kernel.read_text() + "\n// edited\n")
        self.wattune(*command)
        self.assertEqual(len(self.journals()), 3)
        for file in self.journals():
            self.assertEqual(len(self.journal_lines(file)), 2)

    def test_a_torn_last_line_costs_only_itself(self):
        problem = self.faulty()
        command = ["tune", problem, "--device", "opencl:0", "-o", self.folder / "out"]
        self.wattune(*command)
        file = self.journals()[0]
        file.write_bytes(file.read_bytes()[:-20])
        _, stderr = self.wattune(*command)
        self.assertIn("incomplete", stderr)
        self.assertEqual(len(self.journal_lines(file)), 2)


if __name__ == "__main__":
    harness.main()
