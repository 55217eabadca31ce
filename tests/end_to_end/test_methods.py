"""Tuning methods: wattune tune --method, wattune replay --method, wattune compare."""

import json
import pathlib
import signal
import time
import unittest

import harness
import settings_harness
from settings_harness import BOARD, DEVICE, UNTOUCHED

METHODS = ["race-to-idle", "energy-at-max", "race-to-idle+clocks", "energy-to-solution+clocks", "energy-to-solution",
           "model-steered", "two-clock"]
WITHOUT_SETTINGS = METHODS[:2]
CLOCKS = list(range(210, 1411, 75))


class Methods(settings_harness.Settings):
    def tune_by(self, method, *arguments, code=0, environment=None, budget="30", clocks=":17", output=None):
        clock_arguments = ["--clocks", clocks] if clocks else []
        stdout, stderr = self.wattune("tune", harness.GEMM, "--device", DEVICE, "--method", method, *clock_arguments, "--budget",
                                      budget, "--finalists", "2", "-o", output or self.output, "--json", *arguments, code=code,
                                      environment=environment)
        return (json.loads(stdout) if code == 0 else None), stderr

    def clocks_of(self, result):
        return [evaluation["configuration"]["nvml_gr_clock"] for evaluation in result["evaluations"] if evaluation["tier"] == "screen"]

    def test_the_answer_of_a_method_is_told(self):
        result, stderr = self.tune_by("race-to-idle+clocks", "--allow-settings", budget="40")
        self.assertIn("method race-to-idle+clocks (strategy auto)", stderr)
        self.assertEqual(set(self.clocks_of(result)[:24]), {1410})
        answer = result["method"]
        self.assertEqual(answer["name"], "race-to-idle+clocks")
        self.assertEqual(answer["evaluations"], 40)
        self.assertFalse(answer["default_settings"])
        at_max = [e for e in result["evaluations"] if e["tier"] == "screen" and e["configuration"]["nvml_gr_clock"] == 1410]
        fastest = min(at_max, key=lambda e: e["quantities"]["time"]["value"])["configuration"]
        found = answer["configuration"]
        self.assertEqual({**fastest, "nvml_gr_clock": 0}, {**found, "nvml_gr_clock": 0})
        self.assertLess(found["nvml_gr_clock"], 1410)
        self.assertIn("energy", answer["quantities"])
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_the_variant_of_the_first_step_meets_the_conditions(self):
        free, _ = self.tune_by("race-to-idle+clocks", "--allow-settings", budget="40")
        at_max = [e for e in free["evaluations"] if e["tier"] == "screen" and e["configuration"]["nvml_gr_clock"] == 1410]
        powers = {e["quantities"]["power"]["value"]: e for e in at_max if "power" in e["quantities"]}
        limit = 0.98 * min(powers.items(), key=lambda entry: entry[1]["quantities"]["time"]["value"])[0]
        held, _ = self.tune_by("race-to-idle+clocks", "--allow-settings", "--subject-to", f"power <= {limit}", budget="40",
                               output=self.folder / "held")
        meets = [e for e in held["evaluations"] if e["tier"] == "screen" and e["configuration"]["nvml_gr_clock"] == 1410
                 and e["quantities"].get("power", {"value": limit + 1})["value"] <= limit]
        fastest = min(meets, key=lambda e: e["quantities"]["time"]["value"])["configuration"]
        found = held["method"]["configuration"]
        self.assertEqual({**fastest, "nvml_gr_clock": 0}, {**found, "nvml_gr_clock": 0})
        self.assertLessEqual(held["method"]["quantities"]["power"]["value"], limit)

    def test_a_race_has_its_energy_measured_too(self):
        result, _ = self.tune_by("race-to-idle", "--allow-settings", budget="15")
        self.assertEqual([objective["name"] for objective in result["objectives"]], ["time"])
        self.assertGreater(result["method"]["quantities"]["energy"]["value"], 0)

    def test_the_base_clock_is_that_of_the_board_and_its_source_is_told(self):
        result, stderr = self.tune_by("energy-to-solution+clocks", "--allow-settings", budget="6")
        self.assertIn("Base clock: 765 MHz (the board's default application clock)", stderr)
        self.assertEqual(self.clocks_of(result)[0], min(self.supported(result), key=lambda clock: abs(clock - 765)))
        result, stderr = self.tune_by("energy-to-solution+clocks", "--allow-settings", "--base-clock", "960", budget="6",
                                      output=self.folder / "other")
        self.assertIn("Base clock: 960 MHz (--base-clock)", stderr)
        self.assertEqual(self.clocks_of(result)[0], min(self.supported(result), key=lambda clock: abs(clock - 960)))

    def supported(self, result):
        header = json.loads(pathlib.Path(result["journal"]).read_text(encoding="utf-8").split("\n", 1)[0])
        return next(p["values"] for p in header["parameters"] if p["name"] == "nvml_gr_clock")

    def test_without_permission_methods_without_clocks_run_at_default_clocks_and_say_so(self):
        for method in WITHOUT_SETTINGS:
            for environment in ({}, {"WATTUNE_READ_ONLY": "1"}, {"WATTUNE_SIM_USER": "user"}):
                with self.subTest(method=method, environment=environment):
                    allowed = ["--allow-settings"] if environment else []
                    result, stderr = self.tune_by(method, *allowed, budget="4", environment=environment)
                    self.assertIn("runs at the device's default clocks", stderr)
                    self.assertTrue(result["method"]["default_settings"])
                    self.assertTrue(any(f"Method {method} at default clocks" in remark for remark in result["remarks"]))
                    self.assertNotIn("nvml_gr_clock", result["method"]["configuration"])

    def test_without_permission_the_others_end_with_3(self):
        for method in METHODS[2:]:
            with self.subTest(method=method):
                _, stderr = self.tune_by(method, code=3)
                self.assertIn("--allow-settings", stderr)
                _, stderr = self.tune_by(method, "--allow-settings", code=3, environment={"WATTUNE_READ_ONLY": "1"})
                self.assertIn("WATTUNE_READ_ONLY", stderr)
        self.assertFalse(self.journals())

    def test_a_method_resumes_as_the_same_run(self):
        whole, _ = self.tune_by("two-clock", "--allow-settings", budget="30")
        lines = self.journals()[0].read_text().splitlines(keepends=True)
        cut = self.folder / "cut"
        cut.mkdir()
        (cut / self.journals()[0].name).write_text("".join(lines[:12]))
        resumed, _ = self.tune_by("two-clock", "--allow-settings", budget="30", output=cut)
        self.assertEqual(resumed["reused"], 11)
        order = [[e["configuration"] for e in r["evaluations"] if e["tier"] == "screen"] for r in (whole, resumed)]
        self.assertEqual(order[0][:11], order[1][:11])
        self.assertEqual(len(order[1]), 30)

    def test_wrong_words_are_told(self):
        _, stderr = self.tune_by("race", code=2)
        self.assertIn("there is no method 'race'; there are: race-to-idle", stderr)
        _, stderr = self.tune_by("two-clock", "--minimize", "energy", "--minimize", "time", "--allow-settings", code=2)
        self.assertIn("--method weighs one objective", stderr)
        _, stderr = self.wattune("tune", harness.GEMM, "--device", DEVICE, "--base-clock", "1000", code=2)
        self.assertIn("--base-clock goes with --method", stderr)

    def test_a_wrong_strategy_is_told_before_anything_is_measured(self):
        for option, said in (("--strategy=nope", "there is no strategy 'nope'"), ("--strategy-option=foo=1", "foo")):
            _, stderr = self.tune("--allow-settings", "--method", "two-clock", option, code=2)
            self.assertIn(said, stderr)
            self.assertEqual(self.journals(), [])

    def test_what_no_method_can_do_with_is_told_before_any_begins(self):
        journal = self.folder / "run.jsonl"
        journal.write_text('{"wattune_journal":1}\n')
        for arguments, said in (([harness.GEMM, "--budget", "0"], "--budget"), ([journal], "run.jsonl")):
            _, stderr = self.wattune("compare", *arguments, "--device", DEVICE, code=2)
            self.assertIn(said, stderr)
            self.assertEqual(len(stderr.strip().splitlines()), 1, stderr)

    def test_methods_are_run_in_turn_and_compared(self):
        stdout, _ = self.wattune("compare", harness.GEMM, "--device", DEVICE, "--allow-settings", "--clocks", ":9", "--budget", "20",
                                 "-o", self.output, "--json")
        compared = json.loads(stdout)
        self.assertEqual([method["name"] for method in compared["methods"]], METHODS)
        for method in compared["methods"]:
            self.assertGreater(method["energy_j"], 0)
            self.assertGreater(method["time_s"], 0)
            self.assertGreater(method["power_w"], 0)
            self.assertLessEqual(method["evaluations"], 20)
            self.assertGreaterEqual(method["gap"], 0)
        self.assertEqual(min(method["gap"] for method in compared["methods"]), 0)
        self.assertEqual(BOARD.settings(), UNTOUCHED)
        files = [next((self.output / method).glob("*.jsonl")) for method in METHODS]
        again = json.loads(self.wattune("compare", *files, "--json")[0])
        for run, read in zip(compared["methods"], again["methods"]):
            self.assertEqual(run["configuration"], read["configuration"])
            self.assertAlmostEqual(run["energy_j"], read["energy_j"], delta=1e-9)
            self.assertEqual(run["evaluations"], read["evaluations"])
        table = self.wattune("compare", *files)[0]
        for method in METHODS:
            self.assertIn(method, table)

    def test_comparing_without_permission_shows_what_can_be_had_and_ends_with_3(self):
        stdout, stderr = self.wattune("compare", harness.GEMM, "--device", DEVICE, "--clocks", ":5", "--budget", "4", "-o",
                                      self.output, "--json", code=3)
        methods = {method["name"]: method for method in json.loads(stdout)["methods"]}
        for name in WITHOUT_SETTINGS:
            self.assertEqual(methods[name]["remark"], "at default clocks")
        for name in METHODS[2:]:
            self.assertEqual(methods[name]["missing"], "clocks cannot be set")
            self.assertIsNone(methods[name]["configuration"])
        self.assertIn("--allow-settings", stderr)


    def compare_command(self, *arguments, problem=harness.GEMM):
        return ["compare", problem, "--device", DEVICE, "--allow-settings", "-o", self.output, "--json", *arguments]

    def interrupt_at(self, process, folder):
        """Interrupts the comparison when the method's run has its folder, which it makes before its first evaluation."""
        deadline = time.monotonic() + 120
        while not folder.exists():
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(process.poll(), "the command ended early")
            time.sleep(0.001)
        process.send_signal(signal.SIGINT)
        stdout, stderr = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, stderr)
        return json.loads(stdout)["methods"]

    def test_an_interrupt_before_the_first_evaluation_ends_the_comparison(self):
        methods = self.interrupt_at(self.start(*self.compare_command("--clocks", ":5", "--budget", "100000")), self.output / METHODS[0])
        self.assertEqual([method["name"] for method in methods], METHODS[:1])
        self.assertIn("interrupted", json.dumps(methods))

    def test_an_interrupt_keeps_what_is_complete(self):
        process = self.start(*self.compare_command("--clocks", ":5", "--budget", "5"))
        methods = self.interrupt_at(process, self.output / METHODS[1])
        self.assertEqual([method["name"] for method in methods], METHODS[:2])
        self.assertGreater(methods[0]["energy_j"], 0)
        self.assertIn("interrupted", json.dumps(methods[1]))
        self.assertFalse((self.output / METHODS[2]).exists())

    def test_an_interrupt_between_two_methods_ends_the_comparison_with_what_there_is(self):
        process = self.start(*self.compare_command("--clocks", ":5", "--budget", "4"))
        begun = 0
        for line in process.stderr:
            begun += line.startswith("--- ")
            if begun == 2:  # the first run has ended, the second has not begun
                process.send_signal(signal.SIGINT)
                break
        stdout, stderr = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 130, stderr)
        methods = json.loads(stdout)["methods"]
        self.assertLess(len(methods), 4)
        self.assertGreater(methods[0]["energy_j"], 0)
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_a_method_that_cannot_run_is_a_row(self):
        command = self.compare_command("--power-limits", "150,250", "--budget", "6")
        stdout, _ = self.wattune(*command, code=2)
        methods = {method["name"]: method for method in json.loads(stdout)["methods"]}
        self.assertEqual(list(methods), METHODS)
        self.assertIn("nvml_gr_clock", methods["model-steered"]["missing"])
        self.assertIsNone(methods["model-steered"]["objective_value"])
        self.assertGreater(methods["two-clock"]["energy_j"], 0)
        _, stderr = self.wattune(*self.compare_command("--budget", "many"), code=2)
        self.assertEqual(len([line for line in stderr.splitlines() if line.startswith("wattune: ")]), 1)

    def test_what_stops_a_run_for_good_stops_the_comparison_with_what_there_is(self):
        command = self.compare_command("--clocks", ":5", "--budget", "4")
        self.wattune(*command, "--method", ",".join(METHODS[:2]))
        lock = pathlib.Path(f"{self.journals(self.output / METHODS[1])[0]}.lock")
        lock.write_text(json.dumps({"host": "elsewhere", "pid": 1234, "start_time": 1, "boot": "b", "pid_namespace": "n",
                                    "token": "0123456789abcdef"}))
        stdout, stderr = self.wattune(*command, "--method", ",".join(METHODS[:3]), code=1)
        methods = json.loads(stdout)["methods"]
        self.assertEqual([method["name"] for method in methods], METHODS[:2])
        self.assertGreater(methods[0]["energy_j"], 0)
        self.assertIn("on host 'elsewhere'", methods[1]["missing"])
        self.assertIn("on host 'elsewhere'", stderr)


class RecordedMethods(harness.CommandTest):
    """On made-up results: time as 1/clock, energy with its least inside the range, other for each variant."""

    def record(self, name="cache.json", best=900, limits=None):
        cache = {}
        variants = [1, 2, 4, 8]
        for variant in variants:
            for clock in range(300, 1501, 100):
                for limit in limits or [None]:
                    time_ms = 3000 / clock * (1 + 0.2 * abs(variants.index(variant) - 2))
                    joules = 0.1 * (1 + (clock / best - 1) ** 2) * (1 + 0.1 * abs(variants.index(variant) - 1))
                    if limit and limit < 200:
                        time_ms, joules = 1.2 * time_ms, 0.95 * joules
                    values = [variant, clock] + ([limit] if limits else [])
                    cache[",".join(map(str, values))] = {
                        **dict(zip(["x", "nvml_gr_clock", "nvml_pwr_limit"], values)), "time": time_ms,
                        "times": [time_ms * 0.99, time_ms * 1.01, time_ms], "nvml_energy": joules,
                        "nvml_power": joules / time_ms * 1e3}
        file = self.folder / name
        params = {"x": variants, "nvml_gr_clock": list(range(300, 1501, 100)), **({"nvml_pwr_limit": limits} if limits else {})}
        file.write_text(json.dumps({"device_name": "A board", "kernel_name": "made_up", "problem_size": [1],
                                    "tune_params_keys": list(params), "tune_params": params, "cache": cache}))
        return file

    def compare(self, *arguments):
        return json.loads(self.wattune("compare", *arguments, "--json")[0])

    def test_methods_are_worked_out_from_results(self):
        compared = self.compare(self.record(), "--base-clock", "700")
        self.assertTrue(compared["enumerated"])
        methods = {method["name"]: method for method in compared["methods"]}
        self.assertEqual(methods["race-to-idle"]["configuration"], {"x": 4, "nvml_gr_clock": 1500})
        self.assertEqual(methods["race-to-idle+clocks"]["configuration"], {"x": 4, "nvml_gr_clock": 900})
        self.assertEqual(methods["energy-to-solution"]["configuration"], {"x": 2, "nvml_gr_clock": 900})
        self.assertEqual(methods["energy-to-solution"]["gap"], 0)
        self.assertEqual(methods["energy-at-max"]["evaluations"], 4)
        self.assertEqual(methods["energy-to-solution"]["evaluations"], 52)
        for method in methods.values():
            self.assertGreaterEqual(method["gap"], 0)

    def test_the_table_says_what_is_missing(self):
        table = self.wattune("compare", self.record())[0]
        self.assertIn("methods by enumeration of what is recorded", table)
        self.assertIn("(no base clock: give --base-clock)", table)
        missing = [method for method in self.compare(self.record())["methods"] if "missing" in method]
        self.assertEqual([method["objective_value"] for method in missing], [None])
        only = self.wattune("compare", self.record(), "--method", "two-clock")[0]
        self.assertIn("two-clock", only)
        self.assertNotIn("race-to-idle", only)

    def test_one_clock_for_several_kernels(self):
        compared = self.compare(self.record("a.json", 700), self.record("b.json", 1100), "--common-clock")
        common = compared["common_clock"]
        self.assertEqual([kernel["own_clock_mhz"] for kernel in common["kernels"]], [700, 1100])
        self.assertIn(common["clock_mhz"], (800, 900))
        self.assertAlmostEqual(common["energy_j"], sum(kernel["energy_j"] for kernel in common["kernels"]))
        self.assertGreater(common["penalty"], 0)
        self.assertEqual(len(compared["files"]), 2)

    def test_what_is_not_recorded_is_told(self):
        file = self.record()
        self.assertEqual(self.wattune("compare", file)[1], "")
        cache = json.loads(file.read_text())
        del cache["cache"]["1,300"], cache["cache"]["2,400"]
        file.write_text(json.dumps(cache))
        stdout, stderr = self.wattune("compare", file, "--json")
        self.assertIn("50 of 52 combinations", stderr)
        self.assertEqual(json.loads(stdout)["recorded"], 50)
        self.assertIsNone(json.loads(stdout)["valid"])

    def test_a_journal_that_is_no_enumeration_is_told(self):
        self.wattune("tune", harness.GEMM, "--device", DEVICE, "--strategy", "random", "--budget", "8", "--minimize",
                     "energy", "-o", self.folder / "out")
        stdout, stderr = self.wattune("compare", self.journals()[0], "--json")
        compared = json.loads(stdout)
        self.assertEqual(compared["recorded"], 8)
        self.assertGreater(compared["valid"], 8)
        self.assertIn(f"8 of {compared['valid']} valid configurations are recorded", stderr)

    def test_runs_of_other_methods_than_the_wanted_are_told_of(self):
        self.wattune("tune", harness.GEMM, "--device", DEVICE, "--method", "race-to-idle", "--budget", "4", "-o", self.folder / "out")
        (file,) = self.journals()
        _, stderr = self.wattune("compare", file, "--method", "two-clock,energy-at-max", code=2)
        self.assertIn(f"no run of two-clock, energy-at-max in {file}; there are runs of race-to-idle", stderr)
        self.assertEqual(len(self.compare(file, "--method", "race-to-idle,two-clock")["methods"]), 1)

    def test_runs_of_other_sizes_stand_in_tables_of_their_own(self):
        files = []
        for size in ("256,256,256", "512,512,512"):
            out = self.folder / size
            self.wattune("tune", harness.GEMM, "--device", DEVICE, "--method", "race-to-idle", "--problem-size", size, "--budget", "4",
                         "-o", out)
            files += self.journals(out)
        compared = self.compare(*files)
        self.assertEqual([len(each["methods"]) for each in compared["files"]], [1, 1])

    def test_kernels_on_different_boards_have_no_common_clock(self):
        files = [self.record("a.json"), self.record("b.json")]
        files[1].write_text(files[1].read_text().replace("A board", "Another board"))
        _, stderr = self.wattune("compare", *files, "--common-clock", code=2)
        self.assertIn("'A board'", stderr)
        self.assertIn("'Another board'", stderr)

    def test_power_limits_are_set_against_clocks(self):
        file = self.record(limits=[100, 250])
        capping = self.compare(file)["power_capping"]
        self.assertEqual(capping["by_clock"]["configuration"], {"x": 2, "nvml_gr_clock": 900, "nvml_pwr_limit": 250})
        self.assertEqual(capping["by_limit"]["configuration"], {"x": 2, "nvml_gr_clock": 1500, "nvml_pwr_limit": 100})
        self.assertAlmostEqual(capping["by_limit"]["time_spread"], 0.01, places=4)
        self.assertIn("power limit", self.wattune("compare", file)[0])

    def test_methods_are_replayed_beside_strategies(self):
        result = json.loads(self.wattune("replay", self.record(), "--strategy", "auto", "--method", "two-clock,race-to-idle", "--seeds",
                                         "5", "--at", "30,52", "--minimize", "nvml_energy", "--json")[0])
        gaps = {(row["strategy"], row["evaluations"]): row["mean_gap"] for row in result["summary"]}
        self.assertLess(gaps["two-clock", 30], 0.01)
        self.assertGreater(gaps["race-to-idle", 52], 0.3)  # racing costs energy, however long it is searched

    def test_methods_of_recorded_results_in_one_run(self):
        file = self.record()
        problem = self.folder / "problem.json"
        problem.write_text(json.dumps({
            "ConfigurationSpace": {"TuningParameters": [
                {"Name": "x", "Type": "int", "Values": "[1, 2, 4, 8]"},
                {"Name": "nvml_gr_clock", "Type": "int", "Values": str(list(range(300, 1501, 100)))}]},
            "KernelSpecification": {"Language": "CUDA", "KernelName": "made_up", "KernelFile": "made_up.cu",
                                    "GlobalSize": {"X": "1"}, "LocalSize": {"X": "1"}}}))
        stdout, _ = self.wattune("tune", problem, "--device", f"replay:{file}", "--method", "two-clock", "--budget", "40", "-o",
                                 self.folder / "out", "--json")
        self.assertEqual(json.loads(stdout)["method"]["configuration"], {"x": 2, "nvml_gr_clock": 900})

    def test_wrong_words_are_told(self):
        file = self.record()
        for arguments, message in (
                (["compare", file, "--method", "race"], "there is no method 'race'"),
                (["compare", file, "--budget", "5"], "--budget is for runs: name the --device"),
                (["compare", file, "--strategy", "random"], "--strategy is for runs"),
                (["compare", file, "--seed", "3"], "--seed is for runs"),
                (["compare", file, "--seed", "0"], "--seed is for runs"),
                (["compare", file, "--strategy", "auto"], "--strategy is for runs"),
                (["compare", file, "--settings-wait", "0"], "--settings-wait is for runs"),
                (["compare", file, "--output", self.folder / "out"], "--output is for runs"),
                (["compare", file, "--clocks", ":5"], "--clocks is for runs"),
                (["compare", file, "--base-clock", "1000000"], "the nearest clock is 1500 MHz"),
                (["replay", file, "--method", "energy-to-solution+clocks", "--minimize", "nvml_energy", "--base-clock", "9999"],
                 "the nearest clock is 1500 MHz"),
                (["compare", file, "--minimize", "volume"], "volume"),
                (["compare", self.folder / "none.json"], "none.json"),
                (["compare", file, file, "--device", DEVICE], "name one problem file"),
                (["compare", file, "--method", "two-clock", "--base-clock", "900"], "--base-clock goes with --method energy-to-solution+clocks"),
                (["replay", file, "--strategy", "random", "--base-clock", "900"], "--base-clock goes with --method"),
                (["replay", file, "--method", "two-clock", "--strategy-option", "a=1"], "--strategy-option goes with --strategy"),
                (["replay", file], "name a --strategy or a --method"),
                (["replay", file, "--method", "energy-to-solution+clocks", "--minimize", "nvml_energy"], "--base-clock")):
            with self.subTest(arguments=arguments):
                _, stderr = self.wattune(*arguments, code=2)
                self.assertIn(message, stderr)
                self.assertEqual(len(stderr.strip().splitlines()), 1)


def tearDownModule():
    settings_harness.remove_machine()


if __name__ == "__main__":
    unittest.main(verbosity=2)
