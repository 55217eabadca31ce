"""Files of results in which nothing can be chosen: every command says why."""

import json
import unittest

import harness

FAILED = {"time": "CompilationFailedConfig"}
WRONG = {"time": "InvalidConfig"}


class FailedResults(harness.CommandTest):
    def cache(self, *entries, name="cache.json"):
        """A Kernel Tuner cache with these results, each of another configuration, at another clock."""
        names = ["x", "nvml_gr_clock"]
        points = [(i // 4, 300 + 100 * (i % 4)) for i in range(len(entries))]
        cache = {f"{x},{clock}": {"x": x, "nvml_gr_clock": clock, **entry} for (x, clock), entry in zip(points, entries)}
        file = self.folder / name
        file.write_text(json.dumps({"device_name": "A board", "kernel_name": "k", "problem_size": [1], "tune_params_keys": names,
                                    "tune_params": {n: sorted({p[i] for p in points}) for i, n in enumerate(names)}, "cache": cache}))
        return file

    def commands(self, file):
        return ((["results", "front", file, "--minimize", "energy", "--minimize", "time"], "energy"),
                (["results", "front", file], "time"), (["compare", file], "energy"), (["export", file], "time"),
                (["export", file, "--minimize", "energy", "--header"], "energy"),
                (["replay", file, "--strategy", "random", "--minimize", "energy"], "energy"),
                (["model", file], "power"), (["results", "show", file, "--sort", "energy"], None))

    def check(self, file, reason):
        for command, quantity in self.commands(file):
            with self.subTest(command=command):
                stdout, stderr = self.wattune(*command, code=2 if quantity else 0)
                told = stderr if quantity else stdout
                self.assertIn(file.name, told)
                self.assertIn(reason, told)
                if quantity:
                    self.assertIn(f"has a valid {quantity}", told)
                    self.assertEqual(len(stderr.splitlines()), 1, stderr)

    def test_failures_are_counted_by_kind(self):
        self.check(self.cache(*[FAILED] * 9, *[WRONG] * 3), "none of its 12 configurations has a valid")
        stderr = self.wattune("export", self.folder / "cache.json", code=2)[1]
        self.assertIn("9 compile errors", stderr)

    def test_numbers_that_are_none_are_no_results(self):
        file = self.cache(*[{"time": 1.0, "nvml_energy": float("nan")}] * 4, FAILED)
        for command in (["export", file, "--minimize", "nvml_energy"], ["compare", file, "--minimize", "nvml_energy"],
                        ["replay", file, "--strategy", "random", "--minimize", "nvml_energy"],
                        ["results", "front", file, "--minimize", "nvml_energy", "--minimize", "time"]):
            with self.subTest(command=command):
                stderr = self.wattune(*command, code=2)[1]
                self.assertIn("cache.json: ", stderr)
                self.assertIn("nvml_energy", stderr)
                self.assertTrue("none of its 5 configurations has a valid" in stderr or "there are: time" in stderr, stderr)

    def test_a_journal_in_which_every_configuration_failed(self):
        self.check(self.convert(self.cache(*[FAILED] * 2)), "none of its 2 configurations has a valid")

    def convert(self, file):
        target = self.folder / "journal.jsonl"
        self.wattune("convert", file, target)
        return target

    def test_one_of_several_files_is_named(self):
        good = self.cache(*[{"time": 1.0 + i, "nvml_energy": 1.0 + i} for i in range(8)], name="good.json")
        bad = self.cache(FAILED, name="bad.json")
        for command in (["compare", good, bad], ["export", good, bad, "--minimize", "time"]):
            stderr = self.wattune(*command, code=2)[1]
            self.assertIn("bad.json: its one configuration has no valid", stderr)
            self.assertIn("1 compile error)", stderr)
            self.assertNotIn("good.json", stderr)

    def test_a_quantity_that_is_not_recorded_is_told_with_the_file_and_what_there_is(self):
        file = self.cache({"time": 1.0})
        for command in (["export", file], ["results", "front", file, "--minimize", "time"], ["replay", file, "--strategy", "random"]):
            stderr = self.wattune(*command, "--minimize", "beauty", code=2)[1]
            self.assertIn("cache.json: 'beauty' is not recorded in these results; there are: time", stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
