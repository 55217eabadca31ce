#!/usr/bin/env python3
"""Runs every experiment, with the options that all of them take (--quick, -o, --pages)."""

import pathlib
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["figure3", "figure4", "figure6", "figure7", "figure8", "figure9", "table2"]


def main():
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(__doc__ + "\n    " + " ".join(NAMES))
        return
    failed = []
    for name in NAMES:
        began = time.monotonic()
        done = subprocess.run([sys.executable, HERE / f"{name}.py", *sys.argv[1:]], check=False)
        print(f"{name}: {time.monotonic() - began:.0f} s", file=sys.stderr)
        if done.returncode != 0:
            failed.append(name)
    if failed:
        sys.exit("all.py: failed: " + ", ".join(failed))


if __name__ == "__main__":
    main()
