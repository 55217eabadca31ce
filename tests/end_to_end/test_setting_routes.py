"""Ways to set clocks and power limits where users may not, and the voltage at each clock, on simulated GPUs."""

import json
import os
import signal
import subprocess
import sys
import time
import unittest

import harness
from settings_harness import BOARD, DEVICE, LIBRARY, UNTOUCHED, Settings, remove_machine


class Voltage(Settings):
    """The simulated A100 tells its voltage, an H200 has none."""

    def voltages(self, *arguments, budget="12", **options):
        stdout, stderr = self.tune("--allow-settings", "--json", *arguments, budget=budget, **options)
        self.assertEqual(BOARD.settings(), UNTOUCHED)
        good = [e for e in json.loads(stdout)["evaluations"] if e["outcome"] == "ok"]
        self.assertGreater(len(good), 0)
        found = {}
        for evaluation in good:
            quantity = evaluation["quantities"].get("voltage")
            if quantity is not None:
                self.assertEqual(quantity["unit"], "V")
                found.setdefault(evaluation["configuration"]["nvml_gr_clock"], set()).add(round(quantity["value"], 6))
        return found, stderr

    def test_is_recorded_once_for_each_clock(self):
        found, stderr = self.voltages(clocks="900,1410")
        self.assertEqual(found.get(900), {0.7125})
        self.assertLessEqual(found.get(1410, {0.9125}), {0.9125})  # energy need not be measured there: it is hopeless
        self.assertNotIn("voltage is not recorded", stderr)
        self.assertTrue(any("voltage" in line["quantities"] for line in self.evaluations()))

    def script(self, text):
        script = self.folder / "voltage.sh"
        script.write_text("#!/bin/sh\n" + text)
        script.chmod(0o755)
        return str(script)

    def test_command_of_the_users_own_is_run_once_for_each_clock(self):
        log = self.folder / "calls"
        found, _ = self.voltages("--voltage-command", f"{self.script(f'echo $1 >>{log}; echo 0.8 V')} '{{uuid}}'",
                                 clocks="600,900")
        self.assertLessEqual({value for values in found.values() for value in values}, {0.8})
        calls = log.read_text().split()
        self.assertEqual(len(calls), len(found))
        self.assertTrue(all(call.startswith("GPU-513d513d") for call in calls), calls)

    def test_none_and_boards_without_it(self):
        found, stderr = self.voltages("--voltage-command", "none")
        self.assertEqual(found, {})
        self.output = self.folder / "n-a"
        found, stderr = self.voltages("--voltage-command", self.script("echo N/A"))
        self.assertEqual(found, {})
        self.assertNotIn("voltage is not recorded", stderr)

    def test_command_that_fails_or_hangs_costs_one_warning(self):
        for name, text, words in (("fails", "echo no such board >&2; exit 3", "exited with code 3: no such board"),
                                  ("garbage", "echo hello", "'hello' is no voltage in mV or V"),
                                  ("hangs", "sleep 1000", "did not end within 10 s")):
            self.output = self.folder / name
            found, stderr = self.voltages("--voltage-command", self.script(text), budget="6")
            self.assertEqual(found, {})
            self.assertIn(words, stderr)
            self.assertEqual(stderr.count("the voltage is not recorded"), 1, stderr)

    def test_command_that_cannot_be_read_is_a_usage_error(self):
        _, stderr = self.tune("--allow-settings", "--voltage-command", "'a", code=2)
        self.assertIn("--voltage-command: a quotation mark", stderr)

    def test_metrics_may_use_it(self):
        for file in harness.GEMM.parent.iterdir():
            (self.folder / file.name).write_bytes(file.read_bytes())
        problem = json.loads(harness.GEMM.read_text())
        problem.setdefault("wattune", {}).setdefault("Metrics", []).append(
            {"Name": "current", "Expression": "power / voltage", "Unit": "A"})
        path = self.folder / "problem.json"
        path.write_text(json.dumps(problem))
        stdout, _ = self.wattune("tune", path, "--device", DEVICE, "--problem-size", "1024,1024,1024", "--budget", "4",
                                 "--allow-settings", "--clocks", "900", "-o", self.output, "--json", "--minimize", "energy")
        good = [e for e in json.loads(stdout)["evaluations"] if e["outcome"] == "ok" and "power" in e["quantities"]]
        self.assertGreater(len(good), 0)
        quantities = good[0]["quantities"]
        self.assertAlmostEqual(quantities["current"]["value"], quantities["power"]["value"] / 0.7125, places=6)


SETTER = """
import ctypes, os, sys
os.environ["WATTUNE_SIM_USER"] = "root"
nvml = ctypes.CDLL(os.environ["TEST_LIBRARY"])
nvml.nvmlInit_v2()
device = ctypes.c_void_p()

def apply(uuid, setting, value):
    assert nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(device)) == 0
    if setting == "sm_clock":
        clock = int(float(value)) if value else 0
        return nvml.nvmlDeviceSetGpuLockedClocks(device, clock, clock) if clock else nvml.nvmlDeviceResetGpuLockedClocks(device)
    return nvml.nvmlDeviceSetPowerManagementLimit(device, round(1000 * float(value)))
"""


class Routes(Settings):
    """Ways to permission that are not NVML's own, for a user who may set nothing."""

    def setUp(self):
        super().setUp()
        self.user = {"WATTUNE_SIM_USER": "user", "TEST_LIBRARY": str(LIBRARY),
                     "WATTUNE_SETTINGS_SOCKET": str(self.folder / "nobody")}
        self.log = self.folder / "log"

    def commands(self, seconds=0):
        """A site's own command, and what tells wattune about it. Setting takes so long, and is logged at the end."""
        script = self.folder / "site.py"
        script.write_text(f"#!/usr/bin/env python3\n{SETTER}\nimport time\nopen('{self.log}.begun', 'a').write(sys.argv[3])\n"
                          f"time.sleep({seconds} if sys.argv[1] == 'set' else 0)\nresult = apply(*sys.argv[2:5])\n"
                          f"open('{self.log}', 'a').write(' '.join(sys.argv[1:]) + '\\n')\nsys.exit(result)\n")
        script.chmod(0o755)
        return ("--settings-command", f"{script} set {{uuid}} {{setting}} {{value}}",
                "--settings-reset-command", f"{script} reset {{uuid}} {{setting}} '{{value}}'")

    def calls(self):
        return [line.split() for line in self.log.read_text().splitlines()]

    def test_command_of_the_site_sets_and_puts_back(self):
        _, stderr = self.tune("--allow-settings", *self.commands(), "--power-limits", "200", environment=self.user)
        self.assertIn("set by settings command", stderr)
        self.assertEqual(BOARD.settings(), UNTOUCHED)
        calls = self.calls()
        self.assertIn(["power_limit", "200"], [call[2:] for call in calls if call[0] == "set"])
        self.assertEqual({call[2] for call in calls if call[0] == "reset"}, {"sm_clock", "power_limit"})
        self.assertTrue(all(call[1].startswith("GPU-513d513d") for call in calls))

    def test_kill_of_the_run_puts_back_by_the_reset_command(self):
        process = self.start_run(*self.commands(), environment=self.user)
        self.assertTrue(self.wait_for_change(process))
        process.kill()
        self.assert_put_back(5)  # each call is a process of its own
        self.assertEqual(self.calls()[-1][0], "reset")

    def test_restore_uses_the_reset_command_that_was_noted(self):
        process = self.start_run(*self.commands(), environment=self.user)
        self.assertTrue(self.wait_for_change(process))
        self.kill([*self.child(process, "settings-server"), *harness.children(process.pid), process.pid])
        process.wait()
        self.assertNotEqual(BOARD.settings(), UNTOUCHED)
        self.wattune("restore", environment=self.user)
        self.assertEqual(BOARD.settings(), UNTOUCHED)
        self.assertEqual(self.calls()[-1][0], "reset")

    def test_restore_waits_for_a_command_that_a_killed_server_had_begun(self):
        process = self.start_run(*self.commands(seconds=2), environment=self.user)
        begun = self.folder / "log.begun"
        deadline = time.monotonic() + 120
        while not begun.exists() or "sm_clock" not in begun.read_text():
            self.assertLess(time.monotonic(), deadline, "no command began that sets the clock")
            time.sleep(0.01)
        others = [pid for pid, command in harness.children(process.pid).items() if "site.py" not in command]
        self.kill([*others, process.pid])
        process.wait()
        self.assertEqual(BOARD.settings(), UNTOUCHED)  # nothing is set yet
        self.wattune("restore", environment=self.user)
        self.assertEqual([call[0] for call in self.calls() if call[2] == "sm_clock"], ["set", "reset"])
        self.assertEqual(BOARD.settings(), UNTOUCHED)

    def test_command_that_fails_ends_the_run_with_what_it_said(self):
        _, stderr = self.tune("--allow-settings", "--settings-command", "sh -c 'echo ask the operators >&2; exit 1' {value}",
                              "--settings-reset-command", "true", environment=self.user, code=1)
        self.assertIn("ask the operators", stderr + json.dumps(self.evaluations()))

    def test_faulty_commands_are_usage_errors(self):
        _, stderr = self.tune("--allow-settings", "--settings-command", "set {value}", environment=self.user, code=2)
        self.assertIn("--settings-command is given without --settings-reset-command", stderr)
        _, stderr = self.tune("--allow-settings", "--settings-command", "set", "--settings-reset-command", "reset",
                              environment=self.user, code=2)
        self.assertIn("has no {value}", stderr)

    def test_read_only_forbids_commands_and_daemons_too(self):
        _, stderr = self.tune("--allow-settings", *self.commands(), environment={**self.user, "WATTUNE_READ_ONLY": "1"},
                              code=3)
        self.assertIn("WATTUNE_READ_ONLY=1", stderr)
        self.assertFalse(self.log.exists())

    def start_zeusd(self, discover=None, forbid=False):
        """A stand-in that answers as zeusd does, and sets the simulated board."""
        socket = self.folder / "zeusd.sock"
        script = self.folder / "zeusd.py"
        script.write_text(SETTER + f"""
import http.server, json, socketserver, urllib.parse
UUID = "{self.uuid()}"
DISCOVER = {discover!r} or {{"gpus": [{{"id": 3, "name": "A100", "pci_address": "{self.pci()}"}}],
                            "enabled_api_groups": ["gpu-control"]}}

class Handler(http.server.BaseHTTPRequestHandler):
    def reply(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        self.reply(200, DISCOVER) if self.path == "/discover" else self.reply(404, {{}})

    def do_POST(self):
        open("{self.log}", "a").write(self.path + "\\n")
        url = urllib.parse.urlparse(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        if {forbid}:
            return self.reply(403, {{"errors": {{"3": "No permission"}}}})
        assert query["gpu_ids"] == "3" and query["block"] == "true"
        call = url.path.removeprefix("/gpu/")
        if call == "set_power_limit":
            result = apply(UUID, "power_limit", int(query["power_limit_mw"]) / 1000)
        elif call == "set_gpu_locked_clocks":
            assert query["min_clock_mhz"] == query["max_clock_mhz"]
            result = apply(UUID, "sm_clock", query["min_clock_mhz"])
        else:
            assert call == "reset_gpu_locked_clocks"
            result = apply(UUID, "sm_clock", "")
        self.reply(200 if result == 0 else 500, {{}})

    def address_string(self):
        return "client"

    def log_message(self, *arguments):
        pass

class Server(socketserver.UnixStreamServer):
    def get_request(self):
        return super().get_request()[0], ("client", 0)

Server("{socket}", Handler).serve_forever()
""")
        daemon = subprocess.Popen([sys.executable, script], env={**os.environ, "TEST_LIBRARY": str(LIBRARY)})
        self.addCleanup(daemon.wait)
        self.addCleanup(daemon.kill)
        deadline = time.monotonic() + 30
        while not socket.exists():
            self.assertLess(time.monotonic(), deadline)
            self.assertIsNone(daemon.poll())
            time.sleep(0.01)
        self.user["WATTUNE_SIM_ZEUSD"] = str(socket)

    def board(self):
        stdout, _ = self.wattune("devices", "--device", "sim:all", "--json")
        return json.loads(stdout)["devices"][0]

    def uuid(self):
        return self.board()["uuid"]

    def pci(self):
        return self.board()["pci"]

    def test_zeusd_sets_and_puts_back(self):
        self.start_zeusd()
        _, stderr = self.tune("--allow-settings", "--power-limits", "200", environment=self.user)
        self.assertIn("set by zeusd", stderr)
        self.assertEqual(BOARD.settings(), UNTOUCHED)
        log = self.log.read_text()
        for call in ("set_gpu_locked_clocks", "reset_gpu_locked_clocks", "power_limit_mw=200000", "power_limit_mw=250000"):
            self.assertIn(call, log)

    def test_kill_of_the_run_puts_back_by_zeusd(self):
        self.start_zeusd()
        process = self.start_run(environment=self.user)
        self.assertTrue(self.wait_for_change(process))
        process.kill()
        self.assert_put_back()

    def test_zeusd_that_may_not_is_no_way(self):
        self.start_zeusd(forbid=True)
        _, stderr = self.tune("--allow-settings", environment=self.user, code=3)
        self.assertIn("zeusd refused set_power_limit (status 403)", stderr)

    def test_zeusd_of_other_boards_or_without_control_is_no_way(self):
        for discover, words in (({"gpus": [{"id": 0, "pci_address": "0000:99:00.0"}]}, "does not have this board"),
                                ({"gpu_ids": [0], "enabled_api_groups": ["gpu-read"]}, "without gpu-control")):
            self.start_zeusd(discover=discover)
            _, stderr = self.tune("--allow-settings", environment=self.user, code=3)
            self.assertIn(words, stderr)
            (self.folder / "zeusd.sock").unlink()

    def test_devices_print_the_ways_and_what_to_ask_for(self):
        stdout, _ = self.wattune("devices", "--device", "sim:all", environment=self.user)
        for words in ("What it would take", "locked clocks: needs root", "application clocks: only root",
                      "wattuned: no server listens", "zeusd: ", "settings command: none is given"):
            self.assertIn(words, stdout)
        commands = dict(zip(("WATTUNE_SETTINGS_COMMAND", "WATTUNE_SETTINGS_RESET_COMMAND"), self.commands()[1::2]))
        stdout, _ = self.wattune("devices", "--device", "sim:all", "--json", environment={**self.user, **commands})
        may_set = json.loads(stdout)["devices"][0]["may_set"]
        self.assertEqual((may_set["sm_clock"], may_set["power_limit"], may_set["route"]), (True, True, "settings command"))
        self.assertEqual([route["name"] for route in may_set["routes"]],
                         ["locked clocks", "application clocks", "wattuned", "zeusd", "settings command"])

def tearDownModule():
    remove_machine()


if __name__ == "__main__":
    unittest.main(verbosity=2)
