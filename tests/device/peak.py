#!/usr/bin/env python3
"""Prints the FP32 rate of cuBLAS for a square matrix product, through PyTorch, as GFLOP/s.

usage: peak.py [SIZE]
TF32 is off: this is what a kernel of plain FP32 multiply-adds competes with. Changes no setting of the device.
"""

import statistics
import sys

import torch


def main():
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 4096
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = (torch.rand(size, size, device="cuda") * 2 - 1 for _ in range(2))
    c = torch.empty_like(a)
    times = []
    for round_number in range(25):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        for _ in range(10):
            torch.mm(a, b, out=c)
        end.record()
        end.synchronize()
        if round_number >= 5:
            times.append(begin.elapsed_time(end) / 10)
    milliseconds = statistics.median(times)
    print(f"cuBLAS FP32 {size}: {milliseconds:.4f} ms, {2 * size**3 / milliseconds / 1e6:.0f} GFLOP/s")


if __name__ == "__main__":
    main()
