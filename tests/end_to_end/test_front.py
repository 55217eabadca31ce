"""wattune results front, and the front that tune shows."""

import csv
import io
import json
import unittest

import harness

ADA = harness.SOURCE.parent / "shared" / "data" / "ada_tensorcore_beamformer"
# time (s), its error, energy (J), its error: a fast one that may be beaten, a knee, the frugal end, one off the front
POINTS = [(1.000, 0.005, 10, 0.1), (1.005, 0.005, 8, 0.1), (1.1, 0.005, 5, 0.1), (2.0, 0.005, 4, 0.1), (2.5, 0.005, 6, 0.1)]


def quantity(value, error, unit):
    return {"value": value, "unit": unit, "stderr": error, "n": 3, "flags": []}


def journal(points):
    header = {"wattune_journal": 1, "problem": {"name": "valley", "hash": "0", "file": "", "size": [64]},
              "device": {"name": "A GPU", "id": "", "board": "", "backend": "", "driver": "", "compiler": "", "simulated": True},
              "meter": "none", "host": "", "seed": 0, "strategy": "", "version": "", "created": "",
              "parameters": [{"name": "x", "kind": "code", "values": list(range(len(points)))}], "restrictions": []}
    lines = [header]
    for x, (time, time_error, energy, energy_error) in enumerate(points):
        lines.append({"configuration": {"x": x}, "outcome": "ok",
                      "quantities": {"time": quantity(time, time_error, "s"), "energy": quantity(energy, energy_error, "J")}})
    return "".join(json.dumps(line) + "\n" for line in lines)


class Front(harness.CommandTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "results.jsonl"
        self.file.write_text(journal(POINTS))

    def front(self, *arguments, code=0):
        return self.wattune("results", "front", self.file, "--minimize", "time", "--minimize", "energy", *arguments, code=code)

    def test_text_has_members_knee_and_trade_off(self):
        text, errors = self.front()
        self.assertEqual(text, """Pareto front of time, energy: 4 configurations, 1 of them not sure
#  on the front        time [s]     energy [J]  x
1  not sure      1.000 +- 0.005  10.00 +- 0.10  0
2  sure          1.005 +- 0.005   8.00 +- 0.10  1
3  sure, knee    1.100 +- 0.005   5.00 +- 0.10  2
4  sure          2.000 +- 0.005   4.00 +- 0.10  3
From the best time to the best energy: 100.0 +- 1.1 % more time for 60.0 +- 1.1 % less energy
At the knee, farthest from the line between the ends: 10.0 +- 0.7 % more time for 50.0 +- 1.1 % less energy
Not sure: within the uncertainty (95 %) another configuration may be as good or better in every objective
""")
        self.assertEqual(errors, "")

    def test_energies_that_cannot_be_count_as_not_measured_and_are_told(self):
        whole, _ = self.front("--json")
        self.file.write_text(journal([*POINTS, (0.5, 0.005, -5, 0.1), (3.0, 0.005, 0, 0.1)]))
        text, errors = self.front("--json")
        members = lambda text: [m["quantities"] for m in json.loads(text)["members"]]
        self.assertEqual(members(text), members(whole))
        self.assertEqual(errors, f"wattune: warning: {self.file}: 2 times, energies or powers are zero, negative or infinite: they "
                                 "count as not measured (energy -5 J of (5) first)\n")
        text, errors = self.wattune("compare", self.file)
        self.assertIn("energy -5 J of (5) first", errors)
        self.assertNotIn("-5", text)

    def test_values_that_no_parameter_lists_are_left_out_of_comparisons_and_told(self):
        lines = self.file.read_text().splitlines()
        stray = json.loads(lines[1])
        stray["configuration"]["x"] = "abc"
        self.file.write_text("\n".join([*lines, json.dumps(stray)]) + "\n")
        _, errors = self.wattune("compare", self.file)
        self.assertIn("1 evaluation with a value that its parameter does not have is left out: (abc)", errors)

    def test_percentages_are_never_long(self):
        self.file.write_text(journal([*POINTS, (3.0, 0.005, 1e-300, 1e-302)]))
        for command in (["compare", self.file], ["results", "front", self.file, "--minimize", "time", "--minimize", "energy"]):
            text, _ = self.wattune(*command)
            self.assertTrue(all(len(line) < 200 for line in text.splitlines()), text)

    def test_results_show_tells_the_trade_off_of_several_objectives(self):
        text, _ = self.wattune("results", "show", self.file, "--minimize", "time", "--minimize", "energy")
        self.assertIn("Pareto front of time, energy: 4 configurations, 1 of them not sure; 'wattune results front' lists them\n"
                      "From the best time to the best energy: 100.0 +- 1.1 % more time", text)
        self.assertNotIn("Pareto", self.wattune("results", "show", self.file, "--minimize", "time")[0])

    def test_csv_of_the_front_and_of_all(self):
        rows = list(csv.DictReader(io.StringIO(self.front("--csv")[0])))
        self.assertEqual([row["x"] for row in rows], ["0", "1", "2", "3"])
        self.assertEqual([row["knee"] for row in rows], ["0", "0", "1", "0"])
        self.assertEqual((rows[2]["time"], rows[2]["energy_stderr"], rows[2]["on_front"]), ("1.1", "0.1", "sure"))
        rows = list(csv.DictReader(io.StringIO(self.front("--csv", "--all")[0])))
        self.assertEqual([row["on_front"] for row in rows], ["not sure", "sure", "sure", "sure", "no"])

    def test_json(self):
        found = json.loads(self.front("--json")[0])
        self.assertEqual([member["configuration"]["x"] for member in found["members"]], [0, 1, 2, 3])
        self.assertEqual(found["members"][0]["rival"], {"x": 1})
        self.assertEqual(found["members"][1]["rival"], None)
        self.assertEqual(found["knee"], 2)
        self.assertAlmostEqual(found["trade_off"]["energy"]["relative"], -0.6)
        self.assertAlmostEqual(found["knee_trade_off"]["time"]["relative"], 0.1)
        self.assertTrue(found["errors_known"])

    def test_missing_errors_are_told(self):
        self.file.write_text(journal([(1, None, 10, None), (2, None, 8, None)]))
        text, errors = self.front()
        self.assertIn("2 configurations\n", text)
        self.assertIn("From the best time to the best energy: 100.0 % more time for 20.00 % less energy", text)
        self.assertIn("standard errors are not recorded", errors)

    def test_a_long_front_is_cut_but_keeps_its_ends(self):
        self.file.write_text(journal([(1 + i, 0.01, 100 - i, 0.01) for i in range(50)]))
        text, _ = self.front("--top", 5)
        self.assertEqual([line.split()[0] for line in text.splitlines()[3:8]], ["1", "13", "25", "37", "50"])
        self.assertIn("(5 of them, spread evenly)", text)

    def test_errors_say_what_to_do(self):
        _, errors = self.wattune("results", "front", self.file, code=2)
        self.assertIn("two quantities or more, and there is only time; say which with --minimize", errors)
        _, errors = self.front("--maximize", "energy", code=2)
        self.assertIn("energy is given twice", errors)
        _, errors = self.front("--minimize", "beauty", code=2)
        self.assertIn("'beauty' is not recorded in these results; there are: energy, time", errors)
        self.assertIn("--csv", self.front("--all", code=2)[1])
        self.assertIn("--top", self.front("--top", "1", code=2)[1])
        self.file.write_text(journal(POINTS).replace('"ok"', '"timeout"'))
        self.assertIn(f"none of its {len(POINTS)} configurations has a valid", self.front(code=2)[1])

    @unittest.skipUnless(ADA.exists(), "no recorded data of the RTX 4000 Ada")
    def test_recorded_trade_off_of_a_tensor_core_beamformer(self):
        file = next(file for file in sorted(ADA.iterdir()) if ".json" in file.name)
        text, _ = self.wattune("results", "front", file, "--maximize", "TFLOPS", "--maximize", "TFLOPS/J")
        self.assertRegex(text, r"From the best TFLOPS to the best TFLOPS/J: 21\.\d+ % slower for 12\.7\d* % more efficient")


if __name__ == "__main__":
    unittest.main()
