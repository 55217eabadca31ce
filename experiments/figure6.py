#!/usr/bin/env python3
"""Figure 6: power of one GEMM configuration against the clock, under fixed clocks and under power limits."""

import plots
import runs

DEVICES = ["a100-pcie-40gb", "titan-rtx"]
LIMITS = {"titan-rtx": ",".join(str(limit) for limit in range(100, 321, 10))}


def main():
    experiment = runs.Experiment("figure6", __doc__, devices=DEVICES)
    lines, charts, found = [], [], {}
    for device in experiment.devices:
        folder = experiment.output / "one-variant" / device
        problem = folder / "problem.json"
        rows = runs.read_results(experiment.enumeration(device, clocks=experiment.few_clocks(device)))
        runs.subset_of(runs.GEMM, 1, 0, problem, rows=runs.hungriest(rows, runs.GEMM))
        limits = LIMITS.get(device, f":{4 if experiment.quick else 21}")
        clocks = runs.measure_clocks(problem, device, folder / "clocks", runs.clock_range(device, 4 if experiment.quick else None), "--energy-ticks", 10)
        limited = runs.measure_all(problem, f"sim:{device}", folder / "limits", "--allow-settings", "--power-limits", ":4" if experiment.quick else limits,
                                   "--energy-ticks", 10, quiet=True)
        by_clock = sorted(runs.read_results(clocks), key=lambda row: row["nvml_gr_clock"])
        by_limit = sorted(runs.read_results(limited), key=lambda row: row["nvml_pwr_limit"])
        titles = ["sm_clock", "power", "power_stderr", "time", "time_spread", "energy", "flags"]
        runs.write_csv(experiment.data / f"{device}-clocks.csv", ["nvml_gr_clock", *titles], [[row.get(t, "") for t in ["nvml_gr_clock", *titles]] for row in by_clock])
        runs.write_csv(experiment.data / f"{device}-limits.csv", ["nvml_pwr_limit", *titles], [[row.get(t, "") for t in ["nvml_pwr_limit", *titles]] for row in by_limit])
        found[device] = describe(by_clock, by_limit)
        lines.append(line_of(device, found[device]))
        charts.append((f"figure6-{device}.svg", chart(device, by_clock, by_limit)))
    runs.write_json(experiment.data / "figure6.json", found)
    text = """Of figure 4's sample the variant that draws most power, so that limits have something to hold back, at every supported clock, and
under power limits over the whole range of the board.

"""
    text += runs.table(["GPU", "clocks reached by locking", "clocks reached by limits", "lowest power by clock", "lowest power by limit",
                        "power at a locked clock against a limit's, same actual clock", "spread of time: locked / limited"], lines)
    text += """
The paper: a limit cannot reach the lowest clocks (A100: not below 150 W, which is about 1045 MHz on GEMM), at the same clock power is
slightly higher where the clock is fixed, and behaviour under a fixed clock is more predictable.

The spread is the standard deviation of the single timings over their median, the mean of all settings: locked clocks that the board can hold,
and limits that hold it back.

"""
    text += verdict(found) + "".join(f"\n\n![{device}](figure6-{device}.svg)" for device in experiment.devices)
    experiment.write("Figure 6: power under locked clocks and under power limits", text, charts)


def at_clock(rows, clock):
    """Power at a clock, between the two measured ones around it; nothing outside."""
    rows = sorted((row["sm_clock"], row["power"]) for row in rows)
    for (low, power_low), (high, power_high) in zip(rows, rows[1:]):
        if low <= clock <= high and high > low:
            return power_low + (clock - low) / (high - low) * (power_high - power_low)
    return None


def mean(values):
    values = [value for value in values if value is not None]
    return sum(values) / len(values) if values else None


def describe(by_clock, by_limit):
    held = [row for row in by_clock if "power_capped" not in row["flags"]]
    capped = [row for row in by_limit if "power_capped" in row["flags"]]
    differences = []
    for row in capped:
        locked = at_clock(held, row["sm_clock"])
        differences.append(locked / row["power"] - 1 if locked else None)
    return {"locked_mhz": [min(row["sm_clock"] for row in by_clock) / 1e6, max(row["sm_clock"] for row in by_clock) / 1e6],
            "limited_mhz": [min(row["sm_clock"] for row in by_limit) / 1e6, max(row["sm_clock"] for row in by_limit) / 1e6],
            "locked_w": min(row["power"] for row in by_clock), "limited_w": min(row["power"] for row in by_limit),
            "locked_against_limited": mean(differences),
            "locked_spread": mean([row["time_spread"] / row["time"] for row in held if row.get("time_spread") is not None]),
            "limited_spread": mean([row["time_spread"] / row["time"] for row in capped if row.get("time_spread") is not None])}


def share(value, sign=False):
    return "-" if value is None else f"{100 * value:{'+' if sign else ''}.2f} %"


def line_of(device, one):
    return [device, "{:.0f} to {:.0f} MHz".format(*one["locked_mhz"]), "{:.0f} to {:.0f} MHz".format(*one["limited_mhz"]), f"{one['locked_w']:.0f} W",
            f"{one['limited_w']:.0f} W", share(one["locked_against_limited"], True), f"{share(one['locked_spread'])} / {share(one['limited_spread'])}"]


def verdict(found):
    lines = []
    for device, one in found.items():
        reach = one["limited_mhz"][0] > one["locked_mhz"][0] + 30
        lines.append(f"- {device}: limits {'do not reach' if reach else '**reach**'} the lowest clocks{', as in the paper' if reach else ', unlike in the paper'}.")
        if one["locked_spread"] is not None and one["limited_spread"] is not None:
            steadier = one["locked_spread"] < one["limited_spread"]
            lines.append(f"- {device}: time is {'steadier' if steadier else '**less steady**'} at a locked clock, {'as' if steadier else 'unlike'} in the paper.")
        if one["locked_against_limited"] is not None and not 0 < one["locked_against_limited"] < 0.1:
            lines.append(f"- {device}: **unlike in the paper**, power at a locked clock is not slightly higher than under a limit at the same mean clock.")
    return "\n".join(lines)


def chart(device, by_clock, by_limit):
    drawing = plots.Chart(f"{device} (simulated)", "actual SM clock, MHz", "power, W", zero=(False, True), legend="left")
    drawing.add("locked clock", [(row["sm_clock"] / 1e6, row["power"]) for row in by_clock], line=False)
    drawing.add("power limit", [(row["sm_clock"] / 1e6, row["power"]) for row in by_limit], line=False)
    return drawing


if __name__ == "__main__":
    runs.main(main)
