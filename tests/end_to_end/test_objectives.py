"""What is best: conditions, the energy-delay product, energy above idle, the waiting host. On a simulated GPU."""

import json
import unittest

import harness


class Objectives(harness.CommandTest):
    def tune(self, *arguments, code=0, change=None):
        """All configurations of the test problem; returns the JSON result, or stderr where the code is not 0."""
        stdout, stderr = self.wattune("tune", self.copy_problem("scaled", change), "--device", "sim:h200", "-o",
                                      self.folder / "out", "--finalists", "0", "--json", *arguments, code=code)
        return json.loads(stdout) if code == 0 else stderr

    def values(self, result, name):
        return [evaluation["quantities"][name]["value"] for evaluation in result["evaluations"]]

    def best(self, result, name):
        return result["best"][name]["quantities"]

    def test_the_best_meets_the_condition(self):
        result = self.tune("--minimize", "energy", "--subject-to", "time <= 1.02*best(time)", "--strategy", "brute_force")
        limit = 1.02 * min(self.values(result, "time"))
        energies = [e for t, e in zip(self.values(result, "time"), self.values(result, "energy")) if t <= limit]
        self.assertLess(len(energies), len(result["evaluations"]))
        self.assertEqual(len(result["feasible"]), len(energies))
        self.assertEqual(self.best(result, "energy")["energy"]["value"], min(energies))
        self.assertEqual(result["subject_to"], ["time <= 1.02*best(time)"])

    def test_a_problem_file_may_hold_conditions(self):
        def change(problem):
            problem["wattune"]["SubjectTo"] = ["power < best(power) * 1.1"]
        result = self.tune("--strategy", "brute_force", change=change)
        limit = min(self.values(result, "power")) * 1.1
        self.assertEqual(self.best(result, "time")["time"]["value"],
                         min(t for t, p in zip(self.values(result, "time"), self.values(result, "power")) if p < limit))

    def test_where_nothing_meets_the_condition_the_nearest_is_told(self):
        stdout, _ = self.wattune("tune", self.copy_problem("scaled"), "--device", "sim:h200", "-o", self.folder / "out",
                                 "--subject-to", "time < 1e-9", "--budget", "5")
        self.assertIn("Subject to time < 1e-9: 0 of 5 configurations", stdout)
        self.assertRegex(stdout, r"The nearest misses by [0-9.e+]+ %: ")
        self.assertIn("Best time: none; no configuration was measured in it that meets the conditions", stdout)

    def test_faulty_conditions_are_told_before_anything_is_measured(self):
        self.assertIn("condition 'tiem < 1': there is no quantity or metric 'tiem'; did you mean 'time'?",
                      self.tune("--subject-to", "tiem < 1", code=2))
        self.assertIn("column 8", self.tune("--subject-to", "time < ", code=2))
        self.assertEqual(self.journals(), [])

    def test_what_says_that_energy_was_not_measured_is_no_objective(self):
        self.assertIn("objective 'energy_bound': there is no such quantity", self.tune("--minimize", "energy_bound", code=2))

    def test_options_of_energy_are_told_to_have_no_effect_where_none_is_measured(self):
        command = ("tune", self.copy_problem("scaled"), "--device", "sim:h200", "-o", self.folder / "out", "--budget", "2",
                   "--energy-estimator", "counter", "--no-skip")
        _, stderr = self.wattune(*command, "--minimize", "time")
        self.assertIn("note: --energy-estimator has no effect: no energy is measured", stderr)
        self.assertIn("note: --no-skip has no effect", stderr)
        self.assertNotIn("--energy-ticks", stderr)
        _, stderr = self.wattune(*command, "--minimize", "energy")
        self.assertNotIn("has no effect", stderr)

    def test_finalists_meet_the_condition(self):
        stdout, _ = self.wattune("tune", self.copy_problem("scaled"), "--device", "sim:h200", "-o", self.folder / "out",
                                 "--minimize", "energy", "--subject-to", "time <= 1.02*best(time)", "--strategy",
                                 "brute_force", "--json")
        lines = self.journal_lines(self.journals()[0])
        limit = 1.03 * min(line["quantities"]["time"]["value"] for line in lines)
        finals = [line for line in lines if line["tier"] == "final"]
        self.assertTrue(finals)
        for line in finals:
            self.assertLess(line["quantities"]["time"]["value"], limit)

    def test_the_energy_delay_product_is_there_by_name(self):
        result = self.tune("--minimize", "edp", "--minimize", "ed2p", "--budget", "5", "--no-skip")
        for evaluation in result["evaluations"]:
            quantities = evaluation["quantities"]
            energy, time = quantities["energy"]["value"], quantities["time"]["value"]
            self.assertAlmostEqual(quantities["edp"]["value"] / (energy * time), 1)
            self.assertAlmostEqual(quantities["ed2p"]["value"] / (energy * time * time), 1)
            self.assertEqual(quantities["edp"]["unit"], "J s")

    def test_the_energy_delay_product_may_stand_in_conditions_and_with_recorded_results(self):
        result = self.tune("--subject-to", "edp <= 1.5*best(edp)", "--strategy", "brute_force", "--no-skip")
        limit = 1.5 * min(self.values(result, "edp"))
        self.assertEqual(len(result["feasible"]), sum(edp <= limit for edp in self.values(result, "edp")))
        replayed, _ = self.wattune("tune", self.folder / "scaled.json", "--device", f"replay:{self.journals()[0]}", "-o",
                                   self.folder / "replayed", "--minimize", "edp", "--strategy", "brute_force", "--json")
        self.assertEqual(self.best(json.loads(replayed), "edp")["edp"]["value"], min(self.values(result, "edp")))
        _, stderr = self.wattune("tune", self.folder / "scaled.json", "--device", f"replay:{self.journals()[0]}", "-o",
                                 self.folder / "replayed", "--host-power", "5", code=2)
        self.assertIn("--host-power: not with recorded results", stderr)

    def test_energy_above_idle_is_a_column_of_its_own(self):
        result = self.tune("--minimize", "energy", "--budget", "5", "--no-skip")
        for evaluation in result["evaluations"]:
            quantities = evaluation["quantities"]
            idle = quantities["idle_power"]["value"] * quantities["time"]["value"]
            self.assertGreater(quantities["idle_power"]["value"], 50)
            self.assertAlmostEqual(quantities["energy_above_idle"]["value"] / (quantities["energy"]["value"] - idle), 1)
        stdout, _ = self.wattune("tune", self.folder / "scaled.json", "--device", "sim:h200", "-o", self.folder / "out",
                                 "--finalists", "0", "--minimize", "energy", "--budget", "5")
        self.assertIn("energy_above_idle", stdout)
        self.assertIn("W drawn by the idle device with a context open", stdout)

    def test_the_waiting_host_is_counted_where_it_is_given(self):
        result = self.tune("--minimize", "energy", "--host-power", "200", "--strategy", "brute_force")
        self.assertEqual(result["host_power"], 200)
        for evaluation in result["evaluations"]:
            quantities = evaluation["quantities"]
            both = quantities["energy"]["value"] + 200 * quantities["time"]["value"]
            self.assertAlmostEqual(quantities["energy_with_host"]["value"] / both, 1)
        for watts in ("0.001", "100000"):
            stdout, _ = self.wattune("tune", self.folder / "scaled.json", "--device", "sim:h200", "-o",
                                     self.folder / "out", "--finalists", "0", "--minimize", "energy", "--host-power",
                                     watts, "--strategy", "brute_force")
            self.assertRegex(stdout, f"With {watts} W of the waiting host|With 1e\\+05 W of the waiting host")


if __name__ == "__main__":
    unittest.main()
