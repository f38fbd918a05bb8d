#!/usr/bin/env python3
"""char_gpt in several processes: the curve of one process, and what happens when one of them is killed.

    tests/samples/char_gpt_mpi_test.py <program> <text> <mpirun> <its option for the number of processes>"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

PROGRAM = TEXT = MPIRUN = COUNT = ""
SECONDS = 300  # for one run of the program


def ranks_below(parent):
    """The processes of PROGRAM that this one has started, by rank."""
    found = {}
    for folder in pathlib.Path("/proc").iterdir():
        try:
            before = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            if before == parent and os.readlink(folder / "exe") == os.path.realpath(PROGRAM):
                environment = (folder / "environ").read_bytes().split(b"\0")
                rank = next(e for e in environment if e.startswith(b"OMPI_COMM_WORLD_RANK="))
                found[int(rank.split(b"=")[1])] = int(folder.name)
        except (OSError, ValueError):
            continue  # no process, or one that has ended
    return found


class Processes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def command(self, ranks, out, *options):
        size = ["--features=32", "--layers=1", "--batch=4", "--epochs=40", "--sentences=1", "--longest=8"]
        launch = [MPIRUN, COUNT, str(ranks)] if ranks > 1 else []
        return [*launch, PROGRAM, *size, f"--text={TEXT}", f"--out={self.folder / out}", *options]

    def run_sample(self, ranks, out, *options):
        run = subprocess.run(self.command(ranks, out, *options), capture_output=True, text=True, check=False,
                             timeout=SECONDS)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def losses(self, out):
        return json.loads((self.folder / out / "metrics.json").read_text())["losses"]

    def weights(self, out):
        return (self.folder / out / "char_gpt.safetensors").read_bytes()

    def test_follows_one_process(self):
        self.run_sample(1, "one")
        for ranks in (2, 4):
            text = self.run_sample(ranks, "several")
            self.assertEqual(text.count("Loss: "), 1, "only rank 0 prints")
            for a, b in zip(self.losses("one")[:50], self.losses("several")[:50], strict=True):
                self.assertAlmostEqual(a, b, delta=2e-5 * a)
            first = self.weights("several")
            self.run_sample(ranks, "several")
            self.assertEqual(first, self.weights("several"), "bits differ from run to run")

    def kill_one_of_two(self, victim, out):
        with subprocess.Popen(self.command(2, out), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as run:
            try:
                for line in run.stdout:
                    if line.startswith("epoch 2:"):
                        os.kill(ranks_below(run.pid)[victim], signal.SIGKILL)
                        break
                run.communicate(timeout=60)
            except BaseException:
                run.kill()  # else the end of `with` would wait for it
                raise
            self.assertNotEqual(run.returncode, 0)

    def test_goes_on_after_a_process_was_killed(self):
        self.run_sample(2, "straight")
        for victim in (0, 1):
            out = f"killed-{victim}"
            self.kill_one_of_two(victim, out)
            self.assertNotEqual(self.weights(out), self.weights("straight"))
            self.run_sample(2, out, "--resume")
            self.assertEqual(self.weights(out), self.weights("straight"))
        # Another number of processes goes on, too.
        self.kill_one_of_two(1, "other")
        self.run_sample(1, "other", "--resume")
        for a, b in zip(self.losses("other"), self.losses("straight"), strict=True):
            self.assertAlmostEqual(a, b, delta=2e-5 * b)


if __name__ == "__main__":
    PROGRAM, TEXT, MPIRUN, COUNT = (sys.argv.pop(1) for _ in range(4))
    unittest.main()
