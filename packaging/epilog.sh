#!/bin/sh
# Epilog of a batch system (Slurm: Epilog=/etc/slurm/epilog.d/wattune.sh), run by root on each node after a job: puts
# back clocks and power limits that a run left which was killed together with its settings server. Boards that other
# jobs use are left alone.
exec /usr/bin/wattune restore --stale
