"""Bad input: one line that names the place, what is wrong and what to do; exit code 2 or 3."""

import harness


class Errors(harness.CommandTest):
    def fails(self, *arguments, code=2, says=(), lines=1, environment=None):
        stdout, stderr = self.wattune(*arguments, code=code, environment=environment)
        self.assertEqual(stdout, "")
        message = [line for line in stderr.splitlines() if line.startswith("wattune: ") and "warning" not in line]
        self.assertEqual(len(message), 1, stderr)
        if lines:
            self.assertLessEqual(len(stderr.splitlines()), lines + 3, stderr)
        for text in says:
            self.assertIn(text, stderr)
        return stderr

    def edited(self, change):
        return self.copy_problem(change=change)

    def test_a_missing_problem_file(self):
        self.fails("tune", self.folder / "none.json", says=["none.json", "No such file"])

    def test_bad_json(self):
        file = self.folder / "bad.json"
        file.write_text('{\n  "General": {,}\n}')
        self.fails("tune", file, says=["bad.json:2"])

    def test_an_unknown_parameter_in_a_restriction(self):
        def change(problem):
            problem["ConfigurationSpace"]["Conditions"][0]["Expression"] = "block_size_z < 4"
        self.fails("tune", self.edited(change), says=["faulty.json", "block_size_z", "Conditions[0]"])

    def test_an_empty_space(self):
        def change(problem):
            problem["ConfigurationSpace"]["Conditions"][0]["Expression"] = "FAULT > 7"
        self.fails("tune", self.edited(change), "--device", "opencl:0", says=["faulty.json", "empty", "FAULT > 7"])

    def test_values_that_are_no_list(self):
        def change(problem):
            problem["ConfigurationSpace"]["TuningParameters"][0]["Values"] = "7"
        self.fails("tune", self.edited(change), says=["faulty.json", "TuningParameters[0].Values", "'7' is no list"])

    def test_a_missing_kernel_file(self):
        def change(problem):
            problem["KernelSpecification"]["KernelFile"] = "gone.cl"
        self.fails("tune", self.edited(change), says=["KernelFile", "gone.cl"])

    def test_no_such_device(self):
        problem = self.copy_problem()
        self.fails("tune", problem, "--device", "opencl:99", "-o", self.folder / "out", code=3, says=["opencl:99"])
        self.fails("tune", problem, "--device", "toaster", says=["toaster", "opencl:0"])

    def test_no_opencl_platform(self):
        empty = self.folder / "vendors"
        empty.mkdir()
        problem = self.copy_problem()
        environment = {"OCL_ICD_VENDORS": str(empty)}
        self.fails("tune", problem, "--device", "opencl:0", "-o", self.folder / "out", code=3, environment=environment,
                   says=["OpenCL", "pocl"])
        self.fails("tune", problem, "-o", self.folder / "out", code=3, environment=environment, says=["OpenCL"])

    def test_an_argument_size_that_overflows(self):
        def change(problem):
            problem["KernelSpecification"]["Arguments"][0]["Size"] = "ProblemSize[0] * 2**60"
        self.fails("tune", self.edited(change), says=["faulty.json", "Arguments[0].Size"])

    def test_an_output_folder_that_cannot_be_written(self):
        blocked = self.folder / "file"
        blocked.write_text("")
        self.fails("tune", self.copy_problem(), "--device", "opencl:0", "-o", blocked / "out", says=[str(blocked)])

    def test_a_kernel_that_never_builds_shows_the_compiler_once(self):
        def change(problem):
            problem["ConfigurationSpace"]["TuningParameters"][0]["Values"] = "[0, 1]"
        problem = self.edited(change)
        kernel = self.folder / "faulty.cl"
        kernel.write_text(kernel.read_text() + "\nthis is not C;\n")
        _, stderr = self.wattune("tune", problem, "--device", "opencl:0", "-o", self.folder / "out", code=2)
        self.assertEqual(stderr.count("unknown type name 'this'"), 1, stderr)
        self.assertIn("faulty.cl", stderr)

    def test_unknown_options_strategies_budgets_and_objectives(self):
        problem = self.copy_problem()
        self.fails("tune", problem, "--frobnicate", says=["--frobnicate"])
        self.fails("tune", problem, "--strategy", "magic", "--device", "opencl:0", says=["magic", "random"])
        self.fails("tune", problem, "--budget", "soon", says=["soon", "10min"])
        self.fails("tune", problem, "--minimize", "beauty", "--device", "opencl:0", says=["beauty", "time"])
        self.fails("tune", problem, "--problem-size", "12,x", says=["12,x"])
        self.fails("tune", says=["PROBLEM"])

    def test_slips_of_the_pen_on_the_command_line(self):
        problem = self.copy_problem()
        self.fails("tune", problem, "--stratgy", "random", says=["no option '--stratgy'; did you mean '--strategy'?", "'wattune tune --help'"])
        self.fails("tune", problem, "--buget=5", says=["no option '--buget'; did you mean '--budget'?"])
        self.fails("space", problem, "extra", says=["'extra' is one argument too many", "'wattune space --help'"])
        self.fails("tun", says=["no command 'tun'; did you mean 'tune'?"])
        self.fails("results", "shw", says=["no command 'wattune results shw'; did you mean 'show'?"])
        self.fails("results", says=["a command is missing: merge, show"])
        self.fails(says=["a command is missing: devices"])

    def test_options_that_would_go_unnoticed(self):
        problem = self.copy_problem()
        self.fails("tune", problem, "--device", "opencl:0", "--clock-width", "10%", says=["--clock-width goes with --clocks ridge or auto"])
        self.fails("tune", problem, "--device", "opencl:0", "--clock-count", "10", says=["--clock-count goes with --clocks ridge or auto"])
        self.fails("tune", problem, "--device", "opencl:0", "--compiler", "auto", says=["--compiler is of CUDA kernels", "opencl:0"])
        self.fails("tune", problem, "--device", "opencl:0", "--base-clock", "900", says=["--base-clock goes with --method"])
        self.fails("tune", problem, "--finalists", "-1", says=["--finalists", "no whole number"])
        self.fails("devices", "--phase-seconds", "2", says=["--phase-seconds", "--probe-table"])
        self.fails("space", problem, "--seed", "0", says=["--seed", "--sample"])
        for option in (["--samples", "10"], ["--two-stage"], ["--voltage-command", "none"], ["--compiler", "auto"]):
            self.fails("calibrate", "--stored", *option, says=["--stored", option[0]])

    def test_energy_where_there_is_no_meter(self):
        self.fails("tune", self.copy_problem(), "--device", "opencl:0", "--minimize", "energy", "-o",
                   self.folder / "out", code=3, says=["energy"])


if __name__ == "__main__":
    harness.main()
