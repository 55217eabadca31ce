#!/usr/bin/env python3
"""Figure 7: the least energy of GEMM that power limits reach, and that clocks reach."""

import plots
import runs

TITAN_CLOCKS = ",".join(str(clock) for clock in range(300, 1876, 75))
TITAN_LIMITS = ",".join(str(limit) for limit in range(100, 301, 25))
PAPER = {"rtx-a4000": "power limit, marginally", "rtx-a6000": "power limit, marginally", "a100-pcie-40gb": "clock", "titan-rtx": "clock, significantly"}


def axes(experiment, device):
    if experiment.quick:
        return experiment.few_clocks(device), ":3"
    return (TITAN_CLOCKS, TITAN_LIMITS) if device == "titan-rtx" else (experiment.few_clocks(device), ":7")


def best(rows, *keys):
    row = min(rows, key=lambda row: row["energy"])
    return {key: row[key] for key in ["energy", "energy_stderr", "time", "power", "sm_clock", *keys]}


def spread(rows, key):
    """The standard deviation of the single timings of a variant over their median, in the middle one of all."""
    values = sorted(row["time_spread"] / row["time"] for row in rows if row.get("time_spread") is not None)
    return values[len(values) // 2] if values else float("nan")


def main():
    experiment = runs.Experiment("figure7", __doc__, devices=PAPER)
    lines, found, points = [], {}, []
    for device in experiment.devices:
        clocks, limits = axes(experiment, device)
        by_clock = runs.read_results(experiment.enumeration(device, clocks=clocks))
        by_limit = runs.read_results(experiment.enumeration(device, limits=limits))
        # Limits that hold nothing back leave the board at its highest clock: only those that do have a spread of their own.
        capped = [row for row in by_limit if "power_capped" in row["flags"]]
        free = [row for row in by_clock if "power_capped" not in row["flags"]]
        of_clock, of_limit = best(by_clock, "nvml_gr_clock"), best(by_limit, "nvml_pwr_limit")
        found[device] = {"clock": of_clock, "limit": of_limit, "clock_spread": spread(free, "time"), "limit_spread": spread(capped, "time"),
                         "capped": len(capped) / len(by_limit)}
        difference = of_limit["energy"] / of_clock["energy"] - 1
        points.append((device, of_clock["energy"], of_limit["energy"]))
        lines.append([device, f"{of_clock['energy']:.3f} J at {of_clock['nvml_gr_clock']:g} MHz",
                      f"{of_limit['energy']:.3f} J at {of_limit['nvml_pwr_limit']:g} W ({of_limit['sm_clock'] / 1e6:.0f} MHz)",
                      runs.percent(difference, True), winner(difference), PAPER.get(device, "-"),
                      runs.percent(found[device]["clock_spread"]) + " / " + (runs.percent(found[device]["limit_spread"]) if capped else "-")])
    runs.write_json(experiment.data / "figure7.json", found)
    runs.write_csv(experiment.data / "figure7.csv", ["device", "energy_by_clock_j", "energy_by_limit_j"], points)
    text = f"""{experiment.sample()}, and at 7 power limits, evenly spread over what the board allows; on the TITAN RTX at 22 clocks, 75 MHz apart,
and 9 limits from 100 to 300 W, as in the paper.{' (--quick: 3 of each.)' if experiment.quick else ''}
Each number is the least energy of all, so it is lucky by about the error of one measurement (0.2 %).

"""
    text += runs.table(["GPU", "least energy by clock", "least energy by power limit", "limit against clock", "less energy by", "paper: less energy by",
                        "spread of time, clock / limit"], lines)
    text += """
The spread is the standard deviation of a configuration's single timings over their median, for the middle one of all: at clocks that
the board can hold, and under limits that hold it back. Under a limit the clock wanders.

""" + verdict(found)
    experiment.write("Figure 7: power limits against clocks, least energy", text, [("figure7.svg", chart(points))])


def winner(difference):
    if abs(difference) < 0.01:
        return "neither (within 1 %)"
    return f"{'clock' if difference > 0 else 'power limit'}, {'marginally' if abs(difference) < 0.05 else 'significantly'}"


def verdict(found):
    lines = []
    for device, one in found.items():
        if device not in PAPER:
            continue
        ours = winner(one["limit"]["energy"] / one["clock"]["energy"] - 1)
        if ours == PAPER[device] or ours.split(",")[0] == PAPER[device]:
            lines.append(f"- {device}: as in the paper.")
        else:
            lines.append(f"- {device}: **unlike the paper**: less energy by {ours}; there by {PAPER[device]}.")
    return "\n".join(lines)


def chart(points):
    drawing = plots.Chart("least energy of GEMM (simulated)", "GPU: " + ", ".join(f"{i + 1} {name}" for i, (name, *_) in enumerate(points)),
                          "energy, J", zero=(False, True))
    drawing.add("by clock", [(i + 1, clock) for i, (_, clock, _) in enumerate(points)], line=False, radius=5)
    drawing.add("by power limit", [(i + 1, limit) for i, (_, _, limit) in enumerate(points)], line=False, radius=5)
    return drawing


if __name__ == "__main__":
    runs.main(main)
