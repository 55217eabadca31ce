#!/usr/bin/env python3
"""Figure 9: power of the synthetic kernel over the clock, and the power-frequency model fitted to it."""

import plots
import runs

# As digitised from the figure: idle power (W), alpha (W/MHz), ridge (MHz), beta (1/MHz).
PAPER = {"a100-pcie-40gb": (34.7, 0.0430, 997, 1.039e-3), "rtx-a4000": (35.8, 0.0313, 1295, 7.27e-4), "rtx-a6000": (52.3, 0.0326, 1331, 8.70e-4),
         "titan-rtx": (47.3, 0.0404, 1341, 1.007e-3), "v100-pcie": (23.2, 0.0464, 963, 4.39e-4)}
REDUCTION = {"a100-pcie-40gb": 0.824, "rtx-a4000": 0.789, "titan-rtx": 0.778, "v100-pcie": 0.80}  # of the clocks to search
CURVED = ["a100-pcie-40gb", "rtx-a4000"]  # simulated with the measured curves of voltage


def main():
    experiment = runs.Experiment("figure9", __doc__, devices=PAPER)
    fits, choices, found, charts = [], [], {}, []
    drawing = plots.Chart("synthetic kernel (simulated): samples and fitted model", "SM clock, MHz", "power, W", zero=(False, True), legend="left")
    for device in experiment.devices:
        samples, model = experiment.power_model(device)
        problem = experiment.synthetic(device)
        every = runs.measure_clocks(problem, device, problem.parent / "every", runs.clock_range(device, 24 if experiment.quick else None), *runs.PRECISE)
        rows = sorted(((row["sm_clock"] / 1e6, row["power"]) for row in runs.read_results(samples)), key=lambda row: row[0])
        found[device] = {"model": model, "lost": lost(runs.read_results(every), model["optimum_mhz"])}
        runs.write_csv(experiment.data / f"{device}.csv", ["sm_clock_mhz", "power_w", "model_w"], [[*row, power(model, row[0])] for row in rows])
        drawing.add(device, rows, line=False)
        clocks = [rows[0][0] + i * (rows[-1][0] - rows[0][0]) / 200 for i in range(201)]
        drawing.add("", [(clock, power(model, clock)) for clock in clocks], dots=False, colour=drawing.series[-1]["colour"])
        fits.append([device, *fit_cells(model, PAPER.get(device)), f"{model['rms_w']:.2f} W"])
        choices.append(choice_cells(device, model, found[device]["lost"]))
    runs.write_json(experiment.data / "figure9.json", found)
    text = f"""`kernels/fma_chain` (long chains of FP32 multiply-adds, no memory traffic; the variant that draws most power) at {runs.MODEL_SAMPLES} clocks, evenly spread over those that the board can reach; `wattune model
--form free` fitted to power over the actual clock. Paper / simulated, with the standard error of the fit:

"""
    text += runs.table(["GPU", "idle power, W", "alpha, W/MHz", "ridge, MHz", "beta, 1/MHz", "rms"], fits)
    text += """
What the model is for: clocks within 10 % of the predicted optimum are searched, ten at most. *Lost* is the energy of the synthetic kernel at the
predicted optimum over its least energy at any supported clock, both measured, less 1 (a single measurement of either: good to about 0.3 %).

"""
    text += runs.table(["GPU", "predicted optimum", "clocks to search", "fewer clocks: paper", "fewer clocks: simulated", "lost"], choices)
    text += "\n" + verdict(found)
    charts.append(("figure9.svg", drawing))
    experiment.write("Figure 9: the power-frequency model", text + "\n\n![power over clock](figure9.svg)", charts)


def power(model, clock):
    """The fitted form at a clock in MHz."""
    value = {name: parameter["value"] for name, parameter in model["parameters"].items()}
    voltage = 1 + value.get("beta", 0) * max(0, clock - value["ridge"])
    watts = value["P_idle"] + value["alpha"] * clock * voltage**2
    return min(watts, value.get("P_max") or watts)


def lost(rows, optimum):
    nearest = min(rows, key=lambda row: abs(row["nvml_gr_clock"] - optimum))
    return nearest["energy"] / min(row["energy"] for row in rows) - 1


def fit_cells(model, paper):
    cells = []
    for i, (name, form) in enumerate([("P_idle", ".1f"), ("alpha", ".4f"), ("ridge", ".0f"), ("beta", ".2e")]):
        parameter = model["parameters"].get(name)
        ours = "-"
        if parameter:
            error = parameter["stderr"]
            ours = f"{parameter['value']:{form}}" + (f" +- {error:{form}}" if error is not None else "")
        cells.append(f"{paper[i]:{form}} / {ours}" if paper else ours)
    return cells


def choice_cells(device, model, share):
    return [device, f"{model['optimum_mhz']:g} MHz", f"{len(model['selected_clocks_mhz'])} of {model['supported_clocks']}",
            runs.percent(REDUCTION[device]) if device in REDUCTION else "-", runs.percent(model["reduction"]), f"{100 * share:.2f} %"]


def verdict(found):
    lines = []
    for device, one in found.items():
        parameters = {name: parameter["value"] for name, parameter in one["model"]["parameters"].items()}
        if device in PAPER:
            for (name, unit), paper, tolerance in zip([("P_idle", "W"), ("alpha", "W/MHz"), ("ridge", "MHz"), ("beta", "1/MHz")], PAPER[device], (0.2, 0.2, 0.05, 0.2)):
                if abs(parameters.get(name, 0) / paper - 1) > tolerance:
                    lines.append(f"- {device}: {name} {parameters.get(name, 0):.4g} {unit} instead of {paper:.4g}")
        lines += [f"- {device}: {warning}" for warning in one["model"]["warnings"]]
    if not lines:
        return "All ridges are within 5 % of the paper's, the other parameters within 20 %."
    text = "**Far from the paper's** (ridge by more than 5 %, others by more than 20 %):\n\n" + "\n".join(lines) + "\n"
    if any("ridge" in line and device in line for line in lines for device in CURVED):
        text += """
The voltages of A100 and A4000 are measured ones, which rise about quadratically above the ridge; the model's straight line is best fitted to them
with a ridge that is too high. From the voltages themselves it is found where the paper has it ([figure 8](figure8.md)). The voltages of the other boards
are assumed to be straight lines, which the model finds again.
"""
    if any(" alpha " in line for line in lines):
        text += """
alpha is smaller because the paper's synthetic kernel keeps the multiprocessors busier than any variant of `fma_chain` does in simulation, where each
variant reaches a part of the peak only.
"""
    return text


if __name__ == "__main__":
    runs.main(main)
