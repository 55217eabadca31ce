"""wattune tune --device replay:FILE: recorded results in the place of a device."""

import json
import unittest

import harness

CLOCKS = list(range(300, 1501, 300))
VARIANTS = [1, 2, 4, 8]


class Replayed(harness.CommandTest):
    """On made-up results: the fastest is x=4 at the highest clock, the one of least energy x=4 at 900 MHz."""

    def setUp(self):
        super().setUp()
        self.problem = self.write_problem()
        self.file = self.record()

    def record(self, size=(512, 512), limits=None):
        cache = {}
        for variant in VARIANTS:
            for clock in CLOCKS:
                for limit in limits or [None]:
                    values = [variant, clock] + ([limit] if limits else [])
                    worse = 1 + abs(VARIANTS.index(variant) - 2)
                    cache[",".join(map(str, values))] = {
                        **dict(zip(["x", "nvml_gr_clock", "nvml_pwr_limit"], values)), "time": 3000 * worse / clock,
                        "nvml_energy": 0.1 * worse * (1 + (clock / 900 - 1) ** 2)}
        params = {"x": VARIANTS, "nvml_gr_clock": CLOCKS, **({"nvml_pwr_limit": limits} if limits else {})}
        file = self.folder / "cache.json"
        head = {"device_name": "A board", "kernel_name": "made_up", "tune_params_keys": list(params), "tune_params": params}
        if size:
            head["problem_size"] = list(size)
        file.write_text(json.dumps({**head, "cache": cache}))
        return file

    def write_problem(self, size=(512, 512), with_clocks=False, **additions):
        parameters = [{"Name": "x", "Type": "int", "Values": str(VARIANTS)}]
        if with_clocks:
            parameters.append({"Name": "nvml_gr_clock", "Type": "int", "Values": "[300, 600]"})
        specification = {"Language": "CUDA", "KernelName": "made_up", "KernelFile": "made_up.cu", "GlobalSize": {"X": "1"},
                         "LocalSize": {"X": "1"}}
        if size:
            specification["ProblemSize"] = list(size)
        file = self.folder / "problem.json"
        file.write_text(json.dumps({"ConfigurationSpace": {"TuningParameters": parameters}, "KernelSpecification": specification,
                                    **({"wattune": additions} if additions else {})}))
        return file

    def replay(self, *arguments, code=0, out="out"):
        stdout, stderr = self.wattune("tune", self.problem, "--device", f"replay:{self.file}", "--budget", "100", "-o",
                                      self.folder / out, "--json", *arguments, code=code)
        return (json.loads(stdout) if code == 0 else None), stderr

    def clocks_of(self, result):
        return sorted({evaluation["configuration"]["nvml_gr_clock"] for evaluation in result["evaluations"]})

    def test_recorded_clocks_are_searched_though_the_problem_does_not_name_them(self):
        result, stderr = self.replay("--minimize", "energy")
        self.assertEqual(result["counts"], {"ok": 20})
        self.assertEqual(self.clocks_of(result), CLOCKS)
        self.assertEqual(result["best"]["nvml_energy"]["configuration"], {"x": 4, "nvml_gr_clock": 900})
        self.assertNotIn("no effect", stderr)

    def test_clocks_choose_among_those_that_are_recorded(self):
        for clocks, expected in (("300,1500", [300, 1500]), ("500:1000", [600, 900]), (":3", [300, 900, 1500]), ("all", CLOCKS)):
            with self.subTest(clocks=clocks):
                result, _ = self.replay("--clocks", clocks, out=f"out{clocks}")
                self.assertEqual(self.clocks_of(result), expected)
                self.assertEqual(len(result["evaluations"]), 4 * len(expected))

    def test_values_of_the_problem_hold_unless_the_command_line_gives_others(self):
        self.problem = self.write_problem(with_clocks=True)
        self.assertEqual(self.clocks_of(self.replay()[0]), [300, 600])
        self.assertEqual(self.clocks_of(self.replay("--clocks", "1200", out="other")[0]), [1200])
        self.problem = self.write_problem(DeviceSettings={"nvml_gr_clock": [600, 900]})
        self.assertEqual(self.clocks_of(self.replay(out="third")[0]), [600, 900])

    def test_clocks_that_are_not_recorded_are_refused(self):
        for arguments, message in ((["--clocks", "905"], "the nearest are 900"), (["--clocks", "auto"], "follows from the calibration"),
                                   (["--clocks", "ridge"], "--clocks ridge"), (["--memory-clocks", "all"], "have no nvml_mem_clock"),
                                   (["--power-limits", "200"], "have no nvml_pwr_limit")):
            with self.subTest(arguments=arguments):
                _, stderr = self.replay(*arguments, code=2)
                self.assertIn(message, stderr)
                self.assertEqual(len(stderr.splitlines()), 1)

    def test_power_limits_choose_likewise(self):
        self.file = self.record(limits=[100, 150, 250])
        result, _ = self.replay("--power-limits", "100,250", "--clocks", "900")
        self.assertEqual(sorted({e["configuration"]["nvml_pwr_limit"] for e in result["evaluations"]}), [100, 250])
        self.assertEqual(len(result["evaluations"]), 8)
        _, stderr = self.replay("--power-limits", "120", code=2)
        self.assertIn("120 W is not recorded in", stderr)
        self.assertIn("there are 100, 150, 250 W", stderr)

    def test_options_that_would_make_other_results_are_refused_even_with_their_default_values(self):
        for arguments in (["--meter", "auto"], ["--meter", "nvml"], ["--energy-estimator", "auto"], ["--energy-ticks", "2"],
                          ["--verify-only"], ["--compiler", "auto"], ["--voltage-command", "none"], ["--host-power", "100"],
                          ["--clock-width", "10%"], ["--clock-count", "10"]):
            with self.subTest(arguments=arguments):
                _, stderr = self.replay(*arguments, code=2)
                self.assertIn(f"wattune: {arguments[0]}: not with recorded results", stderr)
                self.assertEqual(len(stderr.splitlines()), 1)
        self.assertFalse(self.journals())

    def test_a_base_clock_that_no_method_begins_at_is_refused(self):
        for method in ([], ["--method", "two-clock"]):
            _, stderr = self.replay("--base-clock", "900", *method, code=2)
            self.assertIn("--base-clock goes with --method energy-to-solution+clocks", stderr)

    def test_options_without_effect_are_told_of_and_change_nothing(self):
        plain, _ = self.replay("--minimize", "energy")
        for arguments in (["--allow-settings"], ["--no-skip", "--finalists", "0"], ["--timeout", "5", "--compile-timeout", "5"],
                          ["--compile-processes", "2", "--no-cache"], ["--keep-going", "--profile"], ["--abandon-above", "3"],
                          ["--settings-wait", "1", "--assume-no-lock"]):
            with self.subTest(arguments=arguments):
                result, stderr = self.replay("--minimize", "energy", *arguments, out=f"out{arguments[0]}")
                (warning,) = [line for line in stderr.splitlines() if "no effect" in line]
                for option in arguments:
                    if option.startswith("--"):
                        self.assertIn(option, warning)
                self.assertIn("wattune: warning: ", warning)
                self.assertEqual(result["best"], plain["best"])
                self.assertEqual(len(result["evaluations"]), len(plain["evaluations"]))

    def test_results_of_another_size_are_refused_with_both_sizes(self):
        _, stderr = self.replay("--problem-size", "256,256", code=2)
        self.assertIn("of problem size 512 x 512, and --problem-size is 256 x 256", stderr)
        self.assertIn("give --problem-size 512,512", stderr)
        self.problem = self.write_problem(size=(256, 256))
        _, stderr = self.replay(code=2)
        self.assertIn("512 x 512, and the problem '", stderr)
        self.assertIn("is 256 x 256", stderr)
        self.assertFalse(self.journals())
        result, _ = self.replay("--problem-size", "512,512")
        self.assertEqual(len(result["evaluations"]), 20)

    def test_sizes_are_the_same_without_dimensions_of_1_and_where_one_is_not_told(self):
        self.file = self.record(size=(512, 512, 1))
        self.replay()
        self.file = self.record(size=None)
        self.replay("--problem-size", "128,128", out="unknown")
        self.file, self.problem = self.record(), self.write_problem(size=None)
        self.replay(out="none")

    def test_results_without_any_success_say_why(self):
        cache = json.loads(self.file.read_text())
        for i, entry in enumerate(cache["cache"].values()):
            entry["time"] = "CompilationFailedConfig" if i else "InvalidConfig"
        self.file.write_text(json.dumps(cache))
        for arguments in ([], ["--minimize", "energy"]):
            _, stderr = self.replay(*arguments, code=2)
            self.assertIn("none of its 20 configurations has a valid", stderr)
            self.assertIn("19 compile errors", stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
