"""Full disks, limits and folders that cannot be written: a clear error, and nothing measured is lost."""

import json
import os
import resource
import subprocess
import unittest

import harness


class Disk(harness.CommandTest):
    def command(self, budget, out=None):
        return ["tune", harness.GEMM, "--device", "opencl:0", "--problem-size", "128,128,128", "--seed", "1", "--budget",
                budget, "-o", out or self.folder / "out", "--json"]

    def one_line(self, stderr):
        lines = [line for line in stderr.splitlines() if line.startswith("wattune: ")]
        self.assertEqual(len(lines), 1, stderr)
        return lines[0]

    def goes_on(self, command, file, before):
        """The same command, without what had stopped it, finishes and has lost nothing."""
        stdout, _ = self.wattune(*command)
        result = json.loads(stdout)
        self.assertEqual(result["reused"], len(before))
        self.assertEqual(len(result["evaluations"]), 60)
        self.assertEqual(self.journal_lines(file)[:len(before)], before)

    def test_beyond_the_limit_on_the_size_of_files(self):
        self.wattune(*self.command(3))
        file = self.journals()[0]
        # Empty lines are no damage. They bring the journal near a limit that compilers do not reach.
        size = 64 << 20
        with file.open("a") as journal:
            journal.write("\n" * (size - file.stat().st_size))
        limit = size + 4096
        done = subprocess.run([harness.WATTUNE, *map(str, self.command(60))], capture_output=True, text=True, timeout=250,
                              check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
        self.assertEqual(done.returncode, 1, done.stderr)
        message = self.one_line(done.stderr)
        self.assertIn(str(file), message)
        self.assertIn("ulimit -f", message)
        lines = file.read_text().split("\n")
        self.assertEqual(lines[-1], "")
        before = [json.loads(line) for line in lines[1:] if line]
        self.assertGreater(len(before), 3)
        self.assertEqual(len(json.loads(done.stdout)["evaluations"]), len(before) + 1)  # the last could not be kept
        file.write_text("\n".join([lines[0], *(line for line in lines[1:] if line)]) + "\n")
        self.goes_on(self.command(60), file, before)

    def test_a_full_disk(self):
        out = self.folder / "small"
        out.mkdir()
        if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=32k", "tmpfs", out], check=False,
                                               capture_output=True).returncode != 0:
            self.skipTest("this user may not mount a small tmpfs")
        self.addCleanup(subprocess.run, ["umount", "-l", out], check=False)
        stdout, stderr = self.wattune(*self.command(60, out), code=1)
        message = self.one_line(stderr)
        file = self.journals(out)[0]
        self.assertIn(str(file), message)
        self.assertIn("No space left on device", message)
        before = self.journal_lines(file)
        self.assertGreater(len(before), 3)
        self.assertEqual(len(json.loads(stdout)["evaluations"]), len(before) + 1)
        self.assertTrue(file.read_text().endswith("\n"))
        subprocess.run(["mount", "-o", "remount,size=10m", out], check=True)
        self.goes_on(self.command(60, out), file, before)

    def test_a_read_only_folder(self):
        out = self.folder / "sealed"
        out.mkdir()
        if os.geteuid() == 0:  # whom permissions do not stop
            if subprocess.run(["mount", "-t", "tmpfs", "-o", "ro", "tmpfs", out], check=False,
                              capture_output=True).returncode != 0:
                self.skipTest("this user may not mount a read-only file system")
            self.addCleanup(subprocess.run, ["umount", "-l", out], check=False)
        else:
            out.chmod(0o500)
        _, stderr = self.wattune(*self.command(3, out), code=2)
        self.assertIn(str(out), self.one_line(stderr))

    def test_a_reader_that_goes_away_does_not_stop_the_run(self):
        process = self.start(*self.command(8))
        process.stderr.close()
        process.stdout.close()
        self.assertEqual(process.wait(timeout=250), 0)
        self.assertEqual(len(self.journal_lines(self.journals()[0])), 8)


if __name__ == "__main__":
    harness.main()
