"""What was measured is never lost, and nothing is measured twice."""

import json
import os
import pathlib
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

    def test_a_search_that_was_killed_again_and_again_is_one_search(self):
        command = ["tune", harness.GEMM, "--device", "opencl:0", "--problem-size", "128,128,128", "--strategy",
                   "local_search", "--budget", "24", "--seed", "7", "-o", self.folder / "out", "--json"]
        for count in (3, 9, 10, 17):
            process = self.start(*command)
            self.wait_for_evaluations(count, process)
            process.kill()
            process.wait()
        stdout, stderr = self.wattune(*command)
        self.assertNotIn("does not propose", stderr)
        finished = json.loads(stdout)["evaluations"]
        lines = self.journal_lines(self.journals()[0])
        self.assertEqual(sorted(line["proposal"] for line in lines), list(range(24)))
        self.assertEqual(len({line["run"] for line in lines}), 1)
        # Asked and told again in the recorded order, the strategy makes the same proposals: nothing is left to evaluate.
        stdout, stderr = self.wattune(*command)
        again = json.loads(stdout)
        self.assertNotIn("does not propose", stderr)
        self.assertEqual(again["reused"], 24)
        order = [(e["proposal"], e["configuration"]) for e in again["evaluations"]]
        self.assertEqual(order, [(line["proposal"], line["configuration"]) for line in lines])
        self.assertEqual(order, [(e["proposal"], e["configuration"]) for e in finished])

    def test_every_strategy_goes_on_where_it_was(self):
        """Also those that have no proposal at times, while results are awaited."""
        for strategy in ("genetic", "tabu_search", "simulated_annealing", "particle_swarm", "differential_evolution"):
            folder = self.folder / strategy
            for budget, reused in ((50, 0), (50, 50), (60, 50)):
                stdout, _ = self.wattune("tune", harness.GEMM, "--device", "sim:rtx-a4000", "--strategy", strategy, "--budget",
                                         str(budget), "--json", "-o", folder)
                result = json.loads(stdout)
                self.assertEqual((result["reused"], len(result["evaluations"])), (reused, budget), strategy)

    def test_another_seed_reuses_what_it_asks_for(self):
        command = ["tune", self.faulty(), "--device", "opencl:0", "-o", self.folder / "out", "--json"]
        self.wattune(*command, "--seed", "1")
        stdout, _ = self.wattune(*command, "--seed", "2", "--strategy", "local_search")
        self.assertEqual(json.loads(stdout)["reused"], 2)
        self.assertEqual(len(self.journal_lines(self.journals()[0])), 2)

    def test_one_process_at_a_time_writes_to_an_output_folder(self):
        process = self.start(*self.arguments(1000))
        file = self.wait_for_evaluations(1, process)
        _, stderr = self.wattune(*self.arguments(1000), code=1)
        self.assertIn(f"in use by process {process.pid}", stderr)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        self.assertFalse(pathlib.Path(f"{file}.lock").exists())

    def test_a_lock_from_another_host_counts_while_its_heart_beats(self):
        command = ["tune", self.faulty(), "--device", "opencl:0", "-o", self.folder / "out", "--json"]
        self.wattune(*command)
        lock = pathlib.Path(f"{self.journals()[0]}.lock")
        lock.write_text(json.dumps({"host": "elsewhere", "pid": 1234, "start_time": 1, "boot": "b", "pid_namespace": "n",
                                    "token": "0123456789abcdef"}))
        _, stderr = self.wattune(*command, code=1)
        self.assertIn("process 1234 on host 'elsewhere'", stderr)
        self.assertIn(str(lock), stderr)
        long_ago = time.time() - 3600
        os.utime(lock, (long_ago, long_ago))
        stdout, _ = self.wattune(*command)
        self.assertEqual(json.loads(stdout)["reused"], 2)
        self.assertFalse(lock.exists())

    def test_a_value_changed_in_the_journal_is_told_and_measured_again(self):
        command = ["tune", self.faulty(), "--device", "opencl:0", "-o", self.folder / "out", "--json"]
        self.wattune(*command)
        file = self.journals()[0]
        lines = file.read_text().split("\n")
        lines[1] = lines[1].replace('"n":', '"n":9', 1)
        file.write_text("\n".join(lines))
        stdout, stderr = self.wattune(*command)
        self.assertIn(f"'{file}': line 2 is damaged and does not count", stderr)
        self.assertIn("checksum", stderr)
        result = json.loads(stdout)
        self.assertEqual((result["reused"], len(result["evaluations"])), (1, 2))

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
