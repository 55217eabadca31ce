"""Simulated GPUs whose kernels are as they were recorded: WATTUNE_SIM_RECORDED."""

import json
import unittest

import harness

BLOCKS = [32, 64, 128, 256, 512, 1024]
TILES = [1, 2, 4, 8]


def seconds_of(block, tile):
    """A landscape that no workload would make: its best is neither first nor last."""
    return 2e-3 * (1 + abs(BLOCKS.index(block) - 3)) * (1 + abs(TILES.index(tile) - 1))


def watts_of(block, tile):
    return 90 + 10 * BLOCKS.index(block) + 5 * TILES.index(tile)


class Recorded(harness.CommandTest):
    def record(self, skip=(), failed=(), clock=1410.0):
        """A Kernel Tuner cache of the test problem."""
        cache = {}
        for block in BLOCKS:
            for tile in TILES:
                if (block, tile) in skip:
                    continue
                entry = {"block_size_x": block, "TILE": tile, "time": seconds_of(block, tile) * 1e3,
                         "nvml_power": float(watts_of(block, tile)), "core_freq": clock}
                if (block, tile) in failed:
                    entry["time"] = "RuntimeFailedConfig"
                cache[f"{block},{tile}"] = entry
        file = self.folder / "recorded.json"
        file.write_text(json.dumps({"device_name": "NVIDIA A100-PCIE-40GB", "kernel_name": "scale", "problem_size": [1048576],
                                    "tune_params_keys": ["block_size_x", "TILE"],
                                    "tune_params": {"block_size_x": BLOCKS, "TILE": TILES}, "cache": cache}))
        return file

    def tune(self, file, *arguments, code=0, **environment):
        stdout, stderr = self.wattune("tune", self.copy_problem("scaled"), "--device", "sim:a100-pcie-40gb", "-o",
                                      self.folder / "out", "--finalists", "0", "--no-skip", "--json", *arguments, code=code,
                                      environment={"WATTUNE_SIM_RECORDED": str(file), **environment})
        return (json.loads(stdout) if code == 0 else None), stderr

    def test_times_and_powers_are_those_of_the_file(self):
        result, _ = self.tune(self.record(), "--minimize", "energy", "--minimize", "time")
        self.assertEqual(result["counts"], {"ok": 24})
        for evaluation in result["evaluations"]:
            block, tile = evaluation["configuration"]["block_size_x"], evaluation["configuration"]["TILE"]
            quantities = evaluation["quantities"]
            self.assertAlmostEqual(quantities["time"]["value"], seconds_of(block, tile),
                                   delta=0.02 * seconds_of(block, tile))
            self.assertAlmostEqual(quantities["power"]["value"], watts_of(block, tile), delta=0.06 * watts_of(block, tile))
        self.assertEqual(result["best"]["time"]["configuration"], {"block_size_x": 256, "TILE": 2})

    def test_other_clocks_are_scaled_to(self):
        result, _ = self.tune(self.record(), "--minimize", "energy", "--allow-settings", "--clocks", "705,1410", "--budget",
                              "12", WATTUNE_SETTINGS_DIR=str(self.folder / "settings"))
        times = {705: [], 1410: []}
        for evaluation in result["evaluations"]:
            configuration = evaluation["configuration"]
            recorded = seconds_of(configuration["block_size_x"], configuration["TILE"])
            times[configuration["nvml_gr_clock"]].append(evaluation["quantities"]["time"]["value"] / recorded)
        for ratio in times[1410]:
            self.assertAlmostEqual(ratio, 1, delta=0.02)
        for ratio in times[705]:
            self.assertGreater(ratio, 1.2)
            self.assertLess(ratio, 2)

    def test_a_configuration_that_is_not_in_the_file_fails_and_says_so(self):
        result, _ = self.tune(self.record(skip={(64, 4)}), "--minimize", "energy")
        self.assertEqual(result["counts"], {"ok": 23, "launch": 1})
        failed = next(e for e in result["evaluations"] if e["outcome"] == "launch")
        self.assertEqual(failed["configuration"], {"block_size_x": 64, "TILE": 4})
        self.assertIn("WATTUNE_SIM_RECORDED: the file has no such configuration", failed["message"])

    def test_a_configuration_that_did_not_run_does_not_run_again(self):
        result, _ = self.tune(self.record(failed={(64, 4), (32, 1)}), "--minimize", "energy")
        self.assertEqual(result["counts"], {"ok": 22, "resources": 2})

    def test_what_was_tuned_can_be_simulated_again(self):
        first, _ = self.tune(self.record(), "--minimize", "energy")
        journal = self.journals()[0].rename(self.folder / "first.jsonl")
        again, _ = self.tune(journal, "--minimize", "energy")
        self.assertEqual(again["reused"], 0)
        self.assertEqual(again["best"]["energy"]["configuration"], first["best"]["energy"]["configuration"])

    def test_a_file_that_cannot_be_read_ends_the_run(self):
        _, stderr = self.tune(self.folder / "missing.json", code=2)
        self.assertIn("WATTUNE_SIM_RECORDED", stderr)
        self.assertIn("missing.json", stderr)
        broken = self.folder / "broken.json"
        broken.write_text("[1, 2")
        _, stderr = self.tune(broken, code=2)
        self.assertIn("broken.json", stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
