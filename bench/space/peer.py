#!/usr/bin/env python3
"""Builds the search space of a T1 file with python-constraint and prints the number of configurations and the seconds
from the parsed problem to the list of configurations. Exit code 77 where python-constraint is not installed."""

import json
import sys
import time

try:
    import constraint
except ImportError:
    sys.exit(77)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        space = json.load(file)["ConfigurationSpace"]
    parameters = {}
    for parameter in space["TuningParameters"]:
        values = parameter["Values"]
        parameters[parameter["Name"]] = eval(values) if isinstance(values, str) else values  # our own data
    conditions = [condition["Expression"] for condition in space.get("Conditions", [])]

    start = time.perf_counter()
    solver = getattr(constraint, "OptimizedBacktrackingSolver", constraint.BacktrackingSolver)()
    problem = constraint.Problem(solver)
    for name, values in parameters.items():
        problem.addVariable(name, values)
    for condition in conditions:
        try:
            problem.addConstraint([condition])  # text, which newer versions compile
        except Exception:
            code = compile(condition, "<condition>", "eval")
            names = [name for name in parameters if name in code.co_names]
            function = eval("lambda " + ", ".join(names) + ": " + condition)
            problem.addConstraint(function, names)
    solutions = problem.getSolutions()
    print(len(solutions), time.perf_counter() - start)


main()
