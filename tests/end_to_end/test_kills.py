"""kill -9 of coordinator, worker or compile process at random moments: nothing measured is lost or doubled.

WATTUNE_KILLS sets how many there are."""

import json
import os
import random
import signal
import time

import harness

KILLS = int(os.environ.get("WATTUNE_KILLS", "12"))


class Kills(harness.CommandTest):
    def test_no_evaluation_is_lost_or_doubled(self):
        def change(problem):
            parameters = problem["ConfigurationSpace"]["TuningParameters"]
            parameters[0]["Values"] = "[0]"
            parameters[1]["Values"] = "[2**i for i in range(8)]"
            parameters[1]["Default"] = 1
            parameters.append({"Name": "VARIANT", "Type": "int", "Values": "list(range(12))", "Default": 0})
            problem["ConfigurationSpace"]["Conditions"] = []
        problem = self.copy_problem(change=change)
        kernel = self.folder / "faulty.cl"
        kernel.write_text(kernel.read_text() + "\n// VARIANT makes 12 binaries\nconstant int variant = VARIANT;\n")
        command = ["tune", problem, "--device", "opencl:0", "-o", self.folder / "out", "--seed", "5", "--no-cache"]
        random_source = random.Random(1)
        seen = []
        for kill in range(KILLS):
            process = self.start(*command)
            time.sleep(random_source.uniform(0, 1.5))
            victims = {"coordinator": process.pid}
            for pid, name in harness.children(process.pid).items():
                victims["worker" if "worker-process" in name else "compiler"] = pid
            victim = random_source.choice(sorted(victims))
            try:
                os.kill(victims[victim], signal.SIGKILL)
            except ProcessLookupError:
                pass
            if victim != "coordinator":
                time.sleep(random_source.uniform(0, 0.3))
                process.kill()
            process.wait()
            lines = self.whole_lines()
            self.assertEqual(lines[:len(seen)], seen, f"lost after kill {kill} ({victim})")
            seen = lines
        stdout, stderr = self.wattune(*command, "--json")
        evaluations = json.loads(stdout)["evaluations"]
        self.assertEqual(len(evaluations), 96)
        self.assertEqual({(e["outcome"], e["message"]) for e in evaluations}, {("ok", "")})
        lines = self.whole_lines()
        self.assertEqual(lines[:len(seen)], seen)
        configurations = [json.dumps(json.loads(line)["configuration"], sort_keys=True) for line in lines]
        self.assertEqual(len(configurations), 96)
        self.assertEqual(len(set(configurations)), 96)

    def whole_lines(self):
        journals = self.journals()
        self.assertLessEqual(len(journals), 1)
        if not journals:
            return []
        return journals[0].read_text().split("\n")[1:-1]


if __name__ == "__main__":
    harness.main()
