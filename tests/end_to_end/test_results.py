"""The commands on recorded results: convert, results, replay, export."""

import gzip
import json
import random
import unittest

import harness


def valley(failures=True):
    """A Kernel Tuner cache: two parameters with a hole, times in ms with a valley, a failure here and there."""
    cache = {}
    for x in range(16):
        for y in range(16):
            if (x + y) % 5 == 3:
                continue
            entry = {"x": x, "y": y, "compile_time": 400.0, "benchmark_time": 100.0}
            if failures and x * y % 11 == 7:
                entry["time"] = "RuntimeFailedConfig"
            else:
                entry["time"] = 1.0 + (x - 11) ** 2 + (y - 4) ** 2
            cache[f"{x},{y}"] = entry
    return {"device_name": "NVIDIA A100", "kernel_name": "valley", "problem_size": [64, 64], "tune_params_keys": ["x", "y"],
            "tune_params": {"x": list(range(16)), "y": list(range(16))}, "objective": "time", "cache": cache}


class Results(harness.CommandTest):
    def setUp(self):
        super().setUp()
        self.file = self.folder / "cache.json"
        self.file.write_text(json.dumps(valley()))

    def test_convert_through_all_formats_keeps_all_results(self):
        first = self.file
        for name in ["a.t4.json", "b.csv", "c.jsonl.gz", "d.json"]:
            self.wattune("convert", first, self.folder / name)
            first = self.folder / name
        expected = valley()["cache"]
        found = json.loads(first.read_text())["cache"]
        self.assertEqual(set(found), set(expected))
        for key, entry in expected.items():
            self.assertEqual(found[key]["time"], entry["time"])
            self.assertEqual(found[key]["compile_time"], entry["compile_time"])

    def test_convert_tells_of_a_torn_line(self):
        text = self.file.read_text()
        self.file.write_text(text[: text.rfind('"time"')])
        _, errors = self.wattune("convert", self.file, self.folder / "out.csv")
        self.assertIn("torn", errors)

    def test_errors_name_the_file(self):
        _, errors = self.wattune("convert", self.folder / "none.json", self.folder / "out.csv", code=2)
        self.assertIn("none.json", errors)
        _, errors = self.wattune("convert", self.file, self.folder / "out.txt", code=2)
        self.assertIn("give --to", errors)

    def test_show(self):
        text, _ = self.wattune("results", "show", self.file, "--top", 3)
        self.assertIn("kernel valley on NVIDIA A100; problem size 64 x 64", text)
        shown = json.loads(self.wattune("results", "show", self.file, "--json", "--top", 3)[0])
        self.assertEqual(shown["counts"]["launch"], sum(e["time"] == "RuntimeFailedConfig" for e in valley()["cache"].values()))
        self.assertEqual(shown["evaluations"][0]["configuration"], {"x": 11, "y": 4})
        self.assertEqual(len(shown["evaluations"]), 3)

    def test_check_finds_what_is_wrong(self):
        self.wattune("results", "check", self.file)
        wrong = valley()
        wrong["cache"]["99,1"] = {"x": 99, "y": 1, "time": 1.0}
        self.file.write_text(json.dumps(wrong))
        text, _ = self.wattune("results", "check", self.file, code=1)
        self.assertIn("outside", text)

    def test_merge_and_drop_failed(self):
        halves = [valley(), valley()]
        for number, half in enumerate(halves):
            half["cache"] = {k: v for i, (k, v) in enumerate(half["cache"].items()) if i % 2 == number or i < 10}
            (self.folder / f"{number}.json").write_text(json.dumps(half))
        self.wattune("results", "merge", self.folder / "0.json", self.folder / "1.json", "-o", self.folder / "both.json")
        both = json.loads((self.folder / "both.json").read_text())
        self.assertEqual(set(both["cache"]), set(valley()["cache"]))
        self.wattune("results", "drop-failed", self.folder / "both.json", "-o", self.folder / "both.json")
        both = json.loads((self.folder / "both.json").read_text())
        self.assertFalse(any(isinstance(entry["time"], str) for entry in both["cache"].values()))

    def test_replay_reports_gaps_of_each_run(self):
        report = json.loads(self.wattune("replay", self.file, "--strategy", "random,local_search", "--seeds", "3:7", "--at", "20,50",
                                         "--json")[0])
        self.assertEqual(report["optimum"], 1e-3)
        self.assertEqual([run["seed"] for run in report["runs"]], 2 * [3, 4, 5, 6, 7])
        for run in report["runs"]:
            self.assertGreaterEqual(run["gaps"]["20"], run["gaps"]["50"])
            self.assertAlmostEqual(run["tuning_seconds"]["50"], 25.0)
        for summary in report["summary"]:
            gaps = [run["gaps"][str(summary["evaluations"])] for run in report["runs"] if run["strategy"] == summary["strategy"]]
            self.assertAlmostEqual(summary["mean_gap"], sum(gaps) / len(gaps))
            self.assertAlmostEqual(summary["max_gap"], max(gaps))
        text, _ = self.wattune("replay", self.file, "--strategy", "local_search", "--seeds", "5", "--budget", "30")
        self.assertIn("local_search", text)
        csv, _ = self.wattune("replay", self.file, "--strategy", "random", "--seeds", "5", "--budget", "30", "--csv")
        self.assertEqual(len(csv.splitlines()), 31)

    def test_replay_is_the_same_whatever_was_not_visited(self):
        """Every entry but those near the start of the search is spoilt: where the trace is short, most of them."""
        arguments = ["--strategy", "local_search", "--seeds", "1:1", "--budget", "12", "--at", "1,2,3,4,5,6,7,8,9,10,11,12", "--json"]
        first = json.loads(self.wattune("replay", self.file, *arguments)[0])
        best = min(gap for gap in first["runs"][0]["gaps"].values() if gap is not None)
        spoilt = valley()
        rng = random.Random(1)
        for key, entry in spoilt["cache"].items():
            # What is better than anything found was not visited; it may be anything that is no better than the optimum.
            if not isinstance(entry["time"], str) and entry["time"] / 1.0 - 1 < best and entry["time"] != 1.0:
                entry["time"] = 1.0 + best * rng.random()
        self.file.write_text(json.dumps(spoilt))
        second = json.loads(self.wattune("replay", self.file, *arguments)[0])
        self.assertEqual(first["runs"], second["runs"])

    def test_replay_refuses_what_is_not_recorded(self):
        _, errors = self.wattune("replay", self.file, "--strategy", "random", "--minimize", "energy", code=2)
        self.assertIn("'energy' is not recorded in these results; there are: time", errors)
        _, errors = self.wattune("replay", self.file, "--strategy", "nonsense", code=2)
        self.assertIn("nonsense", errors)

    def test_export(self):
        tuned = json.loads(self.wattune("export", self.file)[0])
        self.assertEqual(tuned["entries"][0]["configuration"], {"x": 11, "y": 4})
        text, _ = self.wattune("export", self.file, "--header")
        self.assertIn("namespace wattune_tuned::valley", text)

    def tuned_journal(self, *arguments):
        """A journal with finalists of a simulated device, and the run's report."""
        report, _ = self.wattune("tune", self.copy_problem("scaled"), "--device", "sim:h200", "-o", self.folder / "out",
                                 "--finalists", "3", "--strategy", "random", "--json", *arguments)
        return self.journals()[0], json.loads(report)

    def test_finalists_of_a_journal_are_shown_as_the_run_reported_them(self):
        journal, report = self.tuned_journal("--minimize", "energy", "--no-skip")
        lines = self.journal_lines(journal)
        finals = [line for line in lines if line["tier"] == "final"]
        finalists = {json.dumps(line["configuration"], sort_keys=True) for line in finals}
        self.assertGreaterEqual(len(finals), 4 * len(finalists))
        best = report["best"]["energy"]
        shown = json.loads(self.wattune("results", "show", journal, "--minimize", "energy", "--json")[0])
        self.assertEqual(shown["evaluations"][0]["configuration"], best["configuration"])
        self.assertEqual(shown["evaluations"][0]["quantities"]["energy"], best["quantities"]["energy"])
        self.assertEqual(sum(shown["counts"].values()), len(lines) - len(finals) + len(finalists))
        exported = json.loads(self.wattune("export", journal, "--minimize", "energy")[0])["entries"][0]
        self.assertEqual(exported["quantities"]["energy"], best["quantities"]["energy"])
        front = json.loads(self.wattune("results", "front", journal, "--minimize", "energy", "--minimize", "time", "--json")[0])
        self.assertEqual(front["members"][0]["quantities"]["energy"], best["quantities"]["energy"])
        for name in ("a.csv", "a.t4.json", "a.json"):
            _, errors = self.wattune("convert", journal, self.folder / name)
            self.assertIn("trials of finalists are written as their means", errors)
            shown = json.loads(self.wattune("results", "show", self.folder / name, "--minimize", "energy", "--json")[0])
            self.assertEqual(shown["evaluations"][0]["quantities"]["energy"]["value"], best["quantities"]["energy"]["value"])
        replayed = json.loads(self.wattune("tune", self.folder / "scaled.json", "--device", f"replay:{journal}", "--minimize",
                                           "energy", "--strategy", "brute_force", "-o", self.folder / "again", "--json")[0])
        self.assertEqual(replayed["best"]["energy"]["quantities"]["energy"]["value"], best["quantities"]["energy"]["value"])

    def test_trials_stay_where_journals_are_worked_on(self):
        journal, report = self.tuned_journal("--minimize", "energy", "--no-skip")
        count = len(self.journal_lines(journal))
        text, _ = self.wattune("results", "check", journal)
        self.assertIn("Nothing is wrong with it.", text)
        copies = [self.folder / name for name in ("copy.jsonl", "merged.jsonl", "kept.jsonl")]
        self.wattune("convert", journal, copies[0])
        self.wattune("results", "merge", journal, copies[0], "-o", copies[1])
        self.wattune("results", "drop-failed", journal, "-o", copies[2])
        for copy in copies:
            self.assertEqual(len(self.journal_lines(copy)), count)
        # A cache has place for one evaluation of a configuration.
        best = report["best"]["energy"]["quantities"]["energy"]["value"]
        self.wattune("results", "merge", *copies[:2], "-o", self.folder / "merged.json")
        shown = json.loads(self.wattune("results", "show", self.folder / "merged.json", "--minimize", "energy", "--json")[0])
        self.assertEqual(shown["evaluations"][0]["quantities"]["energy"]["value"], best)

    def test_a_journal_without_objective_is_shown_by_time_and_that_is_said(self):
        journal, _ = self.tuned_journal("--minimize", "energy")
        said = f"{journal} does not tell what it was tuned for: time is taken; --minimize or --maximize names another"
        for command in (["results", "show"], ["export"]):
            _, errors = self.wattune(*command, journal)
            self.assertEqual(errors.count(said), 1, errors)
            _, errors = self.wattune(*command, journal, "--minimize", "time")
            self.assertNotIn("does not tell", errors)
        self.assertNotIn("does not tell", self.wattune("results", "show", journal, "--sort", "energy")[1])
        self.assertNotIn("does not tell", self.wattune("results", "show", self.file)[1])

    def test_configurations_whose_energy_was_not_measured_are_told_of(self):
        journal, _ = self.tuned_journal("--minimize", "energy")
        # The last line of a configuration counts.
        last = {json.dumps(line["configuration"]): line["quantities"] for line in self.journal_lines(journal)}
        count = sum("energy_bound" in quantities for quantities in last.values())
        self.assertGreater(count, 1)
        said = f"{count} configurations were not measured for energy: they could not win (energy_bound); tune with --no-skip measures all"
        for command in (["results", "show"], ["results", "front", "--minimize", "time"], ["export"]):
            _, errors = self.wattune(*command, journal, "--minimize", "energy")
            self.assertEqual(errors.count(said), 1, errors)
        self.assertNotIn("energy_bound", self.wattune("results", "show", journal, "--minimize", "time")[1])

    def test_compressed_input(self):
        with gzip.open(self.folder / "c.json.gz", "wt") as file:
            file.write(json.dumps(valley()))
        self.wattune("results", "check", self.folder / "c.json.gz")


if __name__ == "__main__":
    unittest.main(verbosity=2)
