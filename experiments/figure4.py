#!/usr/bin/env python3
"""Figure 4: speed against efficiency of every GEMM configuration, the Pareto front, and what is given up for what."""

import plots
import runs

PAPER = {"rtx-a4000": (-0.284, 0.058), "a100-pcie-40gb": (-0.275, 0.509)}  # change of speed and of efficiency


def main():
    experiment = runs.Experiment("figure4", __doc__, devices=PAPER)
    rows, charts, found = [], [], {}
    for device in experiment.devices:
        results = experiment.enumeration(device, clocks=experiment.few_clocks(device))
        words = ["results", "front", results, "--maximize", "GFLOP/s", "--maximize", "GFLOP/J"]
        front = runs.wattune_json(*words)
        points = runs.wattune(*words, "--csv", "--all")
        experiment.data.mkdir(parents=True, exist_ok=True)
        (experiment.data / f"{device}.csv").write_text(points)
        runs.write_json(experiment.data / f"{device}.json", front)
        change = {name: part["relative"] for name, part in front["trade_off"].items()}
        knee = front["knee_trade_off"]
        knee = {name: part["relative"] for name, part in knee.items()} if knee else None
        sure = sum(member["sure"] for member in front["members"])
        paper = PAPER.get(device)
        found[device] = change
        rows.append([device, runs.percent(paper[0], True) if paper else "-", runs.percent(paper[1], True) if paper else "-",
                     runs.percent(change["GFLOP/s"], True), runs.percent(change["GFLOP/J"], True), f"{len(front['members'])} ({sure} sure)",
                     f"{runs.percent(knee['GFLOP/s'], True)} for {runs.percent(knee['GFLOP/J'], True)}" if knee else "none"])
        charts.append((f"figure4-{device}.svg", chart(device, results, front)))
    text = f"""{experiment.sample()}. From the fastest configuration on the front to the most efficient one:

"""
    text += runs.table(["GPU", "paper: speed", "paper: efficiency", "simulated: speed", "simulated: efficiency", "members of the front", "at the knee"], rows)
    text += """
The knee is the member farthest from the line between the ends of the front. A member is *sure* where no other configuration can
be as good in both within the uncertainty of 95 %.
"""
    text += "".join(f"\n![{device}](figure4-{device}.svg)\n" for device in experiment.devices)
    text += "\n" + verdict(found)
    experiment.write("Figure 4: speed against efficiency", text, charts)


def verdict(found):
    """Where the simulated trade-off is far from the paper's, and whether GPUs differ as they do there."""
    lines = []
    for device, change in found.items():
        if device not in PAPER:
            continue
        apart = [f"{name} changes by {runs.percent(change[key], True)} instead of {runs.percent(value, True)}"
                 for name, key, value in zip(["speed", "efficiency"], ["GFLOP/s", "GFLOP/J"], PAPER[device]) if abs(change[key] - value) > 0.1]
        lines.append(f"- {device}: " + ("**far from the paper**: " + ", ".join(apart) if apart else "within 10 percentage points of the paper"))
    if set(PAPER) <= set(found):
        ordered = found["a100-pcie-40gb"]["GFLOP/J"] > found["rtx-a4000"]["GFLOP/J"]
        lines.append("- The A100 has " + ("more to gain in efficiency than the A4000, as in the paper." if ordered else
                                          "**less to gain in efficiency than the A4000, unlike the paper**."))
    return "\n".join(lines)


def chart(device, results, front):
    drawing = plots.Chart(f"{device} (simulated)", "efficiency, GFLOP/J", "speed, GFLOP/s", zero=(True, True), legend="left")
    drawing.add("configurations", [(row["GFLOP/J"], row["GFLOP/s"]) for row in runs.read_results(results)], line=False, radius=1.5, opacity=0.4)
    drawing.add("Pareto front", [(member["quantities"]["GFLOP/J"]["value"], member["quantities"]["GFLOP/s"]["value"]) for member in front["members"]])
    return drawing


if __name__ == "__main__":
    runs.main(main)
