"""A configuration that fails is a result: recorded with its kind, and tuning goes on."""

import json

import harness


class Faults(harness.CommandTest):
    def test_each_fault_is_recorded_with_its_kind_and_the_others_are_measured(self):
        problem = self.copy_problem()
        stdout, stderr = self.wattune("tune", problem, "--device", "opencl:0", "-o", self.folder / "out", "--strategy",
                                      "brute_force", "--timeout", "3", "--json")
        result = json.loads(stdout)
        outcomes = {(e["configuration"]["FAULT"], e["configuration"]["block_size_x"]): e for e in result["evaluations"]}
        expected = {0: "ok", 1: "correctness", 2: "correctness", 3: "compile", 4: "crash", 5: "timeout",
                    6: "correctness"}
        for (fault, _), evaluation in outcomes.items():
            self.assertEqual(evaluation["outcome"], expected[fault], evaluation)
        self.assertEqual(len(outcomes), 8)
        self.assertEqual(result["counts"],
                         {"ok": 2, "correctness": 3, "compile": 1, "crash": 1, "timeout": 1})
        self.assertIn("this variant does not compile", outcomes[(3, 32)]["message"])
        self.assertIn("argument y", outcomes[(2, 32)]["message"])  # names the argument that was overrun
        self.assertIn("workers died", outcomes[(4, 32)]["message"])
        # Nothing that failed is tried again.
        _, stderr = self.wattune("tune", problem, "--device", "opencl:0", "-o", self.folder / "out", "--strategy",
                                 "brute_force", "--timeout", "3")
        self.assertEqual(len(self.journal_lines(self.journals()[0])), 8)

    def test_whatever_goes_wrong_in_a_run_the_other_results_are_as_without_it(self):
        def values(faults):
            def change(problem):
                parameters = problem["ConfigurationSpace"]["TuningParameters"]
                parameters[0]["Values"] = faults
                parameters[1]["Values"] = "[2**i for i in range(9)]"
                problem["ConfigurationSpace"]["Conditions"][0]["Expression"] = "FAULT == 0 or block_size_x == 32"
            return change
        results = {}
        for name, faults in [("without", "[0]"), ("with", "[0, 1, 2, 3, 4, 5, 7, 8]")]:
            problem = self.copy_problem(change=values(faults))
            stdout, _ = self.wattune("tune", problem, "--device", "opencl:0", "-o", self.folder / name, "--seed", "3",
                                     "--timeout", "4", "--compile-timeout", "20", "--no-cache", "--json")
            results[name] = json.loads(stdout)["evaluations"]
        self.assertEqual(len(results["without"]), 9)
        self.assertEqual(len(results["with"]), 9 + 7)

        def sound(evaluations):
            return {e["configuration"]["block_size_x"]: (e["outcome"], e["message"], e["verification"],
                                                         e["quantities"]["max_error"]["value"])
                    for e in evaluations if e["configuration"]["FAULT"] == 0}
        self.assertEqual(sound(results["with"]), sound(results["without"]))
        faulty = {e["configuration"]["FAULT"]: e for e in results["with"] if e["configuration"]["FAULT"] != 0}
        self.assertEqual({fault: e["outcome"] for fault, e in faulty.items()},
                         {1: "correctness", 2: "correctness", 3: "compile", 4: "crash", 5: "timeout", 7: "compile",
                          8: "compile"})
        self.assertTrue(all(e["message"] for e in faulty.values()))
        self.assertIn("compiler processes died", faulty[7]["message"])
        self.assertIn("ran longer than 20 s", faulty[8]["message"])

    def test_the_table_counts_failures_by_kind(self):
        problem = self.copy_problem(
            change=lambda p: p["ConfigurationSpace"]["TuningParameters"][0].update(Values="[0, 1, 3]"))
        stdout, _ = self.wattune("tune", problem, "--device", "opencl:0", "-o", self.folder / "out")
        self.assertIn("correctness", stdout)
        self.assertIn("compile", stdout)


if __name__ == "__main__":
    harness.main()
