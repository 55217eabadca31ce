"""The experiments in --quick: each leaves data and a page."""

import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import unittest

import harness

EXPERIMENTS = harness.SOURCE / "experiments"


class Experiments(harness.CommandTest):
    def run_script(self, name, *arguments, code=0, environment=None):
        done = subprocess.run([sys.executable, EXPERIMENTS / name, *map(str, arguments)], capture_output=True, text=True, timeout=250,
                              env={**os.environ, "WATTUNE": harness.WATTUNE, **(environment or {})}, check=False)
        self.assertEqual(done.returncode, code, f"{done.stdout}\n{done.stderr}")
        return done.stdout, done.stderr

    def experiment(self, name, *arguments):
        """Runs one, and returns its page and its JSON file, if it has one."""
        before = {page: page.read_bytes() for page in (harness.SOURCE / "docs" / "experiments").glob("*")}
        out, _ = self.run_script(f"{name}.py", "--quick", "-o", self.folder, *arguments)
        page = self.folder / "quick" / f"{name}.md"
        self.assertEqual(out.strip(), str(page))
        for path, content in before.items():
            self.assertEqual(path.read_bytes(), content, "--quick must leave the pages of the documentation alone")
        text = page.read_text()
        self.assertIn("**Simulated**", text)
        self.assertIn(f"experiments/{name}.py --quick", text)
        for chart in re.findall(r"!\[.*?\]\((.*?)\)", text):
            self.assertIn("</svg>", (page.parent / chart).read_text())
        data = page.parent / name / f"{name}.json"
        return text, json.loads(data.read_text()) if data.exists() else None

    def test_enumeration_is_a_fixed_sample_at_every_clock_and_is_kept(self):
        command = ["enumerate.py", "--device", "sim:a100-pcie-40gb", "--variants", 4, "--clocks", "600,1200", "-o"]
        file = self.run_script(*command, self.folder / "a")[0].strip()
        rows = self.journal_lines(self.folder / "a" / file.rsplit("/", 1)[1])
        self.assertEqual(len(rows), 8)
        self.assertEqual({row["configuration"]["nvml_gr_clock"] for row in rows}, {600, 1200})
        text = pathlib.Path(file).read_text()
        self.assertEqual(self.run_script(*command, self.folder / "a")[0].strip(), file)
        self.assertEqual(pathlib.Path(file).read_text(), text)
        other = self.run_script(*command, self.folder / "b")[0].strip()

        def variants(path):
            with open(path, encoding="utf-8") as lines:
                next(lines)
                return {json.dumps({**json.loads(line)["configuration"], "nvml_gr_clock": 0}, sort_keys=True) for line in lines}
        self.assertEqual(variants(file), variants(other))
        self.assertEqual(len(variants(file)), 4)

    def test_measurements_of_another_kind_are_not_mixed_in(self):
        command = ["enumerate.py", "--device", "sim:a100-pcie-40gb", "--variants", 2, "--clocks", "600", "-o", self.folder, "--energy-ticks"]

        def ticks(number):
            file = pathlib.Path(self.run_script(*command, number)[0].strip())
            return [row["quantities"]["energy"]["n"] for row in self.journal_lines(file)]
        self.assertLess(max(ticks(2)), 5)
        self.assertGreaterEqual(min(ticks(5)), 5)

    def test_enumeration_can_be_of_limits(self):
        file = self.run_script("enumerate.py", "--device", "sim:v100-pcie", "--variants", 2, "--power-limits", "100,200", "-o", self.folder)[0].strip()
        text, _ = self.wattune("results", "show", file)
        self.assertIn("4 evaluations: 4 ok", text)

    def test_errors_are_one_message(self):
        _, errors = self.run_script("enumerate.py", "--device", "sim:none", "--clocks", "all", "-o", self.folder, code=1)
        self.assertIn("enumerate.py: '", errors)
        self.assertNotIn("Traceback", errors)
        _, errors = self.run_script("table2.py", "--quick", "-o", self.folder, "--devices", "v100-pcie", self.folder / "none.json", code=1)
        self.assertEqual(errors.splitlines()[-1], f"table2.py: {self.folder / 'none.json'}: No such file or directory")

    def test_figure3(self):
        text, found = self.experiment("figure3", "--devices", "rtx-a4000")
        methods = found["rtx-a4000"]
        self.assertEqual(methods["energy-to-solution"]["gap"], 0)
        self.assertGreater(methods["race-to-idle"]["gap"], 0)
        self.assertIn("| energy-to-solution over everything is never worse than the others | yes |", text)

    def test_figure4(self):
        text, _ = self.experiment("figure4", "--devices", "a100-pcie-40gb")
        self.assertIn("| a100-pcie-40gb | -27.5 % | +50.9 % |", text)
        rows = list(csv.DictReader((self.folder / "quick" / "figure4" / "a100-pcie-40gb.csv").read_text().splitlines()))
        self.assertEqual(len(rows), 12 * 4)

    def test_figure6(self):
        _, found = self.experiment("figure6", "--devices", "a100-pcie-40gb")
        self.assertLess(found["a100-pcie-40gb"]["locked_mhz"][0], found["a100-pcie-40gb"]["limited_mhz"][0])

    def test_figure7(self):
        _, found = self.experiment("figure7", "--devices", "rtx-a4000")
        self.assertGreater(found["rtx-a4000"]["limit"]["energy"], 0)

    def test_figure8(self):
        _, found = self.experiment("figure8", "--devices", "a100-pcie-40gb")
        self.assertTrue(found["a100-pcie-40gb"]["measured_voltage"])
        self.assertAlmostEqual(found["a100-pcie-40gb"]["share"], 0.72, delta=0.05)

    def test_figure9(self):
        _, found = self.experiment("figure9", "--devices", "v100-pcie")
        self.assertAlmostEqual(found["v100-pcie"]["model"]["ridge_mhz"], 963, delta=60)

    def test_table2_takes_a_list_of_kernels(self):
        text, found = self.experiment("table2", "--devices", "a100-pcie-40gb", EXPERIMENTS.parent / "kernels" / "fma_chain" / "problem.json")
        self.assertEqual([one["kernel"] for one in found], ["fma_chain"])
        self.assertIn("42.0 +- 24.1 %", text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
