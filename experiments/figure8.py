#!/usr/bin/env python3
"""Figure 8: core voltage against the clock, and the ridge where it begins to rise."""

import plots
import runs

PAPER = {"a100-pcie-40gb": 0.72, "rtx-a4000": 0.70}  # the ridge in proportion to the peak clock


def main():
    experiment = runs.Experiment("figure8", __doc__, devices=PAPER)
    lines, found = [], {}
    drawing = plots.Chart("core voltage (simulated)", "SM clock, MHz", "voltage, mV", legend="left")
    for device in experiment.devices:
        problem = experiment.synthetic(device)
        results = runs.measure_clocks(problem, device, problem.parent / "voltages", runs.clock_range(device, 12 if experiment.quick else None))
        rows = sorted(((row["sm_clock"] / 1e6, row["voltage"] * 1e3) for row in runs.read_results(results) if row.get("voltage")), key=lambda row: row[0])
        if not rows:
            lines.append([device, "-", "-", "-", runs.percent(PAPER[device]) if device in PAPER else "-"])
            continue
        model = runs.wattune_json("model", results)
        peak = max(clock for clock, _ in rows)
        found[device] = {"ridge_mhz": model["ridge_mhz"], "interval_mhz": model["ridge_interval_mhz"], "peak_mhz": peak, "share": model["ridge_mhz"] / peak,
                         "measured_voltage": model["measured_voltage"]}
        runs.write_csv(experiment.data / f"{device}.csv", ["sm_clock_mhz", "voltage_mv"], rows)
        drawing.add(device, rows)
        lines.append([device, f"{min(v for _, v in rows):.0f} to {max(v for _, v in rows):.0f} mV", f"{model['ridge_mhz']:.0f} MHz",
                      f"{peak:.0f} MHz", runs.percent(found[device]["share"]), runs.percent(PAPER[device]) if device in PAPER else "-"])
    runs.write_json(experiment.data / "figure8.json", found)
    text = """Voltage as `wattune tune` reads it at each supported clock while the synthetic kernel (`kernels/fma_chain`, the variant that draws most power) runs. The ridge is found by
`wattune model` from the voltages alone: a line and a parabola that rise from a flat part.

"""
    text += runs.table(["GPU", "voltage", "ridge", "peak clock reached", "simulated: ridge / peak", "paper: ridge / peak"], lines)
    text += """
The voltage curves of these two boards are measured ones, which the simulator follows; so this page tests that the voltage comes through
every layer and that the ridge is found in it, not the physics. The peak is the highest clock that the
board reaches under this load.

"""
    apart = [f"- {device}: **far from the paper**: {runs.percent(one['share'])} instead of {runs.percent(PAPER[device])}."
             for device, one in found.items() if device in PAPER and abs(one["share"] - PAPER[device]) > 0.03]
    text += "\n".join(apart or ["Both shares are within 3 percentage points of the paper's." if set(PAPER) <= set(found) else ""])
    charts = []
    if found:
        charts.append(("figure8.svg", drawing))
        text += "\n\n![voltage over clock](figure8.svg)"
    experiment.write("Figure 8: the voltage curve and its ridge", text, charts)


if __name__ == "__main__":
    runs.main(main)
