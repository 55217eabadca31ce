#!/usr/bin/env python3
"""One run in which everything goes wrong, on a real GPU: every other configuration's result is as without the faults.

usage: long_run_with_faults.py WATTUNE [DEVICE]      DEVICE: cuda:0 by default

The same kernel is tuned twice: with sound configurations only, and with configurations among them that write wrong
values, write out of bounds, do not compile, write to an illegal address, trap, ask for too large a block, and loop for
20 s (by the GPU's clock; --timeout is 2 s). In the second run the worker is killed (SIGKILL) three times while it
evaluates. Prints a table; exit code 0 where all is as it should be, 1 otherwise. Changes no setting of the device.
Needs the folder problems/ beside it, Python 3 and the wattune command, nothing else.
"""

import collections
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROBLEM = pathlib.Path(__file__).resolve().parent / "problems" / "faulty"
VARIANTS = 12
SOUND_BLOCKS = [32, 64, 128, 256]
SOUND = VARIANTS * len(SOUND_BLOCKS)
# What must become of the others, by (FAULT, block_size_x).
FAULTS = {
    (0, 2048): ("a block that no device has", {"resources"}),
    (1, 32): ("wrong values", {"correctness"}),
    (2, 32): ("a write out of bounds", {"correctness"}),
    (3, 32): ("does not compile", {"compile"}),
    (4, 32): ("an illegal address", {"crash"}),
    (5, 32): ("loops for 20 s", {"timeout"}),
    (6, 32): ("one value missing", {"correctness"}),
    (7, 32): ("a trap", {"crash"}),
}
KILLS_AFTER = [10, 25, 40]  # evaluations
EVALUATIONS = SOUND + len(FAULTS)


def prepare(folder, with_faults):
    """A copy of the problem with more sound configurations. Returns its file."""
    folder.mkdir()
    problem = json.loads((PROBLEM / "problem.json").read_text())
    fault, block = problem["ConfigurationSpace"]["TuningParameters"]
    fault["Values"] = "[0, 1, 2, 3, 4, 5, 6, 7]" if with_faults else "[0]"
    block["Values"] = str(SOUND_BLOCKS + ([2048] if with_faults else []))
    problem["ConfigurationSpace"]["TuningParameters"].append(
        {"Name": "VARIANT", "Type": "int", "Values": f"list(range({VARIANTS}))", "Default": 0})
    problem["ConfigurationSpace"]["Conditions"] = [
        {"Expression": "FAULT == 0 or (block_size_x == 32 and VARIANT == 0)",
         "Parameters": ["FAULT", "block_size_x", "VARIANT"]},
        {"Expression": "block_size_x <= 1024 or VARIANT == 0", "Parameters": ["block_size_x", "VARIANT"]}]
    source = (PROBLEM / "faulty.cu").read_text()
    (folder / "faulty.cu").write_text(source + "\n__device__ const int variant = VARIANT;  // a binary for each\n")
    file = folder / "problem.json"
    file.write_text(json.dumps(problem))
    return file


def worker_of(coordinator):
    """The process number of the worker of a running command; None where there is none at the moment."""
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if parent == coordinator and b"worker-process" in (entry / "cmdline").read_bytes():
                return int(entry.name)
        except (OSError, IndexError, ValueError):
            pass
    return None


def lines_in(folder):
    return sum(file.read_bytes().count(b"\n") - 1 for file in folder.glob("*.jsonl"))


def tune(wattune, device, problem, kills_after):
    """Runs the command, killing its worker on the way. Returns (parsed result, kills, seconds)."""
    out = problem.parent / "out"
    began = time.monotonic()
    with open(problem.parent / "stdout", "w+") as stdout, open(problem.parent / "stderr", "w+") as stderr:
        process = subprocess.Popen([wattune, "tune", str(problem), "--device", device, "-o", str(out), "--seed", "1",
                                    "--timeout", "2", "--no-cache", "--json"], stdout=stdout, stderr=stderr)
        kills = 0
        while process.poll() is None:
            if kills < len(kills_after) and lines_in(out) >= kills_after[kills]:
                worker = worker_of(process.pid)
                if worker is not None:
                    os.kill(worker, signal.SIGKILL)
                    kills += 1
            time.sleep(0.001)
        stdout.seek(0)
        stderr.seek(0)
        messages = stderr.read()
        if process.returncode != 0:
            sys.exit(f"{problem}: the command ended with code {process.returncode}:\n{messages}")
        return json.loads(stdout.read()), kills, time.monotonic() - began


def by_configuration(result):
    return {(e["configuration"]["FAULT"], e["configuration"]["block_size_x"], e["configuration"]["VARIANT"]): e
            for e in result["evaluations"]}


def verdict(evaluation):
    """What must not depend on what else happens in a run."""
    error = evaluation["quantities"].get("max_error", {}).get("value")
    return evaluation["outcome"], evaluation["message"], evaluation["verification"], error


def first_line(text, width=70):
    line = text.split("\n")[0]
    return line if len(line) <= width else line[:width - 3] + "..."


def compare(plain, faulty):
    """Prints the table. Returns what is not as it should be."""
    complaints = []
    ratios = []
    for key, evaluation in plain.items():
        other = faulty.get(key)
        if other is None:
            complaints.append(f"{key}: missing in the run with faults")
        elif evaluation["outcome"] != "ok" or verdict(other) != verdict(evaluation):
            complaints.append(f"{key}: {verdict(evaluation)} without faults, {verdict(other)} with them")
        else:
            ratios.append(other["quantities"]["time"]["value"] / evaluation["quantities"]["time"]["value"])
    for (fault, block), (what, expected) in FAULTS.items():
        evaluation = faulty.get((fault, block, 0))
        outcome = evaluation["outcome"] if evaluation else "missing"
        message = first_line(evaluation["message"]) if evaluation else ""
        if outcome not in expected or not message:
            complaints.append(f"FAULT {fault}, block {block}: {outcome} '{message}', not {' or '.join(expected)}")
        print(f"{what:<28}{outcome:<13}{message}")
    print(f"{'sound configurations':<28}{len(ratios)} of {len(plain)} have the same outcome and largest error")
    if ratios:
        ratios.sort()
        print(f"{'their times':<28}{ratios[len(ratios) // 2]:.3f} of those without faults in the median "
              f"({ratios[0]:.3f} to {ratios[-1]:.3f})")
    return complaints


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    wattune = shutil.which(sys.argv[1])
    if wattune is None:
        sys.exit(f"{sys.argv[1]}: not a program")
    device = sys.argv[2] if len(sys.argv) == 3 else "cuda:0"
    with tempfile.TemporaryDirectory(prefix="wattune-faults-") as folder:
        folder = pathlib.Path(folder)
        plain, _, plain_seconds = tune(wattune, device, prepare(folder / "plain", False), [])
        faulty, kills, faulty_seconds = tune(wattune, device, prepare(folder / "faulty", True), KILLS_AFTER)
        complaints = compare(by_configuration(plain), by_configuration(faulty))
        journal = [json.loads(line) for file in (folder / "faulty" / "out").glob("*.jsonl")
                   for line in file.read_text().split("\n")[1:-1]]
    print(f"{'workers killed':<28}{kills}")
    print(f"{'wall time':<28}{plain_seconds:.1f} s without faults, {faulty_seconds:.1f} s with them")
    print(f"{'outcomes':<28}{dict(collections.Counter(e['outcome'] for e in faulty['evaluations']))}")
    if kills < len(KILLS_AFTER):
        complaints.append(f"only {kills} of {len(KILLS_AFTER)} workers could be killed")
    if len(faulty["evaluations"]) != EVALUATIONS or len(journal) != EVALUATIONS:
        complaints.append(f"{len(faulty['evaluations'])} evaluations and {len(journal)} lines, not {EVALUATIONS}")
    if faulty["counts"] != dict(collections.Counter(e["outcome"] for e in faulty["evaluations"])):
        complaints.append(f"the counts do not add up: {faulty['counts']}")
    for complaint in complaints:
        print(f"FAILED: {complaint}")
    print("FAILED" if complaints else "PASSED")
    sys.exit(1 if complaints else 0)


if __name__ == "__main__":
    main()
