#!/usr/bin/env python3
"""char_gpt, interrupted by Ctrl-C and resumed, on the device of REPRISE_DEVICE.

    tests/samples/char_gpt_test.py <program> <text>"""
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = TEXT = ""
SECONDS = 300  # for one run of the program


class Resume(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, out, *options):
        size = ["--features=32", "--layers=1", "--batch=3", "--epochs=100", "--sentences=1", "--longest=8"]
        return [PROGRAM, *size, f"--text={TEXT}", f"--out={self.folder / out}", *options]

    def run_sample(self, out, *options):
        return subprocess.run(self.command(out, *options), capture_output=True, text=True, check=False, timeout=SECONDS)

    def weights(self, out):
        return (self.folder / out / "char_gpt.safetensors").read_bytes()

    def test_gives_the_bits_of_an_undisturbed_run(self):
        straight = self.run_sample("straight", "--precision=f16")
        self.assertEqual((straight.returncode, straight.stderr), (0, ""))
        with subprocess.Popen(self.command("resumed", "--precision=f16"), stdout=subprocess.PIPE, text=True) as run:
            self.addCleanup(run.kill)
            for line in run.stdout:
                if line.startswith("epoch 1:"):
                    run.send_signal(signal.SIGINT)
                    break
            rest, _ = run.communicate(timeout=SECONDS)
        self.assertEqual(run.returncode, 130, rest)
        self.assertIn("--resume goes on", rest)
        self.assertNotEqual(self.weights("resumed"), self.weights("straight"))
        resumed = self.run_sample("resumed", "--precision=f16", "--resume")
        self.assertEqual((resumed.returncode, resumed.stderr), (0, ""))
        self.assertEqual(self.weights("resumed"), self.weights("straight"))
        written = re.compile("^>.*$", re.MULTILINE)
        self.assertEqual(written.findall(resumed.stdout), written.findall(straight.stdout))
        other = self.run_sample("resumed", "--resume")
        self.assertEqual(other.returncode, 1)
        self.assertRegex(other.stderr, "of another run.*f16.*this one:.*f32")


if __name__ == "__main__":
    PROGRAM, TEXT = sys.argv.pop(1), sys.argv.pop(1)
    unittest.main()
