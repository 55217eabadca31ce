"""Probing the power sensors of simulated GPUs, and tuning with what they have."""

import json
import unittest

from harness import GEMM, CommandTest

NO_COUNTER = {"WATTUNE_SIM_FAULTS": "nvml.total_energy:1+=not_supported"}


def energy_at(temperature, points):
    """From the line through points of temperature and energy."""
    middle = [sum(values) / len(points) for values in zip(*points)]
    slope = (sum((t - middle[0]) * (e - middle[1]) for t, e in points) / sum((t - middle[0]) ** 2 for t, _ in points))
    return middle[1] + slope * (temperature - middle[0])


class Sensors(CommandTest):
    def setUp(self):
        super().setUp()
        self.environment = {"WATTUNE_SENSOR_DIR": str(self.folder / "sensors")}

    def probe(self, device, *more, environment=None, code=0):
        return self.wattune("devices", "--device", device, "--json", *more, code=code,
                            environment={**self.environment, **(environment or {})})

    def meters(self, device, *more, environment=None):
        stdout, _ = self.probe(device, *more, environment=environment)
        (found,) = json.loads(stdout)["devices"]
        return found, {meter["name"]: meter for meter in found["meters"]}

    def test_what_probing_finds_is_kept_and_shown(self):
        found, meters = self.meters("sim:h200", "--probe")
        self.assertAlmostEqual(meters["nvml-instant"]["duty"], 0.28, delta=0.02)
        self.assertAlmostEqual(meters["nvml-average"]["window_s"], 1.0, delta=0.05)
        self.assertAlmostEqual(meters["nvml-counter"]["period_s"], 0.1, delta=0.001)
        self.assertAlmostEqual(found["sensors"]["profile"]["idle_bare_w"], 80, delta=5)
        self.assertAlmostEqual(found["sensors"]["profile"]["idle_context_w"], 120, delta=6)
        again, _ = self.meters("sim:h200")
        self.assertEqual(again["sensors"]["profile"], found["sensors"]["profile"])
        stdout, _ = self.wattune("devices", "--device", "sim:h200", environment=self.environment)
        self.assertIn("this card's instantaneous reading sees 28 % of the time; wattune uses its energy counter", stdout)

    def test_a_damaged_profile_is_told_of_with_its_file_and_how_it_is_made_anew(self):
        self.probe("sim:a100-pcie-40gb", "--probe")
        (file,) = (self.folder / "sensors").glob("*.json")
        whole = file.read_text()
        for text, why in ((whole[:200], "it is no JSON, or not whole"), ("[]", "must be a JSON object"),
                          (whole.replace('"period_s"', '"periods"'), "key 'period_s' must be a number"),
                          (whole.replace('"format": 1', '"format": 7'), "key 'format' is of another version")):
            with self.subTest(why=why):
                file.write_text(text)
                stdout, stderr = self.probe("sim:a100-pcie-40gb")
                self.assertNotIn("sensors", json.loads(stdout)["devices"][0])
                (warning,) = [line for line in stderr.splitlines() if "warning" in line]
                for part in (str(file), why, "wattune devices --probe"):
                    self.assertIn(part, warning)
        _, stderr = self.tune("--device", "sim:a100-pcie-40gb")
        self.assertEqual(stderr.count(str(file)), 1)
        self.probe("sim:a100-pcie-40gb", "--probe")
        self.assertNotIn("warning", self.probe("sim:a100-pcie-40gb")[1])

    def test_what_probing_finds_is_shown_where_it_cannot_be_kept(self):
        blocked = self.folder / "file"
        blocked.write_text("")
        stdout, stderr = self.probe("sim:h200", "--probe", environment={"WATTUNE_SENSOR_DIR": str(blocked / "sensors")}, code=1)
        (found,) = json.loads(stdout)["devices"]
        meters = {meter["name"]: meter for meter in found["meters"]}
        self.assertAlmostEqual(meters["nvml-instant"]["duty"], 0.28, delta=0.02)
        self.assertTrue(found["sensors"]["in_words"])
        (warning,) = [line for line in stderr.splitlines() if "warning" in line]
        self.assertIn(str(blocked), warning)
        self.assertIn("WATTUNE_SENSOR_DIR", warning)

    def test_the_table_compares_counter_and_instant_power_with_a_square_wave(self):
        found, _ = self.meters("sim:h200", "--probe-table", "--phase-seconds", "1")
        table = found["sensors"]["table"]["rows"]
        names = [(round(row["on_s"] * 1e3), round(row["off_s"] * 1e3), row["in_step"]) for row in table]
        self.assertEqual(names, [(50, 0, False), (50, 50, False), (50, 50, True), (25, 75, False), (75, 25, False),
                                 (33, 67, False), (5, 95, False)])
        rows = dict(zip(names, table))
        for name, row in rows.items():
            self.assertLess(abs(row["counter_error"]), 0.03, name)
        self.assertLess(rows[50, 50, False]["counter_spread"], 0.005)
        self.assertLess(rows[50, 50, True]["counter_spread"], 0.01)
        # What keeps in step with a sensor is seen in part.
        self.assertGreater(rows[50, 50, True]["instant_spread"], 0.1)

    def test_stuck_readings_are_named(self):
        found, meters = self.meters("sim:h200", "--probe", environment={"WATTUNE_SIM_FAULTS": "power_sensor=stale"})
        self.assertIsNone(meters["nvml-instant"]["period_s"])
        self.assertTrue(any("it is stuck" in warning for warning in found["sensors"]["profile"]["warnings"]))

    def test_devices_without_sensors_are_refused(self):
        _, stderr = self.probe("opencl:0", "--probe", code=3)
        self.assertIn("no GPU with power sensors", stderr)

    def tune(self, *more, environment=None, code=0, output="out"):
        stdout, stderr = self.wattune("tune", GEMM, "--minimize", "energy", "--budget", "6", "--json", "-o",
                                      self.folder / output, *more, code=code,
                                      environment={**self.environment, **(environment or {})})
        return (json.loads(stdout) if code == 0 else None), stderr

    def energies(self, results):
        done = [e for e in results["evaluations"] if "energy" in e["quantities"]]
        self.assertTrue(done)
        return done

    def test_tuning_without_a_counter_uses_what_there_is_and_states_its_uncertainty(self):
        results, stderr = self.tune("--device", "sim:a100-pcie-40gb", environment=NO_COUNTER)
        self.assertIn("meter nvml-samples", stderr)
        for evaluation in self.energies(results):
            self.assertEqual(evaluation["energy_estimator"], "samples")
            energy = evaluation["quantities"]["energy"]
            self.assertGreater(energy["stderr"], 0)
            self.assertLess(energy["stderr"], 0.2 * energy["value"])

    def test_estimators_agree(self):
        """At one temperature: not all take as long, and a board draws more the hotter it is."""
        trials = {}
        for name in ("counter", "samples", "integral"):
            self.tune("--device", "sim:rtx-a6000", "--energy-estimator", name, "--strategy", "random", "--seed", "3",
                      output=name)
            (journal,) = (self.folder / name).glob("*.jsonl")
            for line in self.journal_lines(journal):
                if line["tier"] != "final":
                    continue
                self.assertEqual(line["energy_estimator"], name)
                point = [line["quantities"][quantity]["value"] for quantity in ("temperature", "energy")]
                trials.setdefault(json.dumps(line["configuration"]), {}).setdefault(name, []).append(point)
        compared = [points for points in trials.values() if len(points) == 3]
        self.assertTrue(compared)
        for points in compared:
            values = [energy_at(48, of_one) for of_one in points.values()]
            self.assertLess(max(values) / min(values), 1.02)

    def test_an_estimator_that_the_board_cannot_do_is_refused_at_once(self):
        _, stderr = self.tune("--device", "sim:h200", "--energy-estimator", "counter", environment=NO_COUNTER, code=3)
        self.assertIn("it has no energy counter", stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
