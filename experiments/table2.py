#!/usr/bin/env python3
"""Table II and figure 10: kernels that are tuned for speed, before and after model-steered tuning of the clock.

    experiments/table2.py [PROBLEM...]      problem files; default: those of the kernel suite
"""

import pathlib
import sys

import figure9
import plots
import runs

DEVICES = ["a100-pcie-40gb", "rtx-a4000", "titan-rtx", "v100-pcie"]
SUITE = sorted((runs.ROOT / "kernels").glob("*/problem.json"))
BUDGET = 300  # evaluations of the search for the fastest variant


class Table2(runs.Experiment):
    def extend(self, parser):
        parser.add_argument("problems", nargs="*", type=pathlib.Path, metavar="PROBLEM", help="problem files; default: kernels/*/problem.json")


def main():
    experiment = Table2("table2", __doc__, devices=DEVICES)
    problems = [problem.resolve() for problem in experiment.given.problems] or SUITE
    lines, found, charts, reductions = [], [], [], {}
    for device in experiment.devices:
        _, model = experiment.power_model(device)
        selected = model["selected_clocks_mhz"][:: 3 if experiment.quick else 1]
        reductions[device] = model["reduction"]
        drawing = plots.Chart(f"{device} (simulated)", "SM clock, MHz", "energy, in proportion to that at the highest clock")
        for problem in problems:
            one = tune(experiment, device, problem, selected)
            found.append(one)
            lines.append(line_of(one, model))
            drawing.add(one["kernel"], one["curve"], dots=False)
        drawing.add("device model", model_curve(model, min(clock for clock, _ in one["curve"]), max(clock for clock, _ in one["curve"])), dots=False)
        charts.append((f"table2-{device}.svg", drawing))
    runs.write_json(experiment.data / "table2.json", found)
    runs.write_csv(experiment.data / "table2.csv", ["device", "kernel", "clock_mhz", "efficiency_gain", "speed_change", "best_clock_mhz", "behind_best"],
                   [[one[key] for key in ["device", "kernel", "clock_mhz", "gain", "speed", "best_clock_mhz", "behind"]] for one in found])
    text = f"""Each kernel is first tuned for speed at the device's own clock ({40 if experiment.quick else BUDGET} evaluations of the default strategy). Then its fastest variant is
measured at the clocks that the device's power-frequency model ([figure 9](figure9.md)) has chosen, ten within 10 % of the predicted
optimum, and the one of least energy is taken. For comparison it is measured at every supported clock, too: *behind* is how much
more energy the chosen clock takes than the best of all. The last columns are `wattune tune --method clocks`, which finds a kernel's own clock
from many timings and a few measurements of power ([model.md](../model.md#one-kernels-own-optimum)).

"""
    text += runs.table(["GPU", "kernel", "model's optimum", "chosen clock", "efficiency", "speed", "best of all clocks", "behind", "own clock", "behind",
                        "powers measured"], lines)
    text += "\n" + summary(found, reductions) + "".join(f"\n\n![{device}](table2-{device}.svg)" for device in experiment.devices)
    experiment.write("Table II and figure 10: model-steered clocks for tuned kernels", text, charts)


def name_of(problem):
    """Problem files of the kernel suite are called after their folder."""
    return problem.parent.name if problem.stem == "problem" else problem.stem


def tune(experiment, device, problem, selected):
    folder = experiment.output / "table2" / f"{device}-{name_of(problem)}"
    print(f"table2: {device}, {name_of(problem)}", file=sys.stderr)
    words = ["tune", problem, "--device", f"sim:{device}", "--minimize", "time", "--budget", 40 if experiment.quick else BUDGET]
    fast = runs.tune(words, folder / "speed")["best"]["time"]["configuration"]
    single = folder / "problem.json"
    runs.subset_of(problem, 1, 0, single, rows=["\t".join(fast), "\t".join(str(value) for value in fast.values())])
    clocks = ",".join(f"{clock:g}" for clock in sorted({*(selected), max(runs.supported_clocks(device))}))
    chosen = runs.read_results(runs.measure_clocks(single, device, folder / "selected", clocks, *runs.PRECISE))
    every = runs.read_results(runs.measure_clocks(single, device, folder / "every", runs.clock_range(device, 16 if experiment.quick else None), *runs.PRECISE))
    before = max(chosen, key=lambda row: row["nvml_gr_clock"])
    after = min((row for row in chosen if row["nvml_gr_clock"] in selected), key=lambda row: row["energy"])
    best = min(every, key=lambda row: row["energy"])
    top = max(every, key=lambda row: row["nvml_gr_clock"])
    behind, error = behind_best(every, best, after["nvml_gr_clock"])
    one = {"device": device, "kernel": name_of(problem), "configuration": fast, "clock_mhz": after["nvml_gr_clock"],
           "gain": before["energy"] / after["energy"] - 1, "speed": before["time"] / after["time"] - 1, "energy_j": after["energy"],
           "best_clock_mhz": best["nvml_gr_clock"], "behind": behind, "behind_error": error,
           "curve": sorted((row["sm_clock"] / 1e6, row["energy"] / top["energy"]) for row in every)}
    own = own_clock(experiment, device, single, folder / "own")
    if own:
        one["own"] = {**own, "behind": behind_best(every, best, own["clock_mhz"])[0]}
    return one


def own_clock(experiment, device, problem, folder):
    """By wattune's model of the kernel; nothing where it finds none."""
    words = ["tune", problem, "--device", f"sim:{device}", "--method", "clocks", "--allow-settings", "--energy-ticks", 10]
    calibrations = experiment.output / "calibrations" / runs.simulator_digest()[:16]
    found = runs.tune(words, folder, {"WATTUNE_CALIBRATION_DIR": str(calibrations)}).get("own_clocks")
    if not found:
        return None
    return {"clock_mhz": found[0]["configuration"]["nvml_gr_clock"], "predicted_mhz": found[0]["predicted_mhz"],
            "power_measurements": found[0]["power_measurements"]}


def behind_best(every, best, clock):
    """How much more energy a clock takes than the best, and the standard error of that. Both are of the sweep of all clocks; of --quick, which has only
    some of them, the nearest one is taken."""
    row = min(every, key=lambda row: abs(row["nvml_gr_clock"] - clock))
    return row["energy"] / best["energy"] - 1, ((row["energy_stderr"] / row["energy"]) ** 2 + (best["energy_stderr"] / best["energy"]) ** 2) ** 0.5


def model_curve(model, low, high):
    """Energy of a compute-bound kernel by the device's model."""
    clocks = [low + i * (high - low) / 200 for i in range(201)]
    top = figure9.power(model, high) / high
    return [(clock, figure9.power(model, clock) / clock / top) for clock in clocks]


def line_of(one, model):
    return [one["device"], one["kernel"], f"{model['optimum_mhz']:g} MHz", f"{one['clock_mhz']:g} MHz", runs.percent(one["gain"], True), runs.percent(one["speed"], True),
            f"{one['best_clock_mhz']:g} MHz", runs.percent(one["behind"]),
            f"{one['own']['clock_mhz']:g} MHz" if "own" in one else "-", runs.percent(one["own"]["behind"]) if "own" in one else "-",
            one["own"]["power_measurements"] if "own" in one else "-"]


def mean_and_deviation(values):
    mean = sum(values) / len(values)
    return mean, (sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)) ** 0.5


def summary(found, reductions):
    gain, gain_spread = mean_and_deviation([one["gain"] for one in found])
    speed, speed_spread = mean_and_deviation([one["speed"] for one in found])
    text = runs.table(["", "paper (six LOFAR kernels)", f"simulated ({len({one['kernel'] for one in found})} kernels here)"],
                      [["efficiency", "+42.0 +- 24.1 %", f"{100 * gain:+.1f} +- {100 * gain_spread:.1f} %"],
                       ["speed", "-24.3 +- 12.1 %", f"{100 * speed:+.1f} +- {100 * speed_spread:.1f} %"],
                       *[[f"clocks not searched, {device}", runs.percent(figure9.REDUCTION[device]) if device in figure9.REDUCTION else "-", runs.percent(share)]
                         for device, share in reductions.items()]])
    behind = [one for one in found if one["behind"] > max(0.01, 1.96 * one["behind_error"])]
    text += "\n**Not the paper's kernels**: means and spreads are of other workloads and can be compared in kind only.\n"
    if behind:
        text += ("\nThe clock chosen by the device's model is behind the best by more than 1 %, and more than chance, for "
                 + ", ".join(f"{one['kernel']} on {one['device']} ({runs.percent(one['behind'])}, best at {one['best_clock_mhz']:g} MHz)" for one in behind)
                 + ". One ridge for a whole device is wrong for kernels that wait for memory, as in the paper's figure 10, where estimated and measured "
                   "optimum sometimes differ.\n")
    own = [one["own"]["behind"] for one in found if "own" in one]
    if own:
        text += (f"\nKernels' own clocks are behind the best by {100 * sum(own) / len(own):.2f} % on average and {100 * max(own):.1f} % at most, "
                 f"clocks by the device's model by {100 * sum(one['behind'] for one in found) / len(found):.2f} % on average and "
                 f"{100 * max(one['behind'] for one in found):.1f} % at most.\n")
    return text


if __name__ == "__main__":
    runs.main(main)
