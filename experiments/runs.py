"""What the experiments share: they run wattune as a user would, and read the results that it leaves."""

import argparse
import csv
import functools
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
GEMM = ROOT / "kernels" / "gemm" / "problem.json"
SYNTHETIC = ROOT / "kernels" / "fma_chain" / "problem.json"
# MHz. These boards list clocks up to 2100 MHz, which their voltage does not allow; asked for them they stay below, and
# configurations fail.
TOP_CLOCK = {"rtx-a4000": 1875, "rtx-a6000": 1845, "titan-rtx": 1875}
BASE_CLOCK = {"a100-pcie-40gb": 765, "rtx-a4000": 735, "rtx-a6000": 1410, "titan-rtx": 1350, "v100-pcie": 1230}  # MHz
TICKS = 6  # of the energy counter for a measurement of an enumeration: good to about 0.2 %, so that the least of all is not mere luck
PRECISE = ["--voltage-command", "none", "--energy-ticks", 10]  # for sweeps of few variants
MODEL_SAMPLES = 12  # clocks from which a power-frequency model is made
PAGES = ROOT / "docs" / "experiments"


class ExperimentError(Exception):
    """Ends an experiment; its text is for the user."""


def command():
    """The wattune to run: $WATTUNE, else the newest of this tree's build folders, else the one in PATH."""
    if "WATTUNE" in os.environ:
        return os.environ["WATTUNE"]
    built = [*ROOT.glob("build/bin/wattune"), *ROOT.glob("build*/*/bin/wattune"), *ROOT.glob("build-*/bin/wattune")]
    if built:
        return str(max(built, key=lambda file: file.stat().st_mtime))
    found = shutil.which("wattune")
    if not found:
        raise ExperimentError("there is no wattune: build it, or name it in the variable WATTUNE")
    return found


def wattune(*arguments, quiet=True, environment=None):
    """Runs wattune and returns its stdout. What it says on stderr is shown where it fails, or where not `quiet`."""
    words = [command(), *map(str, arguments)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE if quiet else None, text=True, check=False,
                          env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        raise ExperimentError(f"'{' '.join(words)}' ended with {done.returncode}:\n{(done.stderr or '').strip()[-2000:]}")
    return done.stdout


def wattune_json(*arguments, environment=None):
    return json.loads(wattune(*arguments, "--json", environment=environment))


# Problems -------------------------------------------------------------------------------------------------------------

def absolute_paths(problem, folder):
    """Kernel files of a problem read from `folder`, so that it can be written elsewhere."""
    specification = problem["KernelSpecification"]
    for holder in [specification, *problem.get("wattune", {}).get("Sources", [])]:
        if "KernelFile" in holder:
            holder["KernelFile"] = str((folder / holder["KernelFile"]).resolve())


def subset_of(file, variants, seed, target, rows=None):
    """Writes a copy of the problem `file` whose space is a sample of `variants` configurations: the same ones for the
    same seed. `rows` (as `wattune space --list` prints them, titles first) takes the place of the sample. Returns the
    number of configurations."""
    if rows is None:
        rows = wattune("space", file, "--sample", variants, "--seed", seed).splitlines()
    rows = [row.split("\t") for row in rows]
    names, points = rows[0], rows[1:]
    problem = json.loads(file.read_text())
    absolute_paths(problem, file.parent)
    kinds = {p["Name"]: p.get("Type") for p in problem["ConfigurationSpace"]["TuningParameters"]}
    varying = [i for i in range(len(names)) if len({point[i] for point in points}) > 1]
    if varying:
        def literal(i, text):
            return json.dumps(text) if kinds[names[i]] == "string" else text
        listed = ", ".join("[" + ", ".join(literal(i, point[i]) for i in varying) + "]" for point in points)
        problem["ConfigurationSpace"].setdefault("Conditions", []).append(
            {"Expression": f"[{', '.join(names[i] for i in varying)}] in [{listed}]",
             "Parameters": [names[i] for i in varying]})
    for parameter in problem["ConfigurationSpace"]["TuningParameters"]:
        i = names.index(parameter["Name"])
        if i not in varying:
            value = points[0][i]
            parameter["Values"] = [value if parameter.get("Type") == "string" else json.loads(value.lower())]
        elif parameter.get("Default") is not None and str(parameter["Default"]) not in {point[i] for point in points}:
            del parameter["Default"]
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(json.dumps(problem, indent=1) + "\n")
    return len(points)


# Runs -----------------------------------------------------------------------------------------------------------------

def measure_all(problem, device, folder, *arguments, quiet=False):
    """Measures every configuration of a problem, at every setting that `arguments` name, in `folder`. What is there of
    an earlier, equal run is kept. Returns the file of results."""
    words = ["tune", problem, "--device", device, "--strategy", "brute_force", "--budget", "100%", "--minimize", "energy",
             "--no-skip", "--finalists", "0", "--top", "0", *arguments]
    stamp = use_folder(folder, problem, words)
    if stamp.get("results") and (folder / stamp["results"]).exists():
        return folder / stamp["results"]
    wattune(*words, "-o", folder, quiet=quiet)
    stamp["results"] = next(folder.glob("*.jsonl")).name
    write_json(folder / STAMP, stamp)
    return folder / stamp["results"]


def measure_clocks(problem, device, folder, clocks, *arguments):
    """The same at each of these clocks of a simulated GPU."""
    return measure_all(problem, f"sim:{device}", folder, "--allow-settings", "--clocks", clocks, *arguments, quiet=True)


def tune(words, folder, environment=None):
    """A run of `wattune tune` in `folder`, whose results are kept as those of measure_all(). Returns what it found."""
    use_folder(folder, words[1], words)
    return wattune_json(*words, "-o", folder, environment=environment)


STAMP = "measured.json"


def use_folder(folder, problem, words):
    """Makes a folder ready for a command's results: those of another command, problem, version or simulator are removed, for a run would go on from them.
    Returns what is known of it."""
    stamp = {"command": [str(word) for word in words], "files": digest(problem), "version": wattune("--version").strip(), "simulator": simulator_digest()}
    known = json.loads((folder / STAMP).read_text()) if (folder / STAMP).exists() else {}
    if {key: known.get(key) for key in stamp} == stamp:
        return known
    for file in folder.glob("*.jsonl*"):
        file.unlink()
    write_json(folder / STAMP, stamp)
    return stamp


def digest(problem):
    """Changes where the problem file or its kernels do."""
    text = problem.read_bytes()
    specification = json.loads(text)
    for holder in [specification["KernelSpecification"], *specification.get("wattune", {}).get("Sources", [])]:
        folder = (problem.parent / holder["KernelFile"]).parent
        for file in sorted(file for file in folder.iterdir() if file.suffix in {".cu", ".cl", ".h", ".cuh"}):
            text += file.read_bytes()
    return hashlib.sha256(text).hexdigest()


@functools.cache
def simulator_digest():
    """Changes where the simulated GPUs do; empty where their library is not where wattune looks for it."""
    library = pathlib.Path(os.environ.get("WATTUNE_SIMGPU") or
                           pathlib.Path(command()).resolve().parents[1] / "lib" / "wattune" / "libwattune_simgpu.so")
    return hashlib.sha256(library.read_bytes()).hexdigest() if library.is_file() else ""


def read_results(file):
    """The successful evaluations of a journal: dictionaries of parameters and quantities (SI units; a standard error
    as NAME_stderr, flags together under `flags`)."""
    rows = []
    with open(file, encoding="utf-8") as lines:
        next(lines)
        for line in lines:
            evaluation = json.loads(line)
            if evaluation["outcome"] != "ok" or evaluation.get("tier", "screen") not in ("screen", "final"):
                continue
            row = dict(evaluation["configuration"])
            flags = set()
            for name, quantity in evaluation["quantities"].items():
                row[name] = quantity["value"]
                row[name + "_stderr"] = quantity["stderr"]
                flags.update(quantity["flags"])
            row["flags"] = " ".join(sorted(flags))
            rows.append(row)
    return rows


def hungriest(rows, problem):
    """The configuration that draws most power, as `wattune space --list` would print it, titles first."""
    best = max(rows, key=lambda row: row["power"])
    names = [parameter["Name"] for parameter in json.loads(problem.read_text())["ConfigurationSpace"]["TuningParameters"]]
    return ["\t".join(names), "\t".join(str(best[name]) for name in names)]


# Output ---------------------------------------------------------------------------------------------------------------

def write_csv(file, titles, rows):
    file.parent.mkdir(parents=True, exist_ok=True)
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(titles)
        writer.writerows(rows)


def write_json(file, value):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(value, indent=1) + "\n")


def table(titles, rows):
    """In Markdown."""
    lines = [titles, ["---"] * len(titles), *rows]
    return "".join("| " + " | ".join(str(cell) for cell in line) + " |\n" for line in lines)


def percent(share, sign=False):
    """0.123 as "12.3 %"."""
    return f"{100 * share:{'+' if sign else ''}.1f} %"


def supported_clocks(device):
    """MHz, in increasing order; without those that a simulated board cannot reach."""
    clocks = wattune_json("devices", "--device", f"sim:{device}")["devices"][0]["sm_clocks_mhz"]
    return sorted(clock for clock in clocks if clock <= TOP_CLOCK.get(device, clock))


def clock_range(device, count=None):
    """As --clocks takes it: so many, evenly spread over those that the board can reach, or all of them."""
    clocks = supported_clocks(device)
    return f"{clocks[0]:g}:{clocks[-1]:g}" + (f":{count}" if count else "")


class Experiment:
    """The options that the experiments share, and the page on which one tells what it found."""

    def __init__(self, name, description, variants=1000, devices=()):
        """`devices` are those of the paper's figure, without "sim:"."""
        parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent / "results",
                            help="folder for measurements and data, kept for the next time (default: experiments/results)")
        parser.add_argument("--pages", type=pathlib.Path, help="folder for the page (default: docs/experiments, with --quick the output folder)")
        parser.add_argument("--quick", action="store_true", help="few variants: to see that it works, not for its numbers")
        parser.add_argument("--variants", type=int, help=f"of the kernel, drawn at random with a fixed seed (default {variants})")
        parser.add_argument("--devices", default=",".join(devices), help="simulated GPUs (default: %(default)s)")
        self.extend(parser)
        self.given = parser.parse_args()
        self.name = name
        self.quick = self.given.quick
        self.devices = [device for device in self.given.devices.split(",") if device]
        self.variants = self.given.variants or (12 if self.quick else variants)
        self.output = self.given.output / ("quick" if self.quick else "full")
        self.data = self.output / name
        self.pages = self.given.pages or (self.output if self.quick else PAGES)

    def extend(self, parser):
        """Options of one experiment."""

    def enumeration(self, device, clocks=None, limits=None, problem=GEMM, variants=None):
        """Every variant at every setting: measured now, or read if an experiment has done so before."""
        import enumerate as enumeration  # not the built-in function, but the script beside this one
        variants = variants or self.variants
        axis = f"clocks {clocks}" if clocks else f"limits {limits}"
        folder = self.output / "enumerations" / "-".join([device, problem.parent.name, str(variants), hashlib.sha256(axis.encode()).hexdigest()[:8]])
        print(f"{self.name}: {device}, {variants} variants of {problem.parent.name}, {axis}", file=sys.stderr)
        return enumeration.enumerate_space(f"sim:{device}", folder, variants, 1, clocks, limits, problem, TICKS, quiet=True)

    def synthetic(self, device):
        """A problem file of the synthetic kernel's variant that draws most power on a device."""
        problem = self.output / "synthetic" / device / "problem.json"
        rows = read_results(self.enumeration(device, clocks=clock_range(device, 2), problem=SYNTHETIC, variants=12 if self.quick else 432))
        subset_of(SYNTHETIC, 1, 0, problem, rows=hungriest(rows, SYNTHETIC))
        return problem

    def power_model(self, device):
        """The file of the synthetic kernel's samples, and the power-frequency model that `wattune model` makes of them."""
        problem = self.synthetic(device)
        samples = measure_clocks(problem, device, problem.parent / "samples", clock_range(device, MODEL_SAMPLES), *PRECISE)
        return samples, wattune_json("model", samples, "--supported", ",".join(f"{clock:g}" for clock in supported_clocks(device)))

    def few_clocks(self, device):
        """Of a sweep with many variants: as many as in the paper, and the base clock, where it is known."""
        clocks = supported_clocks(device)
        count = 3 if self.quick else 7
        chosen = {clocks[round(i * (len(clocks) - 1) / (count - 1))] for i in range(count)} | {BASE_CLOCK.get(device, clocks[0])}
        return ",".join(f"{clock:g}" for clock in sorted(chosen))

    def sample(self):
        """What few_clocks() and a thousand variants make, in words."""
        return (f"{self.variants} of the 17,472 valid GEMM variants, drawn at random, at the base clock and {3 if self.quick else 7} others, evenly spread "
                "over those that the board can reach (A4000 and TITAN RTX: up to 1875 MHz, A6000: 1845 MHz, which is what their voltage allows)")

    def write(self, title, text, charts=()):
        """Writes the page, and charts beside it: (file name, chart)."""
        words = [f"experiments/{self.name}.py"] + sys.argv[1:]
        head = (f"# {title}\n\n**Simulated**: no GPU was measured. GPUs are those of [simulated-gpus.md](../simulated-gpus.md), which are fitted to published "
                f"curves of clock, power and voltage; how fast and how busy a variant of a kernel is was made up. So shapes and mechanisms can be "
                f"compared with the paper's, single numbers cannot.\n\nThis page was written by\n\n    {' '.join(words)}\n\n")
        for file, chart in charts:
            chart.write(self.pages / file)
        self.pages.mkdir(parents=True, exist_ok=True)
        page = self.pages / f"{self.name}.md"
        page.write_text(head + text.strip() + "\n")
        print(page)


def main(body):
    """Runs an experiment; its errors become one message and exit code 1."""
    try:
        body()
    except ExperimentError as error:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {error}")
    except OSError as error:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {error.filename}: {error.strerror}")
    except KeyboardInterrupt:
        sys.exit(130)
