#!/usr/bin/env python3
"""Measures every one of a fixed sample of a kernel's variants at every clock (or power limit) of a simulated GPU.

    experiments/enumerate.py --device sim:a100-pcie-40gb --variants 500 --clocks all -o FOLDER

The results are a journal in FOLDER, whose path is printed: `wattune results`, `model`, `replay` and `compare` read it.
The same command again measures nothing, and one that was stopped goes on.
"""

import argparse
import pathlib

import runs


def enumerate_space(device, folder, variants=500, seed=1, clocks=None, limits=None, problem=runs.GEMM, ticks=2, quiet=False):
    """Returns the file of results."""
    subset = folder / "problem.json"
    runs.subset_of(problem, variants, seed, subset)
    settings = ["--allow-settings"] if clocks or limits else []
    if clocks:
        settings += ["--clocks", clocks]
    if limits:
        settings += ["--power-limits", limits]
    return runs.measure_all(subset, device, folder, *settings, "--energy-ticks", ticks, quiet=quiet)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", required=True, help="for example sim:a100-pcie-40gb")
    parser.add_argument("--problem", type=pathlib.Path, default=runs.GEMM, help="problem file; default: the matrix product")
    parser.add_argument("--variants", type=int, default=500, help="how many of the valid configurations (default 500)")
    parser.add_argument("--seed", type=int, default=1, help="of the sample (default 1)")
    parser.add_argument("--clocks", help="as of wattune tune: all, :7, LO:HI, a list")
    parser.add_argument("--power-limits", help="as of wattune tune")
    parser.add_argument("--energy-ticks", type=int, default=2, help="as of wattune tune (default 2)")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, help="folder for the results")
    given = parser.parse_args()
    print(enumerate_space(given.device, given.output, given.variants, given.seed, given.clocks, given.power_limits,
                          given.problem.resolve(), given.energy_ticks))


if __name__ == "__main__":
    runs.main(main)
