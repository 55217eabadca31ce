"""What is not measured because it cannot need the least energy, and what later runs in the same folder make of it."""

import json
import unittest

import harness

KERNEL = 'extern "C" __global__ void k(float* y) { y[blockIdx.x * blockDim.x + threadIdx.x] = A; }\n'
PROBLEM = {
    "General": {"BenchmarkName": "uncommon"},
    "ConfigurationSpace": {"TuningParameters": [
        {"Name": "A", "Type": "int", "Values": "[i for i in range(1, 31)]", "Default": 1}]},
    "KernelSpecification": {
        "Language": "CUDA", "KernelName": "k", "KernelFile": "k.cu", "ProblemSize": [1048576],
        "LocalSize": {"X": "256"}, "GridDivX": ["256"],
        "Arguments": [{"Name": "y", "Type": "float", "MemoryType": "Vector", "AccessType": "WriteOnly",
                       "Size": "ProblemSize[0]"}]}}
UNCOMMON = 17  # slow, and yet it needs least energy: its variant does less work


class GivenUp(harness.CommandTest):
    def setUp(self):
        super().setUp()
        (self.folder / "k.cu").write_text(KERNEL)
        self.problem = self.folder / "problem.json"
        self.problem.write_text(json.dumps(PROBLEM))
        recording = self.folder / "recorded.csv"
        rows = [f"{a},ok,{11 if a == UNCOMMON else 5 + a / 20},{85 if a == UNCOMMON else 235}" for a in range(1, 31)]
        recording.write_text("\n".join(["A,outcome,time [ms],power [W]", *rows]) + "\n")
        self.environment = {"WATTUNE_SIM_RECORDED": str(recording)}

    def tune(self, *arguments, problem=None, code=0):
        stdout, stderr = self.wattune("tune", problem or self.problem, "--device", "sim:a100-pcie-40gb", "--seed", "2", "-o",
                                      self.folder / "out", "--json", *arguments, environment=self.environment, code=code)
        return json.loads(stdout), stderr

    def bounded(self, result):
        return [e for e in result["evaluations"] if "energy_bound" in e["quantities"] and "energy" not in e["quantities"]]

    def test_how_many_were_not_measured_is_told(self):
        _, stderr = self.tune("--minimize", "energy", "--strategy", "random", "--budget", "30")
        self.assertIn("not measured, because too slow to need the least energy: 1 of 30 configurations (--no-skip measures all)", stderr)

    def test_a_run_that_needs_energy_measures_what_another_gave_up(self):
        skipped, _ = self.tune("--minimize", "energy", "--strategy", "random", "--budget", "30", "--finalists", "0")
        self.assertEqual([e["configuration"]["A"] for e in self.bounded(skipped)], [UNCOMMON])
        for more in (["--no-skip"], ["--strategy", "brute_force"], ["--subject-to", "power < 100"]):
            result, _ = self.tune("--minimize", "energy", "--budget", "30", "--finalists", "0", *more)
            self.assertEqual(self.bounded(result), [], more)
            self.assertEqual(result["best"]["energy"]["configuration"]["A"], UNCOMMON, more)
        efficient, _ = self.tune("--maximize", "GFLOP/J", "--budget", "30", problem=self.with_work())
        self.assertEqual(efficient["best"]["GFLOP/J"]["configuration"]["A"], UNCOMMON)

    def with_work(self):
        self.problem.write_text(json.dumps({**PROBLEM, "wattune": {"Workload": {"Flop": "1000 * ProblemSize[0]"}}}))
        return self.problem

    def test_finalists_of_another_question_count_by_its_metrics(self):
        self.tune("--minimize", "energy", "--no-skip", "--budget", "30", "--strategy", "brute_force")
        for watts in (100, 300):
            result, _ = self.tune("--minimize", "energy", "--budget", "30", "--host-power", str(watts), "--strategy", "brute_force")
            best = result["best"]["energy"]["quantities"]
            self.assertAlmostEqual(best["energy_with_host"]["value"], best["energy"]["value"] + watts * best["time"]["value"], 4)
        delay, _ = self.tune("--minimize", "edp", "--budget", "30", "--strategy", "brute_force")
        best = delay["best"]["edp"]["quantities"]
        self.assertAlmostEqual(best["edp"]["value"], best["energy"]["value"] * best["time"]["value"], 6)
        finals = [e for e in delay["evaluations"] if e["tier"] == "final"]
        self.assertGreaterEqual(len(finals), 5)
        self.assertTrue(all("edp" in e["quantities"] for e in finals))


if __name__ == "__main__":
    unittest.main()
