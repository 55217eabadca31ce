"""Simulated GPUs: the whole product without a GPU, and what users see when devices go wrong."""

import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import unittest

import harness

SIX = {"sim:a100-pcie-40gb", "sim:rtx-a4000", "sim:rtx-a6000", "sim:titan-rtx", "sim:v100-pcie", "sim:h200"}


class Simulated(harness.CommandTest):
    def tune(self, *arguments, device="sim:a100-pcie-40gb", code=0, faults=None, environment=None, problem=None):
        """Tunes the test problem; returns its JSON result (or None) and stderr."""
        environment = dict(environment or {})
        if faults:
            environment["WATTUNE_SIM_FAULTS"] = faults
        folder = [] if "-o" in arguments else ["-o", self.folder / "out"]
        stdout, stderr = self.wattune("tune", problem or self.copy_problem("scaled"), "--device", device, *folder,
                                      "--finalists", "0", "--strategy", "random", "--json", *arguments, code=code, environment=environment)
        return (json.loads(stdout) if stdout.startswith("{") else None), stderr

    def outcomes(self, result):
        return [evaluation["outcome"] for evaluation in result["evaluations"]]

    def assert_journal_holds(self, result):
        """Everything that was told is in the journal: nothing measured is lost."""
        lines = self.journal_lines(self.journals()[0])
        self.assertEqual(sorted(line["outcome"] for line in lines), sorted(self.outcomes(result)))


    def assert_resumes(self, before, *arguments):
        """The same command without the fault takes over everything from the journal and measures the rest."""
        again, _ = self.tune(*arguments)
        self.assertEqual(again["reused"], len(before["evaluations"]))
        for evaluation in before["evaluations"]:
            self.assertIn(evaluation["configuration"], [e["configuration"] for e in again["evaluations"]])
        return again

    def energies(self, result):
        return {json.dumps(e["configuration"]): e["quantities"]["energy"]["value"]
                for e in result["evaluations"] if "energy" in e["quantities"]}

    def assert_energies_as(self, undisturbed, result):
        """A wrong joule is worse than none: what is told is as without the fault."""
        expected = self.energies(undisturbed)
        for configuration, energy in self.energies(result).items():
            self.assertAlmostEqual(energy, expected[configuration], delta=0.1 * expected[configuration])


class Tuning(Simulated):
    def test_finds_the_greenest_configuration_and_says_that_it_is_simulated(self):
        result, stderr = self.tune("--minimize", "energy", "--minimize", "time")
        self.assertTrue(result["simulated"])
        self.assertEqual(result["device"], "sim:a100-pcie-40gb")
        self.assertRegex(result["board"], "^GPU-513d513d-")
        self.assertIn("simulated", stderr.splitlines()[0])
        self.assertEqual(result["counts"], {"ok": 24})
        for evaluation in result["evaluations"]:
            self.assertEqual(evaluation["verification"], "simulated")
            quantities = evaluation["quantities"]
            self.assertAlmostEqual(quantities["energy"]["value"],
                                   quantities["power"]["value"] * quantities["time"]["value"],
                                   delta=0.05 * quantities["energy"]["value"])
            self.assertGreater(quantities["power"]["value"], 20)
            self.assertLess(quantities["power"]["value"], 260)
        header = json.loads(self.journals()[0].read_text().splitlines()[0])
        self.assertIn('"simulated":true', json.dumps(header, separators=(",", ":")))

    def test_the_summary_says_that_nothing_was_verified(self):
        stdout, _ = self.wattune("tune", self.copy_problem("scaled"), "--device", "sim:h200", "-o", self.folder / "out",
                                 "--budget", "3")
        self.assertIn("simulated", stdout)
        self.assertIn("not verified (simulated)", stdout)

    def test_gives_the_same_times_on_every_run(self):
        times = []
        for run in ("one", "two"):
            result, _ = self.tune("--budget", "6", "--seed", "7", "-o", self.folder / run)
            times.append({json.dumps(e["configuration"]): e["quantities"]["time"]["value"]
                          for e in result["evaluations"]})
        for configuration in times[0].keys() & times[1].keys():
            self.assertAlmostEqual(times[0][configuration], times[1][configuration],
                                   delta=0.02 * times[0][configuration])

    def test_boards_differ(self):
        best = {}
        for device in ("sim:h200", "sim:rtx-a4000"):
            result, _ = self.tune("--minimize", "time", device=device)
            best[device] = result["best"]["time"]["quantities"]["time"]["value"]
        self.assertLess(best["sim:h200"], best["sim:rtx-a4000"])

    def test_time_budgets_count_device_time(self):
        result, _ = self.tune("--minimize", "energy", "--budget", "2s")
        self.assertGreaterEqual(len(result["evaluations"]), 1)
        self.assertLess(len(result["evaluations"]), 24)

    def test_an_unknown_device_lists_those_there_are(self):
        _, stderr = self.tune(device="sim:gtx-9000", code=3)
        self.assertIn("sim:gtx-9000", stderr)
        for name in SIX:
            self.assertIn(name, stderr)

    def test_the_machine_may_have_other_boards(self):
        environment = {"WATTUNE_SIM_GPUS": "rtx-a4000,h200,rtx-a4000"}
        result, _ = self.tune("--budget", "2", device="sim:rtx-a4000:1", environment=environment)
        self.assertEqual(result["device"], "sim:rtx-a4000:1")
        _, stderr = self.tune(device="sim:v100-pcie", environment=environment, code=3)
        self.assertIn("sim:rtx-a4000, sim:h200, sim:rtx-a4000:1", stderr)

    def test_faulty_variables_are_errors_that_say_what_is_understood(self):
        for variable, value, said in (("WATTUNE_SIM_GPUS", "h200,h300", "'h300'"),
                                      ("WATTUNE_SIM_FAULTS", "launch:0=hang", "launch:0=hang"),
                                      ("WATTUNE_SIM_FAULTS", "lunch=hang", "there is no point 'lunch'"),
                                      ("WATTUNE_SIM_FAULTS", "launch=explode", "illegal_address"),
                                      ("WATTUNE_SIM_USER", "nobody", "root or user"),
                                      ("WATTUNE_SIM_REAL_TIME", "yes", "0 or 1")):
            _, stderr = self.tune(environment={variable: value}, code=2)
            self.assertIn(variable, stderr)
            self.assertIn(said, stderr)

    def test_a_state_file_of_something_else_is_refused(self):
        path = self.folder / "state"
        path.write_text("no such thing")
        _, stderr = self.tune(environment={"WATTUNE_SIM_STATE": str(path)}, code=2)
        self.assertIn(str(path), stderr)
        self.assertEqual(path.read_text(), "no such thing")

    def test_leaves_nothing_behind(self):
        temporary = self.folder / "temporary"
        temporary.mkdir()
        self.tune("--budget", "2", environment={"TMPDIR": str(temporary)})
        self.assertEqual(list(temporary.iterdir()), [])

    def test_two_runs_on_one_machine_use_two_boards_at_once(self):
        state = str(self.folder / "state")
        results = {}

        def run(device):
            folder = self.folder / device.replace(":", "-")
            done = subprocess.run([harness.WATTUNE, "tune", problem, "--device", device, "-o", folder, "--json",
                                   "--minimize", "energy", "--finalists", "0"], capture_output=True, text=True, check=False,
                                  env={**os.environ, "WATTUNE_SIM_STATE": state})
            results[device] = done

        problem = self.copy_problem("scaled")
        threads = [threading.Thread(target=run, args=(device,)) for device in ("sim:h200", "sim:v100-pcie")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for device, done in results.items():
            self.assertEqual(done.returncode, 0, done.stderr)
            result = json.loads(done.stdout)
            self.assertEqual(result["device"], device)
            self.assertEqual(result["counts"], {"ok": 24})
        self.assertTrue(pathlib.Path(state).exists())

    def test_a_killed_worker_is_replaced_and_its_context_vanishes(self):
        state = str(self.folder / "state")
        process = subprocess.Popen(
            [harness.WATTUNE, "tune", self.copy_problem("scaled"), "--device", "sim:h200", "-o", self.folder / "out",
             "--minimize", "energy", "--finalists", "0", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "WATTUNE_SIM_STATE": state, "WATTUNE_SIM_REAL_TIME": "1"})
        self.addCleanup(process.kill)
        self.wait_for_evaluations(1, process)
        workers = [pid for pid, command in harness.children(process.pid).items() if "worker-process" in command]
        os.kill(workers[0], signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=250)
        self.assertEqual(process.returncode, 0, stderr)
        self.assertIn("was killed by signal 9", stderr)
        self.assertEqual(json.loads(stdout)["counts"], {"ok": 24})


class Compiling(Simulated):
    def change(self, old, new):
        problem = self.copy_problem("scaled")
        source = self.folder / "scaled.cu"
        text = source.read_text()
        self.assertIn(old, text)
        source.write_text(text.replace(old, new))
        return problem

    def test_errors_in_the_source_are_compile_errors(self):
        for old, new, said in (("{\n  const", "{{\n  const", 'expected a "}"'),
                               ("  float values", "#if TILE > 0\n#error no tiles\n#endif\n  float values", "no tiles"),
                               ("void scale(", "void scaling(", "there is no kernel of that name"),
                               ("extern", '#include "missing.h"\nextern', "missing.h")):
            problem = self.change(old, new)
            _, stderr = self.tune(problem=problem, code=2)
            self.assertIn(said, stderr)

    def test_an_error_directive_that_is_not_reached_is_none(self):
        problem = self.change("  float values", "#if TILE == 4\n#error not this one\n#endif\n  float values")
        result, _ = self.tune(problem=problem)
        self.assertEqual(result["counts"], {"ok": 18, "compile": 6})


class Faults(Simulated):
    def test_a_compilation_that_fails_costs_one_variant(self):
        result, _ = self.tune(faults="compile:2=error")
        self.assertEqual(result["counts"]["compile"], 1)
        self.assert_journal_holds(result)
        failed = [e for e in result["evaluations"] if e["outcome"] == "compile"]
        self.assertIn("fails on purpose", failed[0]["message"])

    def test_a_compiler_that_crashes_costs_nothing_but_a_process(self):
        result, _ = self.tune(faults="compile:2=crash")
        self.assertEqual(len(result["evaluations"]), 24)
        self.assertGreaterEqual(result["counts"]["ok"], 23)
        self.assert_journal_holds(result)

    def test_a_compiler_that_hangs_costs_one_variant(self):
        result, _ = self.tune("--compile-timeout", "2", faults="compile:2=hang")
        self.assertEqual(len(result["evaluations"]), 24)
        self.assertEqual(result["counts"]["ok"], 24 - result["counts"].get("compile", 0) - result["counts"].get("timeout", 0))
        self.assert_journal_holds(result)

    def test_a_binary_that_does_not_load_costs_one_variant(self):
        result, _ = self.tune(faults="load:2=invalid_image")
        self.assertEqual(result["counts"], {"ok": 23, "compile": 1})
        self.assert_journal_holds(result)

    def test_a_launch_that_poisons_the_context_costs_one_configuration(self):
        for error, named in (("illegal_address", "ILLEGAL_ADDRESS"), ("launch_failed", "LAUNCH_FAILED"),
                             ("ecc_uncorrectable", "ECC_UNCORRECTABLE")):
            result, _ = self.tune("-o", self.folder / error, faults=f"launch:5={error}")
            self.assertEqual(result["counts"], {"ok": 23, "crash": 1})
            failed = [e for e in result["evaluations"] if e["outcome"] == "crash"]
            self.assertIn(named, failed[0]["message"])

    def test_a_launch_that_lacks_resources_leaves_the_context_in_order(self):
        result, stderr = self.tune(faults="launch:1=out_of_resources")
        self.assertEqual(result["counts"], {"ok": 23, "resources": 1})
        self.assert_journal_holds(result)

    def test_a_launch_that_hangs_is_a_timeout(self):
        result, _ = self.tune("--timeout", "2", faults="launch:5=hang")
        self.assertEqual(result["counts"], {"ok": 23, "timeout": 1})
        self.assert_journal_holds(result)

    def test_a_crash_in_the_driver_costs_a_worker(self):
        result, stderr = self.tune(faults="launch:5=crash")
        self.assertEqual(result["counts"], {"ok": 24})
        self.assertIn("a new one tries this configuration once more", stderr)

    def test_a_board_that_is_lost_ends_the_run_and_keeps_its_results(self):
        result, stderr = self.tune("--minimize", "energy", faults="launch:300=lost", code=3)
        self.assertIn("sim:a100-pcie-40gb (NVIDIA A100-PCIE-40GB) was lost: it was there when the run began", stderr)
        self.assertGreater(result["counts"]["ok"], 0)
        self.assertLess(len(result["evaluations"]), 24)
        self.assert_journal_holds(result)
        # Once the board is back, the same command goes on where it was.
        again, _ = self.tune("--minimize", "energy")
        # The configuration that ran when it was lost is not to blame.
        self.assertEqual(again["counts"], {"ok": 24})
        self.assertGreater(again["reused"], 0)

    def test_a_board_that_is_lost_at_its_first_launch_is_told_as_lost(self):
        _, stderr = self.tune("--minimize", "energy", "--allow-settings", "--clocks", ":3", faults="launch:1=lost", code=3)
        self.assertIn("was lost: it was there when the run began", stderr)

    def test_a_board_that_comes_back_is_held_against_no_configuration(self):
        result, stderr = self.tune(faults="load:10=no_device")
        self.assertEqual(result["counts"], {"ok": 24})
        self.assertIn("a new worker tries this configuration once more", stderr)

    def test_no_memory_is_an_error_that_says_so(self):
        _, stderr = self.tune(faults="allocate=out_of_memory", code=3)
        self.assertIn("CUDA_ERROR_OUT_OF_MEMORY", stderr)

    def test_a_driver_without_a_device_is_an_error(self):
        _, stderr = self.tune(faults="init:1+=no_device", code=3)
        self.assertIn("CUDA_ERROR_NO_DEVICE", stderr)

    def test_a_board_that_is_taken_is_an_error(self):
        _, stderr = self.tune(faults="context:1+=device_unavailable", code=3)
        self.assertIn("CUDA_ERROR_DEVICE_UNAVAILABLE", stderr)

    def test_a_copy_that_fails_ends_nothing(self):
        result, _ = self.tune(faults="copy:20=illegal_address")
        self.assertEqual(len(result["evaluations"]), 24)
        self.assertGreaterEqual(result["counts"]["ok"], 23)
        self.assert_journal_holds(result)
        self.assert_resumes(result)

    def test_a_cuda_that_names_another_board_than_nvml_is_helped_by_the_pci_id(self):
        result, _ = self.tune("--minimize", "energy", "--budget", "3", faults="cuda_uuid=wrong")
        self.assertEqual(result["counts"], {"ok": 3})

    def test_an_nvml_that_hangs_costs_one_configuration(self):
        result, _ = self.tune("--minimize", "energy", "--no-skip", "--timeout", "2", faults="nvml.total_energy:400=hang")
        self.assertEqual(result["counts"], {"ok": 23, "timeout": 1})
        self.assert_journal_holds(result)

    def test_an_nvml_that_crashes_costs_a_worker(self):
        result, stderr = self.tune("--minimize", "energy", "--no-skip", faults="nvml.total_energy:400=crash")
        self.assertEqual(result["counts"], {"ok": 24})
        self.assertIn("a new one tries this configuration once more", stderr)

    def test_an_nvml_that_loses_the_board_ends_the_run_and_keeps_its_results(self):
        arguments = ("--minimize", "energy", "--no-skip")
        result, stderr = self.tune(*arguments, faults="nvml.total_energy:400=lost", code=3)
        self.assertIn("sim:a100-pcie-40gb", stderr)
        self.assertGreater(result["counts"]["ok"], 0)
        self.assert_journal_holds(result)
        self.assert_resumes(result, *arguments)

    def test_nvml_may_know_the_board_by_its_pci_id_only(self):
        result, _ = self.tune("--minimize", "energy", "--budget", "3", faults="nvml_uuid=wrong")
        self.assertEqual(result["counts"], {"ok": 3})

    def test_a_board_that_nvml_does_not_know_has_no_energy(self):
        _, stderr = self.tune("--minimize", "energy", faults="nvml_uuid=wrong; cuda_pci=wrong", code=3)
        self.assertIn("energy cannot be measured", stderr)
        self.assertIn("NVML has no board", stderr)

    def test_answers_of_nvml_are_told(self):
        for answer, said in (("no_permission", "Insufficient Permissions"), ("gpu_is_lost", "GPU is lost"),
                             ("unknown", "Unknown Error")):
            _, stderr = self.tune("--minimize", "energy", "-o", self.folder / answer,
                                  faults=f"nvml.total_energy:1+={answer}", code=3)
            self.assertIn(said, stderr)

    def test_a_counter_that_stops_answering_is_a_failed_measurement(self):
        result, _ = self.tune("--minimize", "energy", "--no-skip", faults="nvml.total_energy:400+=unknown")
        self.assertEqual(set(self.outcomes(result)), {"ok", "measurement"})
        self.assert_journal_holds(result)

    def test_a_counter_that_stands_still_is_a_failed_measurement_and_not_zero(self):
        result, _ = self.tune("--minimize", "energy", "--no-skip", faults="energy_counter:400=still")
        failed = [e for e in result["evaluations"] if e["outcome"] == "measurement"]
        self.assertGreater(len(failed), 0)
        self.assertIn("energy counter", failed[0]["message"])
        self.assertGreater(result["counts"]["ok"], 0)
        self.assert_journal_holds(result)

    def test_a_counter_that_jumps_back_or_wraps_falsifies_nothing(self):
        undisturbed, _ = self.tune("--minimize", "energy", "--no-skip", "-o", self.folder / "undisturbed")
        for action in ("back", "wrap"):
            result, _ = self.tune("--minimize", "energy", "-o", self.folder / action,
                                  faults=f"energy_counter:800={action}")
            self.assertGreaterEqual(result["counts"]["ok"], 23)
            self.assertEqual(len(result["evaluations"]), 24)
            self.assert_energies_as(undisturbed, result)

    def test_a_stale_power_sensor_falsifies_nothing(self):
        undisturbed, _ = self.tune("--minimize", "energy", "--no-skip", "-o", self.folder / "undisturbed")
        for number in (1, 10, 40):
            folder = self.folder / str(number)
            result, _ = self.tune("--minimize", "energy", "-o", folder, faults=f"power_sensor:{number}=stale")
            self.assertEqual(result["counts"], {"ok": 24})
            self.assert_energies_as(undisturbed, result)
            best, greenest = (json.dumps(r["best"]["energy"]["configuration"]) for r in (result, undisturbed))
            self.assertEqual(best, greenest)
            self.assert_resumes(result, "--minimize", "energy", "-o", folder)

    def test_load_of_others_is_told_and_what_it_disturbs_is_flagged(self):
        result, stderr = self.tune("--minimize", "energy", "--minimize", "time", faults="foreign_load=0.3")
        self.assertEqual(stderr.count("others compute on sim:a100-pcie-40gb too: pid 4194000"), 1)
        self.assertEqual(result["counts"], {"ok": 24})
        for evaluation in result["evaluations"]:
            for name in ("time", "energy", "power"):
                self.assertIn("shared", evaluation["quantities"][name]["flags"])
        self.assert_journal_holds(result)
        self.assert_resumes(result, "--minimize", "energy", "--minimize", "time")

    def test_load_of_others_is_seen_without_a_meter_and_said_in_the_summary(self):
        stdout, stderr = self.wattune("tune", self.copy_problem("scaled"), "--device", "sim:h200", "-o",
                                      self.folder / "out", "--budget", "3", "--minimize", "time",
                                      environment={"WATTUNE_SIM_FAULTS": "foreign_load=0.5"})
        self.assertIn("others compute on sim:h200 too", stderr)
        self.assertRegex(stdout, "measured under: .*shared")

    def test_load_of_others_on_another_board_is_no_matter(self):
        result, stderr = self.tune("--minimize", "energy", "--budget", "3", faults="foreign_load@h200=0.3")
        self.assertNotIn("others compute", stderr)
        self.assertNotIn('"shared"', json.dumps(result))

    def test_faults_may_be_of_one_board_only(self):
        result, _ = self.tune("--budget", "3", faults="launch:1+@h200=illegal_address")
        self.assertEqual(result["counts"], {"ok": 3})


class Clocks(Simulated):
    """A clock that does not follow what it is set to."""

    def tune_clocks(self, *arguments, **options):
        environment = {"WATTUNE_SETTINGS_DIR": str(self.folder / "settings")}
        return self.tune("--minimize", "energy", "--allow-settings", "--clocks", "600,900,1200", "--no-skip", *arguments,
                         environment=environment, **options)

    def test_that_stays_low_ends_the_run_before_anything_is_set(self):
        before, _ = self.tune_clocks("--budget", "6")
        _, stderr = self.tune_clocks("--budget", "12", faults="clock_lock=ignored", code=3)
        self.assertIn("stays at 210 MHz under load although nothing holds it back", stderr)
        again, _ = self.tune_clocks("--budget", "12")
        self.assertEqual(again["reused"], len(before["evaluations"]))
        self.assertEqual(again["counts"], {"ok": 12})

    def test_is_a_failed_measurement_and_no_result_of_a_wrong_clock(self):
        before, _ = self.tune_clocks("--budget", "6")
        result, _ = self.tune_clocks("--budget", "9", "--assume-no-lock", faults="clock_lock=ignored")
        self.assertEqual(result["reused"], 6)
        self.assertEqual(result["counts"], {"ok": 6, "measurement": 3})
        failed = [e for e in result["evaluations"] if e["outcome"] == "measurement"]
        for evaluation in failed:
            self.assertRegex(evaluation["message"], "the SM clock is 210 MHz under load 3 s after it was set to "
                             f"{evaluation['configuration']['nvml_gr_clock']} MHz")
            self.assertNotIn("energy", evaluation["quantities"])
        self.assertEqual(result["best"]["energy"]["configuration"], before["best"]["energy"]["configuration"])
        self.assert_journal_holds(result)


class Devices(Simulated):
    def devices(self, *arguments, environment=None):
        stdout, _ = self.wattune("devices", *arguments, "--json", environment=environment)
        return {device["id"]: device for device in json.loads(stdout)["devices"]}

    def test_all_six_are_listed_with_meters_clocks_limits_and_permissions(self):
        found = self.devices("--device", "sim:all")
        self.assertEqual(set(found), SIX)
        a100 = found["sim:a100-pcie-40gb"]
        self.assertTrue(a100["simulated"])
        self.assertEqual((min(a100["sm_clocks_mhz"]), max(a100["sm_clocks_mhz"])), (210, 1410))
        self.assertEqual(a100["power_limit_w"], {"min": 150, "max": 250, "default": 250})
        self.assertEqual(a100["may_set"]["sm_clock"], True)
        self.assertEqual(a100["may_set"]["memory_clock"], False)
        counter = next(meter for meter in a100["meters"] if "energy" in meter["quantities"])
        self.assertEqual(counter["name"], "nvml-counter")
        self.assertIn("duty", counter)

    def test_one_may_be_named(self):
        self.assertEqual(set(self.devices("--device", "sim:h200")), {"sim:h200"})
        _, stderr = self.wattune("devices", "--device", "sim:h300", code=3)
        self.assertIn("sim:h200", stderr)

    def test_an_ordinary_user_may_set_nothing(self):
        found = self.devices("--device", "sim:h200", environment={"WATTUNE_SIM_USER": "user"})
        self.assertEqual(found["sim:h200"]["may_set"]["sm_clock"], False)

    def test_the_table_names_them(self):
        stdout, _ = self.wattune("devices", "--device", "sim:all")
        for name in SIX:
            self.assertIn(name, stdout)
        self.assertRegex(stdout, re.compile("simulated"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
