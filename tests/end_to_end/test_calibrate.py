"""Calibrating a board, and clocks that follow from it, as a user does it on simulated GPUs."""

import atexit
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

import harness

CACHE = tempfile.mkdtemp(prefix="wattune-calibrate-test-")
atexit.register(shutil.rmtree, CACHE, ignore_errors=True)
os.environ["WATTUNE_CACHE_DIR"] = CACHE
KERNELS = harness.SOURCE / "kernels"
DESCRIPTIONS = harness.SOURCE / "simgpu" / "descriptions"
LIBRARY = os.environ.get("WATTUNE_SIMGPU") or str(
    pathlib.Path(harness.WATTUNE).resolve().parents[1] / "lib" / "wattune" / "libwattune_simgpu.so")
A100 = "sim:a100-pcie-40gb"
BOARDS = ["a100-pcie-40gb", "rtx-a4000", "rtx-a6000", "titan-rtx", "v100-pcie", "h200"]


def ridge_of(board):
    """MHz up to which the simulated board's voltage is flat."""
    return json.loads((DESCRIPTIONS / f"{board}.json").read_text())["voltage_mhz_mv"][0][0]


def smoothed(evaluations, reach=3):
    """Energy by clock, as at one temperature, each a parabola's through its neighbours: the board's temperature changes energy
    by several percent, and a single quick measurement scatters by half a percent."""
    found = sorted((e["configuration"]["nvml_gr_clock"], e["quantities"]["energy"]["value"], e["quantities"]["temperature"]["value"])
                   for e in evaluations if e["outcome"] == "ok")
    pairs = [(b[2] - a[2], b[1] / a[1] - 1) for a, b in zip(found, found[1:])]
    mean_x, mean_y = (sum(pair[i] for pair in pairs) / len(pairs) for i in (0, 1))
    heat = sum((x - mean_x) * (y - mean_y) for x, y in pairs) / sum((x - mean_x) ** 2 for x, _ in pairs)
    mean = sum(t for _, _, t in found) / len(found)
    points = [(clock, energy / (1 + heat * (t - mean))) for clock, energy, t in found]
    energies = {}
    for i, (clock, _) in enumerate(points):
        near = points[max(0, i - reach):i + reach + 1]
        # Least squares of a + b x + c x^2 by the normal equations.
        xs = [(other - clock) / 100 for other, _ in near]
        sums = [sum(x ** k for x in xs) for k in range(5)]
        rows = [[sums[r + c] for c in range(3)] + [sum(y * x ** r for x, (_, y) in zip(xs, near))] for r in range(3)]
        for r in range(3):
            for other in range(3):
                if other != r:
                    factor = rows[other][r] / rows[r][r]
                    rows[other] = [a - factor * b for a, b in zip(rows[other], rows[r])]
        energies[clock] = rows[0][3] / rows[0][0]
    return energies


class Calibrate(harness.CommandTest):
    def setUp(self):
        super().setUp()
        self.calibrations = self.folder / "calibrations"
        self.environment = {"WATTUNE_CALIBRATION_DIR": str(self.calibrations)}

    def calibrate(self, *arguments, device=A100, code=0, environment=None):
        return self.wattune("calibrate", "--device", device, "--no-probe", *arguments, code=code,
                            environment={**self.environment, **(environment or {})})

    def calibrated(self, *arguments, **options):
        return json.loads(self.calibrate("--allow-settings", "--json", *arguments, **options)[0])

    def lock(self, state):
        """MHz that the board of a simulated machine is locked to, by its own word; 0 where it is not."""
        program = ("import ctypes, sys; library = ctypes.CDLL(sys.argv[1]); library.wattune_sim_truth.restype = ctypes.c_double; "
                   "print(library.wattune_sim_truth(0, b'sm_lock_high'))")
        done = subprocess.run([sys.executable, "-c", program, LIBRARY], env={**os.environ, **state}, capture_output=True, text=True,
                              check=True)
        return float(done.stdout) * 1e-6

    def one_configuration(self, kernel, workload=None):
        """The problem of a kernel of the suite, reduced to its default configuration."""
        folder = self.folder / f"{kernel}-{workload is not None}"
        shutil.copytree(KERNELS / kernel, folder)
        problem = json.loads((folder / "problem.json").read_text())
        for parameter in problem["ConfigurationSpace"]["TuningParameters"]:
            parameter["Values"] = json.dumps([parameter["Default"]])
        if workload:
            problem["wattune"]["Workload"].update(workload)
        (folder / "problem.json").write_text(json.dumps(problem))
        return folder / "problem.json"

    def test_prints_and_keeps_a_model_and_leaves_the_clock_as_it_was(self):
        state = {"WATTUNE_SIM_STATE": str(self.folder / "machine"), "WATTUNE_SIM_GPUS": "a100-pcie-40gb"}
        out, err = self.calibrate("--allow-settings", environment=state)
        self.assertIn("two kernels at 10 clocks, about", err)
        self.assertRegex(out, r"Ridge: \d+ MHz, between sampled clocks \d+ to \d+ MHz")
        self.assertRegex(out, r"Clocks to search, within \+-10 % of it: [\d, ]+ MHz")
        self.assertIn("A memory-bound kernel (stream_copy) uses least at", out)
        self.assertRegex(out, r"at \d+ to \d+ degC")
        self.assertEqual(len(list(self.calibrations.glob("*.json"))), 1)
        self.assertEqual(self.lock(state), 0)
        again = self.calibrate("--stored", environment=state)[0]
        self.assertEqual(out, again)

    def test_json_holds_what_is_documented(self):
        model = self.calibrated("--voltage-command", "none")
        for key in ("form", "parameters", "ridge_mhz", "ridge_interval_mhz", "optimum_mhz", "rms_w", "r_squared", "selected_clocks_mhz",
                    "reduction", "board", "driver", "made", "own", "temperature_c", "compute", "memory", "memory_optimum_mhz"):
            self.assertIn(key, model)
        self.assertEqual(model["form"], "free")
        self.assertFalse(model["measured_voltage"])
        self.assertGreaterEqual(len(model["compute"]), 10)
        self.assertTrue(model["own"])
        self.assertLess(model["memory_optimum_mhz"], model["optimum_mhz"])
        self.assertGreater(model["reduction"], 0.8)

    def test_finds_the_ridge_of_each_simulated_gpu(self):
        # The H200's voltage rises slowly from its ridge on: there is no clock at which it begins to cost.
        for board in BOARDS:
            for two_stage in ([], ["--two-stage"]):
                model = self.calibrated(*two_stage, device=f"sim:{board}")
                print(f"{board} {two_stage}: ridge {model['ridge_mhz']:.0f} MHz (truth {ridge_of(board)}), optimum "
                      f"{model['optimum_mhz']:g} MHz, rms {model['rms_w']:.2f} W, {100 * model['reduction']:.0f} % fewer clocks")
                self.assertLess(abs(model["ridge_mhz"] / ridge_of(board) - 1), 0.2 if board == "h200" else 0.04)

    def test_without_permission_nothing_is_set(self):
        for arguments, environment, words in (
                ([], {}, "--allow-settings"),
                (["--allow-settings"], {"WATTUNE_READ_ONLY": "1"}, "WATTUNE_READ_ONLY"),
                (["--allow-settings"], {"WATTUNE_SIM_USER": "user"}, "ask")):
            err = self.calibrate(*arguments, code=3, environment=environment)[1]
            self.assertIn(words, err)
            self.assertFalse(self.calibrations.exists())

    def test_stored_is_another_boards_where_this_one_has_none_and_says_so(self):
        self.assertIn("there is no calibration of", self.calibrate("--stored", code=2)[1])
        self.calibrated()
        two = {"WATTUNE_SIM_GPUS": "a100-pcie-40gb,a100-pcie-40gb"}
        out = self.calibrate("--stored", device=A100 + ":1", environment=two)[0]
        self.assertIn("It is another board's", out)

    def test_power_sensors_are_probed_first_where_they_are_not_known(self):
        sensors = {**self.environment, "WATTUNE_SENSOR_DIR": str(self.folder / "sensors")}
        err = self.wattune("calibrate", "--device", A100, "--allow-settings", environment=sensors)[1]
        self.assertIn("probing them first, about 40 s", err)
        self.assertEqual(len(list((self.folder / "sensors").glob("*.json"))), 1)
        err = self.wattune("calibrate", "--device", A100, "--allow-settings", environment=sensors)[1]
        self.assertNotIn("probing", err)

    def test_a_folder_that_cannot_be_written_costs_a_warning_and_not_what_was_measured(self):
        (self.folder / "plain").write_text("no folder")
        out, err = self.calibrate("--allow-settings", environment={"WATTUNE_CALIBRATION_DIR": str(self.folder / "plain")})
        self.assertIn("name another folder in WATTUNE_CALIBRATION_DIR", err)
        self.assertIn("Ridge:", out)

    def test_where_the_clock_cannot_be_put_back_the_calibration_is_kept_all_the_same(self):
        err = self.calibrate("--allow-settings", code=3, environment={"WATTUNE_SIM_FAULTS": "nvml.reset_sm_clock:1+=unknown"})[1]
        self.assertIn("kept in", err)
        self.assertIn("Ridge:", self.calibrate("--stored")[0])

    def test_faulty_options_are_told_before_anything_is_done(self):
        for arguments, words in ((["--width", "10"], "write it like 10%"), (["--form", "cubic"], "cubic"), (["--samples", "3"], "3")):
            self.assertIn(words, self.calibrate("--allow-settings", *arguments, code=2)[1])

    # ---- clocks that follow from it

    def tune(self, problem, *arguments, device=A100, code=0, out="out", environment=None):
        stdout, err = self.wattune("tune", problem, "--device", device, "--allow-settings", "-o", self.folder / out, "--json",
                                   *arguments, code=code, environment={**self.environment, **(environment or {})})
        return (json.loads(stdout) if stdout else None), err

    def test_ridge_searches_the_clocks_near_the_optimum_and_makes_the_calibration_it_needs(self):
        run, err = self.tune(harness.GEMM, "--clocks", "ridge", "--budget", "30", "--finalists", "1")
        self.assertIn("has not been calibrated yet", err)
        self.assertRegex(err, r"searching 10 of 81 clocks \(\d+-\d+ MHz\), 88 % fewer")
        clocks = {e["configuration"]["nvml_gr_clock"] for e in run["evaluations"]}
        self.assertLessEqual(len(clocks), 10)
        self.assertGreater(min(clocks), 850)
        self.assertLess(max(clocks), 1250)
        _, err = self.tune(harness.GEMM, "--clocks", "ridge", "--clock-width", "3%", "--clock-count", "4", "--budget", "5", out="again")
        self.assertNotIn("has not been calibrated yet", err)
        self.assertRegex(err, r"searching 4 of 81 clocks")

    def test_auto_finds_the_best_configurations_own_clocks_and_resumes(self):
        arguments = (harness.GEMM, "--clocks", "auto", "--budget", "40", "--finalists", "2", "--problem-size", "1024,1024,1024")
        run, err = self.tune(*arguments)
        self.assertIn("The best configurations' own clocks are found among 81", err)
        self.assertEqual(len(run["own_clocks"]), 2)
        for clock in run["own_clocks"]:
            self.assertLessEqual(clock["power_measurements"], 6)
        lines = self.journal_lines(self.journals()[0])
        searched = {e["configuration"]["nvml_gr_clock"] for e in lines if e["tier"] == "screen"}
        timed = {e["configuration"]["nvml_gr_clock"] for e in lines if e["tier"] == "timing"}
        self.assertLessEqual(len(searched), 10)
        self.assertLess(min(timed), min(searched))
        self.assertGreater(max(timed), max(searched))
        self.assertFalse(any("energy" in e["quantities"] for e in lines if e["tier"] == "timing"))
        again, _ = self.tune(*arguments)
        self.assertEqual(len(self.journal_lines(self.journals()[0])), len(lines), "a finished run measures nothing again")
        self.assertEqual(again["own_clocks"], run["own_clocks"])

    def test_auto_goes_on_where_it_was_interrupted_and_puts_the_clock_back(self):
        state = {"WATTUNE_SIM_STATE": str(self.folder / "machine"), "WATTUNE_SIM_GPUS": "a100-pcie-40gb"}
        self.calibrated(environment=state)
        arguments = ["tune", harness.GEMM, "--device", A100, "--allow-settings", "-o", self.folder / "out", "--clocks", "auto",
                     "--budget", "20", "--finalists", "5", "--json"]
        process = self.start(*arguments, environment={**self.environment, **state})
        for line in process.stderr:
            if "finding the own clock" in line:
                break
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
        self.assertIn(process.returncode, (0, 130))
        self.assertEqual(self.lock(state), 0)
        before = len(self.journal_lines(self.journals()[0]))
        run = json.loads(self.wattune(*arguments, environment={**self.environment, **state})[0])
        self.assertEqual(len(run["own_clocks"]), 5)
        lines = self.journal_lines(self.journals()[0])
        self.assertGreaterEqual(len(lines), before)
        keys = [(json.dumps(e["configuration"]), e["tier"], e["trial"]) for e in lines]
        self.assertEqual(len(keys), len(set(keys)), "nothing is measured twice")

    def test_own_clocks_are_within_a_percent_of_a_sweep_of_every_clock(self):
        balanced = {"Bytes": "2 * ProblemSize[0] * ProblemSize[1] / 16"}
        kernels = {"compute-bound": self.one_configuration("fma_chain"), "balanced": self.one_configuration("fma_chain", balanced),
                   "memory-bound": self.one_configuration("stream_copy")}
        for board in BOARDS:
            optimum = {}
            for kind, problem in kernels.items():
                device = f"sim:{board}"
                run, _ = self.tune(problem, "--method", "clocks", device=device, out=f"own-{board}-{kind}")
                [own] = run["own_clocks"]
                # In random order, so that heat does not ride on the clock.
                sweep, _ = self.tune(problem, "--clocks", "all", "--minimize", "energy", "--strategy", "random", "--no-skip",
                                     "--budget", "1000", "--finalists", "0", device=device, out=f"sweep-{board}-{kind}")
                energies = smoothed(sweep["evaluations"])
                best = min(energies, key=energies.get)
                optimum[kind] = own["configuration"]["nvml_gr_clock"]
                loss = energies[optimum[kind]] / energies[best] - 1
                print(f"{board}, {kind}: {optimum[kind]:g} MHz, {100 * loss:.2f} % more energy than at {best:g} MHz of a sweep of "
                      f"{len(energies)}; {own['timings']} timings, {own['power_measurements']} measurements of power")
                self.assertLessEqual(own["power_measurements"], 6)
                self.assertLess(loss, 0.01)
            self.assertLess(optimum["memory-bound"], optimum["compute-bound"])

    def test_method_clocks_takes_a_configuration_and_refuses_what_is_none(self):
        run, err = self.tune(harness.GEMM, "--method", "clocks", "--configuration", "MWG=64,NWG=64", "--problem-size", "1024,1024,1024",
                             "--minimize", "energy")
        self.assertEqual(run["strategy"], "")
        self.assertEqual(run["own_clocks"][0]["configuration"]["MWG"], 64)
        self.assertIn("highest", run["own_clocks"][0])
        self.assertEqual(run["method"]["name"], "clocks")
        self.assertEqual(run["method"]["quantities"], run["own_clocks"][0]["quantities"])
        self.assertIn("method clocks", err)
        for configuration, words in (("MWG", "is no NAME=VALUE"), ("XYZ=1", "the parameters are"), ("MWG=7", "is no value of MWG"),
                                     ("nvml_gr_clock=1000", "leave it out"),
                                     ("MWG=16,MDIMC=32", "violates a restriction")):
            err = self.tune(harness.GEMM, "--method", "clocks", "--configuration", configuration, code=2)[1]
            self.assertIn(words, err)
        self.assertIn("goes with --method clocks", self.tune(harness.GEMM, "--configuration", "MWG=64", code=2)[1])
        self.assertIn("no other objective", self.tune(harness.GEMM, "--method", "clocks", "--minimize", "time", code=2)[1])
        for option in (["--strategy", "random"], ["--budget", "3"]):
            self.assertIn("searches nothing", self.tune(harness.GEMM, "--method", "clocks", *option, code=2)[1])
        self.assertRegex(self.tune(harness.GEMM, "--method", "bogus", code=2)[1], r"there is no method 'bogus'; .*two-clock, clocks")

    def test_an_own_clock_meets_the_conditions(self):
        arguments = (harness.GEMM, "--method", "clocks", "--problem-size", "1024,1024,1024")
        free, _ = self.tune(*arguments)
        [own] = free["own_clocks"]
        limit = (own["quantities"]["time"]["value"] + own["highest"]["time"]["value"]) / 2
        held, _ = self.tune(*arguments, "--subject-to", f"time <= {limit}", out="held")
        self.assertLessEqual(held["own_clocks"][0]["quantities"]["time"]["value"], limit)
        self.assertGreater(held["method"]["configuration"]["nvml_gr_clock"], own["configuration"]["nvml_gr_clock"])
        none, err = self.tune(*arguments, "--subject-to", "time <= 1e-9", out="none")
        self.assertIn("meets the conditions at none of the clocks", err)
        self.assertNotIn("own_clocks", none)
        self.assertNotIn("configuration", none["method"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
