#!/usr/bin/env python3
"""Checks the energies in a journal of the GEMM kernel against an independent measurement.

usage: check_energy.py JOURNAL [CONFIGURATIONS] [SECONDS]

For some configurations spread over the journal, the kernel is compiled and looped through CuPy, and the energy counter
is read through pynvml around the loop. Prints energy per launch by both, and their ratio. Needs CuPy and pynvml;
changes no setting of the device.
"""

import collections
import json
import pathlib
import sys
import time

import cupy
import numpy
import pynvml

KERNEL = pathlib.Path(__file__).resolve().parents[2] / "kernels" / "gemm" / "gemm.cu"


def load(configuration):
    """The kernel of a configuration, by NVRTC, as wattune compiles it: nvcc's code may differ in speed."""
    defines = "".join(f"#define {name} {value}\n" for name, value in configuration.items())
    options = ("-std=c++17", f"-I{KERNEL.parent}")
    return cupy.RawModule(code=defines + KERNEL.read_text(), options=options, backend="nvrtc").get_function("gemm")


class Counter:
    """The board's energy counter, read until it moves."""

    def __init__(self):
        pynvml.nvmlInit()
        bus = cupy.cuda.runtime.deviceGetPCIBusId(cupy.cuda.Device().id)
        self.handle = pynvml.nvmlDeviceGetHandleByPciBusId(bus.encode())

    def read(self):
        return pynvml.nvmlDeviceGetTotalEnergyConsumption(self.handle) / 1e3


def measure(launch, seconds, counter):
    """Energy and time of one launch, from a loop that never lets the device run dry."""
    stream = cupy.cuda.Stream(non_blocking=True)
    outstanding = collections.deque()
    with stream:
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record(stream)
        for _ in range(10):
            launch()
        end.record(stream)
        end.synchronize()
        per_batch = max(1, int(20 / (cupy.cuda.get_elapsed_time(begin, end) / 10)))
        times = []

        def keep_busy():
            while len(outstanding) < 3:
                first, last = cupy.cuda.Event(), cupy.cuda.Event()
                first.record(stream)
                for _ in range(per_batch):
                    launch()
                last.record(stream)
                outstanding.append((first, last))
            while outstanding and outstanding[0][1].done:
                first, last = outstanding.popleft()
                times.append(cupy.cuda.get_elapsed_time(first, last) / 1e3 / per_batch)

        def next_tick():
            keep_busy()
            before = counter.read()
            while True:
                keep_busy()
                now = counter.read()
                if now != before:
                    return now, time.monotonic()

        warm_until = time.monotonic() + 1
        while time.monotonic() < warm_until:
            keep_busy()
        start_energy, start_time = next_tick()
        times.clear()
        while time.monotonic() - start_time < seconds:
            end_energy, end_time = next_tick()
        per_launch = float(numpy.mean(times))
        stream.synchronize()
    power = (end_energy - start_energy) / (end_time - start_time)
    return power * per_launch, per_launch, power


def main():
    journal = pathlib.Path(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    seconds = float(sys.argv[3]) if len(sys.argv) > 3 else 5
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    header, evaluations = lines[0], lines[1:]
    good = [e for e in evaluations if e["outcome"] == "ok" and "energy" in e["quantities"]]
    good.sort(key=lambda e: e["quantities"]["energy"]["value"])
    chosen = [good[i * (len(good) - 1) // max(1, count - 1)] for i in range(count)]
    m, n, k = header["problem"]["size"]
    random = cupy.random.default_rng(1)
    a, b, c = (random.random(size, dtype=cupy.float32) * 2 - 1 for size in (m * k, n * k, m * n))
    counter = Counter()
    worst = 0
    print(f"{'wattune J':>10} {'pynvml J':>10} {'ratio':>8} {'ms':>9} {'W':>7}")
    for evaluation in chosen:
        p = evaluation["configuration"]
        kernel = load(p)
        grid, block = (m // p["MWG"], n // p["NWG"]), (p["MDIMC"], p["NDIMC"])
        arguments = (numpy.int32(m), numpy.int32(n), numpy.int32(k), numpy.float32(1.5), numpy.float32(0.5), a, b, c)
        energy, seconds_each, power = measure(lambda: kernel(grid, block, arguments), seconds, counter)
        ours = evaluation["quantities"]["energy"]["value"]
        worst = max(worst, abs(ours / energy - 1))
        print(f"{ours:10.5f} {energy:10.5f} {ours / energy:8.4f} {seconds_each * 1e3:9.4f} {power:7.1f}")
    print(f"largest difference: {100 * worst:.2f} %")


if __name__ == "__main__":
    main()
