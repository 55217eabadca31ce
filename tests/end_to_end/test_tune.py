"""Tuning the GEMM kernel: the main job."""

import json
import unittest

import harness


class Tune(harness.CommandTest):
    def tune_gemm(self, *more, out="out"):
        stdout, stderr = self.wattune("tune", harness.GEMM, "--device", "opencl:0", "--problem-size", "256,256,256",
                                      "--strategy", "random", "--seed", "1", "-o", self.folder / out, *more)
        return stdout, stderr

    def test_random_configurations_are_verified_timed_and_reported(self):
        stdout, _ = self.tune_gemm("--budget", "12", "--json")
        result = json.loads(stdout)
        self.assertEqual(len(result["evaluations"]), 12)
        self.assertEqual(result["seed"], 1)
        self.assertFalse(result["simulated"])
        for evaluation in result["evaluations"]:
            self.assertEqual(evaluation["outcome"], "ok", evaluation["message"])
            self.assertEqual(evaluation["verification"], "verified")
            time = evaluation["quantities"]["time"]
            self.assertGreater(time["value"], 0)
            self.assertEqual(time["unit"], "s")
            self.assertGreaterEqual(time["n"], 1)
            self.assertIn("GFLOP/s", evaluation["quantities"])
        fastest = min(e["quantities"]["time"]["value"] for e in result["evaluations"])
        self.assertEqual(result["best"]["time"]["quantities"]["time"]["value"], fastest)
        self.assertEqual(result["counts"]["ok"], 12)

    def test_the_same_seed_proposes_the_same_configurations(self):
        first = json.loads(self.tune_gemm("--budget", "5", "--json", out="a")[0])
        second = json.loads(self.tune_gemm("--budget", "5", "--json", out="b")[0])
        key = lambda e: json.dumps(e["configuration"], sort_keys=True)
        self.assertEqual(sorted(map(key, first["evaluations"])), sorted(map(key, second["evaluations"])))

    def test_a_table_names_the_best(self):
        stdout, stderr = self.tune_gemm("--budget", "4", "--maximize", "GFLOP/s")
        self.assertIn("GFLOP/s", stdout)
        self.assertIn("opencl:0", stderr)
        self.assertIn("17472", stderr.replace(",", ""))

    def test_budgets_combine(self):
        _, _ = self.tune_gemm("--budget", "3,50%", "--budget", "10min", "--json")
        self.assertEqual(len(self.journal_lines(self.journals()[0])), 3)

    def test_without_a_reference_results_are_consistent_with_the_default(self):
        problem = self.copy_problem(change=lambda p: p["ConfigurationSpace"]["TuningParameters"][0].update(Values="[0]"))
        stdout, _ = self.wattune("tune", problem, "--device", "opencl:0", "-o", self.folder / "out", "--json")
        result = json.loads(stdout)
        self.assertEqual([e["verification"] for e in result["evaluations"]], ["consistent"] * 2)

    def test_no_file_stays_behind_but_the_journal_and_its_log(self):
        self.tune_gemm("--budget", "2", "--json")
        names = sorted(file.suffix for file in (self.folder / "out").iterdir())
        self.assertEqual(names, [".jsonl", ".log"])


if __name__ == "__main__":
    harness.main()
