"""Validates the project's problem files against docs/problem-schema.json, and checks that the schema refuses what the
reader refuses. Exit status 77 (skipped) without python3-jsonschema."""

import copy
import json
import pathlib
import sys

try:
    import jsonschema
except ImportError:
    print("skipped: the Python module jsonschema is missing (Debian: python3-jsonschema)")
    sys.exit(77)

root = pathlib.Path(sys.argv[1])
schema = json.loads((root / "docs/problem-schema.json").read_text())
jsonschema.Draft7Validator.check_schema(schema)
validator = jsonschema.Draft7Validator(schema)
faults = 0


def fault(message):
    global faults
    faults += 1
    print(message)


def problem_files():
    for pattern in ("kernels/*/problem.json", "tests/*/problems/*.json", "tests/*/problems/*/problem.json",
                    "tests/problem/data/*.json"):
        yield from sorted(root.glob(pattern))


def changed(base, path, value):
    """A copy of `base` with the value at `path` replaced, or removed where it is None."""
    result = copy.deepcopy(base)
    node = result
    for key in path[:-1]:
        node = node[key]
    if value is None:
        del node[path[-1]]
    else:
        node[path[-1]] = value
    return result


files = list(problem_files())
for file in files:
    additions = json.loads(file.read_text()).get("wattune", {})
    for error in validator.iter_errors(additions):
        where = ".".join(["wattune"] + [str(part) for part in error.absolute_path])
        fault(f"{file.relative_to(root)}: {where}: {error.message}")

full = json.loads((root / "tests/problem/data/every_addition.json").read_text())["wattune"]
refused = [
    (["Objectivs"], []),
    (["Observers"], {}),
    (["Observers"], ["a", "a"]),
    (["Observers"], [""]),
    (["LaunchFunction"], ""),
    (["LaunchFunction"], ["a"]),
    (["DeviceSettings"], {}),
    (["Steps"], []),
    (["Sources", 0, "Language"], "HIP"),
    (["Sources", 0, "KernelFile"], None),
    (["Defines", "A B"], 1),
    (["Defines", "WIDTH"], True),
    (["Kinds", "FAST"], "runtime"),
    (["Arguments", "y", "Reset"], "clear"),
    (["Arguments", "y", "Range"], [1]),
    (["Arguments", "y", "Offset"], -1),
    (["Arguments", "y", "Rset"], "zero"),
    (["Workload", "Flops"], 1),
    (["Metrics", 0, "Expression"], None),
    (["Objectives", 0, "Direction"], "min"),
    (["Verification", "Reference"], {}),
    (["Verification", "Reference", "Host"], "also"),
    (["Verification", "Reference", "Kernel", "GridSize"], []),
    (["Verification", "Reference"], {"Data": {"y": {"FillType": "BinaryHDF"}}}),
    (["Verification", "AbsoluteTolerance"], -1),
]
for path, value in refused:
    if validator.is_valid(changed(full, path, value)):
        fault(f"accepted: {'.'.join(map(str, path))} = {value}")

if len(files) < 2:
    fault("there are no problem files to check")
print(f"{len(files)} problem files, {len(refused)} faulty variants, {faults} faults")
sys.exit(1 if faults else 0)
