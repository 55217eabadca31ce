"""What the end-to-end tests share: they run the command as a user would, in folders of their own."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

WATTUNE = os.environ["WATTUNE"]
SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROBLEMS = pathlib.Path(__file__).resolve().parent / "problems"
GEMM = SOURCE / "kernels" / "gemm" / "problem.json"


class CommandTest(unittest.TestCase):
    """Each test has an empty folder, self.folder."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="wattune-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def wattune(self, *arguments, code=0, timeout=250, environment=None):
        """Runs the command, checks its exit code, returns (stdout, stderr)."""
        done = subprocess.run([WATTUNE, *map(str, arguments)], capture_output=True, text=True, timeout=timeout,
                              env={**os.environ, **(environment or {})}, check=False)
        self.assertEqual(done.returncode, code, f"{arguments}\n{done.stdout[-2000:]}\n{done.stderr[-4000:]}")
        return done.stdout, done.stderr

    def start(self, *arguments, environment=None):
        """Starts the command without waiting for it."""
        process = subprocess.Popen([WATTUNE, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, env={**os.environ, **(environment or {})})
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def copy_problem(self, name="faulty", change=None):
        """A copy of a test problem in the test's folder; `change` edits the parsed JSON. Returns its path."""
        for file in PROBLEMS.glob(f"{name}*"):
            shutil.copy(file, self.folder)
        path = self.folder / f"{name}.json"
        if change:
            problem = json.loads(path.read_text())
            change(problem)
            path.write_text(json.dumps(problem))
        return path

    def journals(self, folder=None):
        return sorted((folder or self.folder / "out").glob("*.jsonl"))

    def journal_lines(self, file):
        """The evaluations of a journal (whole lines after the header)."""
        text = file.read_text()
        lines = text.split("\n")[:-1]
        return [json.loads(line) for line in lines[1:]]

    def wait_for_evaluations(self, count, process, seconds=120):
        """Waits until a journal of the running command holds so many evaluations."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            for file in self.journals():
                if file.read_text().count("\n") > count:
                    return file
            self.assertIsNone(process.poll(), "the command ended early")
            time.sleep(0.01)
        self.fail(f"no {count} evaluations within {seconds} s")


def children(pid):
    """The child processes of a process: {pid: command line}."""
    found = {}
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            stat = (entry / "stat").read_text()
            if int(stat.rsplit(")", 1)[1].split()[1]) == pid:
                found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ")
        except (OSError, IndexError, ValueError):
            pass
    return found


def has_opencl():
    done = subprocess.run([WATTUNE, "devices", "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return False
    return any(device["id"].startswith("opencl:") for device in json.loads(done.stdout)["devices"])


def main():
    """Runs the tests of the calling script; exit code 77 (skipped) where there is no OpenCL device."""
    if not has_opencl():
        print("SKIPPED: no OpenCL device on this machine; install pocl-opencl-icd")
        sys.exit(77)
    unittest.main(verbosity=2)
