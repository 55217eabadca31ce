"""wattune model on recorded results."""

import json
import unittest

import harness

A4000 = harness.SOURCE.parent / "shared" / "data" / "a4000_power_clock" / "cache.json"


def power(clock, ridge=1300, limit=1e9):
    voltage = 1 + 8e-4 * max(0, clock - ridge)
    return min(limit, 30 + 0.04 * clock * voltage**2)


def cache(clocks, **changes):
    entries = {}
    for clock in clocks:
        entries[f"8,{clock}"] = {"block": 8, "nvml_gr_clock": clock, "core_freq": clock, "nvml_power": power(clock),
                                 "time": 1e5 / clock, **changes}
    return {"device_name": "A GPU", "kernel_name": "fma_chain", "problem_size": [64], "tune_params_keys": ["block", "nvml_gr_clock"],
            "tune_params": {"block": [8], "nvml_gr_clock": list(clocks)}, "objective": "time", "cache": entries}


class Model(harness.CommandTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "cache.json"
        self.file.write_text(json.dumps(cache(range(300, 2101, 150))))

    def model(self, *arguments):
        return json.loads(self.wattune("model", *arguments, "--json")[0])

    def test_text_has_parameters_ridge_optimum_and_clocks(self):
        text, errors = self.wattune("model", self.file, "--supported", "300:2100:15")
        for part in ["fma_chain", "A GPU", "P_idle", "W/MHz", "rms", "Ridge: 1300 MHz, 95 % interval", "optimum", "10 of 121 supported clocks"]:
            self.assertIn(part, text)
        self.assertEqual(errors, "")

    def test_json(self):
        found = self.model(self.file, "--supported", "300:2100:15")
        self.assertEqual(found["form"], "free")
        self.assertAlmostEqual(found["ridge_mhz"], 1300, delta=0.1)
        self.assertEqual(found["optimum_mhz"], min(range(300, 2101, 15), key=lambda c: power(c) / c))
        self.assertAlmostEqual(found["parameters"]["P_idle"]["value"], 30, delta=0.01)
        self.assertEqual(found["parameters"]["alpha"]["unit"], "W/MHz")
        self.assertEqual(len(found["selected_clocks_mhz"]), 10)
        self.assertAlmostEqual(found["reduction"], 1 - 10 / 121)
        self.assertEqual(found["warnings"], [])

    def test_width_and_count(self):
        found = self.model(self.file, "--supported", "300:2100:15", "--width", "2.5%", "--count", 3)
        self.assertEqual(found["selected_clocks_mhz"], [1260, 1290, 1320])

    def test_formats_give_the_same(self):
        expected = self.model(self.file)
        for name in ["a.t4.json", "b.csv", "c.jsonl"]:
            self.wattune("convert", self.file, self.folder / name)
            found = self.model(self.folder / name)
            self.assertAlmostEqual(found["ridge_mhz"], expected["ridge_mhz"], places=3)
            self.assertEqual(found["selected_clocks_mhz"], expected["selected_clocks_mhz"])

    def test_a_table_of_clock_power_and_voltage(self):
        lines = ["clock [MHz],power [W],voltage [mV]"]
        lines += [f"{c},{power(c)},{775 * (1 + 8e-4 * max(0, c - 1300))}" for c in range(300, 2101, 100)]
        table = self.folder / "table.csv"
        table.write_text("\n".join(lines) + "\n")
        found = self.model(table, "--form", "leakage")
        self.assertTrue(found["measured_voltage"])
        self.assertAlmostEqual(found["ridge_mhz"], 1300, delta=10)
        self.assertFalse(self.model(table, "--voltage", "none")["measured_voltage"])

    def test_errors_say_what_to_do(self):
        for arguments, part in [(["--clock", "foo"], "there are quantities: core_freq"), (["--power", "time"], "power is in W"),
                                (["--width", "0.1"], "like 10%"), (["--width", "0%"], "above 0"), (["--supported", "5:1:1"], "LO:HI:STEP"),
                                (["--where", "block"], "NAME=VALUE"), (["--form", "cubic"], "free"), (["--count", "0"], "--count")]:
            _, errors = self.wattune("model", self.file, *arguments, code=2)
            self.assertIn(part, errors)
        self.file.write_text(json.dumps(cache([500, 1000, 1500])))
        self.assertIn("3 distinct clocks are too few", self.wattune("model", self.file, code=2)[1])
        self.file.write_text(json.dumps(cache(range(300, 2101, 150), nvml_power=0)))
        errors = self.wattune("model", self.file, code=2)[1]
        self.assertIn("times, energies or powers are zero, negative or infinite: they count as not measured", errors)
        self.assertIn("no power is recorded", errors)
        self.assertIn("none.json", self.wattune("model", self.folder / "none.json", code=2)[1])

    def table(self, *lines):
        file = self.folder / "table.csv"
        file.write_text("".join(line + "\n" for line in lines))
        return file

    def test_tables_that_hold_no_model_say_what_is_wrong_with_them(self):
        title = "clock [MHz],power [W]"
        rows = [f"{c},{power(c)}" for c in range(300, 2101, 100)]
        cases = [(["clock [MHz],volts [V]", "300,0.7"], "no power is recorded"), ([title], "it holds no evaluation"), ([], "the file is empty"),
                 ([title, rows[0]], "1 distinct clock is too few"), ([title, *["300,many"] * 9], "line 2: 'many'"),
                 (["power,speed", "1,2"], "as CSV its first line must have")]
        for lines, message in cases:
            with self.subTest(lines=lines):
                file = self.table(*lines)
                _, errors = self.wattune("model", file, code=2)
                self.assertIn(message, errors)
                self.assertIn("table.csv", errors.splitlines()[-1])

    def test_what_is_no_number_in_a_table_is_told_with_its_line_and_left_out(self):
        rows = [f"{c},{power(c)}" for c in range(300, 2101, 100)]
        rows[2] = "fast,60"
        rows[4] = "700,much"
        _, errors = self.wattune("model", self.table("clock [MHz],power [W]", *rows))
        self.assertIn("line 4: 'fast'", errors)
        self.assertIn("line 6: 'much'", errors)

    def test_clocks_that_no_board_has_are_left_out_and_told(self):
        rows = [f"{c},{power(c)}" for c in range(300, 1200, 100)]
        _, errors = self.wattune("model", self.table("clock [MHz],power [W]", *rows, "1e18,200"))
        self.assertIn("1 evaluation left out, for clock or power is missing, no number, zero, negative or beyond what boards have", errors)

    def test_a_voltage_is_one_by_its_unit_and_its_size(self):
        _, errors = self.wattune("model", self.file, "--voltage", "nvml_power", code=2)
        self.assertIn("--voltage 'nvml_power': it is in W, and a voltage in V or mV; name another quantity, or 'none'", errors)
        for unit, factor, good in (("V", 1, True), ("mV", 1e3, True), ("V", 1e3, False), ("mV", 1, False), ("", 1, True), ("", 1e3, True), ("", 100, False)):
            title = f"other [{unit}]" if unit else "other"
            rows = [f"{c},{power(c)},{factor * 0.775 * (1 + 8e-4 * max(0, c - 1300))}" for c in range(300, 2101, 100)]
            file = self.table(f"clock [MHz],power [W],{title}", *rows)
            with self.subTest(unit=unit, factor=factor):
                _, errors = self.wattune("model", file, "--voltage", "other", code=0 if good else 2)
                if not good:
                    self.assertIn("are no voltages of a GPU's core", errors)

    def test_a_column_that_is_only_called_voltage_is_passed_over(self):
        rows = [f"{c},{power(c)},12.1" for c in range(300, 2101, 100)]
        stdout, errors = self.wattune("model", self.table("clock [MHz],power [W],voltage [V]", *rows), "--json")
        self.assertFalse(json.loads(stdout)["measured_voltage"])
        self.assertIn("'voltage' is not used as the voltage: 12.1 to 12.1 V are no voltages", errors)

    @unittest.skipUnless(A4000.exists(), "no recorded data of the RTX A4000")
    def test_recorded_a4000(self):
        found = self.model(A4000)
        self.assertAlmostEqual(found["ridge_mhz"], 1364, delta=10)
        self.assertLessEqual(found["rms_w"], 0.42)
        paper = self.model(A4000, "--form", "paper", "--clock", "core_freq")
        for name, value in {"t": 946.725, "s_v": 0.941259, "s_c": 0.876953, "p_max": 3.164633}.items():
            self.assertAlmostEqual(paper["parameters"][name]["value"] / value, 1, delta=1e-5)
        self.assertEqual(paper["selected_clocks_mhz"], list(range(1215, 1500, 30)))
        self.assertAlmostEqual(paper["reduction"], 0.912, delta=5e-4)
        self.assertIn("power limit", paper["warnings"][0])


if __name__ == "__main__":
    unittest.main()
