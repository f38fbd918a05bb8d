#!/usr/bin/env python3
"""The demo as a person runs it, on a tiny data set of its own and on the device of REPRISE_DEVICE.

    tests/samples/fashion_mnist_test.py <program>"""
import gzip
import json
import math
import os
import pathlib
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

PROGRAM = ""
SECONDS = 300  # for one run of the program
PARAMETERS = 421_642


def idx(sizes, elements):
    return bytes([0, 0, 8, len(sizes)]) + struct.pack(f">{len(sizes)}I", *sizes) + elements


def image(label, number):
    """28 x 28 pixels: one bright band a class, and a little of its own."""
    pixels = bytearray(28 * 28)
    for column in range(28):
        pixels[28 * (2 * label + 4) + column] = 255
    pixels[number % len(pixels)] = 128
    return bytes(pixels)


def write_data(folder, train=24, test=10):
    for part, count in (("train", train), ("t10k", test)):
        labels = bytes(i % 10 for i in range(count))
        images = b"".join(image(label, i) for i, label in enumerate(labels))
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(idx([count], labels))
        with gzip.open(folder / f"{part}-images-idx3-ubyte.gz", "wb") as file:
            file.write(idx([count, 28, 28], images))


def read_safetensors(path):
    """{name: its floats}; fails where the file is not whole."""
    content = path.read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8:8 + length]), content[8 + length:]
    assert max(entry["data_offsets"][1] for entry in header.values()) == len(data), "the file is not whole"
    return {name: struct.unpack(f"<{math.prod(entry['shape'])}f", data[slice(*entry["data_offsets"])])
            for name, entry in header.items()}


class Demo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.data, self.out = pathlib.Path(folder.name, "data"), pathlib.Path(folder.name, "out")
        self.data.mkdir()
        self.out.mkdir()
        self.weights = self.out / "fashion_mnist.safetensors"
        write_data(self.data)

    def command(self, *arguments):
        folders = {"--data": self.data, "--out": self.out}
        given = [PROGRAM, *map(str, arguments)]
        return given + [f"{option}={folder}" for option, folder in folders.items() if option not in given]

    def check_silence(self, *texts):
        for text in texts:
            self.assertNotIn("Validation Error", text)

    def run_demo(self, *arguments, **environment):
        run = subprocess.run(self.command(*arguments), capture_output=True, text=True, check=False, timeout=SECONDS,
                             env={**os.environ, **environment})
        self.check_silence(run.stdout, run.stderr)
        return run

    def listing(self):
        return {path.name: path.read_bytes() for path in self.out.iterdir() if path.is_file()}

    def test_trains(self):
        run = self.run_demo("--epochs", 1, "--batch", 8, "--train-limit", 20, "--seed", 3)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertRegex(run.stdout, r"Test accuracy: \d+\.\d+ %")
        self.assertEqual(sorted(self.listing()),
                         ["checkpoint.safetensors", "fashion_mnist.safetensors", "metrics.json", "training.svg"])
        metrics = json.loads((self.out / "metrics.json").read_text())
        self.assertTrue(0 <= metrics["test_accuracy"] <= 1)
        self.assertTrue(metrics["device"])
        self.assertIn(f"Device: {metrics['device']}", run.stdout)
        self.assertEqual(metrics["parameters"], PARAMETERS)
        self.assertEqual(len(metrics["losses"]), 3)  # 8, 8 and 4 images
        self.assertTrue(all(math.isfinite(loss) for loss in metrics["losses"]))
        self.assertEqual(xml.etree.ElementTree.parse(self.out / "training.svg").getroot().tag.split("}")[-1], "svg")
        weights = read_safetensors(self.weights)
        self.assertEqual(sum(map(len, weights.values())), PARAMETERS)
        self.assertTrue(all(math.isfinite(value) for values in weights.values() for value in values))

    def refused(self, status, says, *arguments, **environment):
        """The program ends with the status and one sentence, and the results of an earlier run are as they were."""
        self.weights.write_bytes(b"weights of an earlier run")
        (self.out / "metrics.json").write_text("{}")
        before = self.listing()
        run = self.run_demo(*arguments, **environment)
        self.assertEqual(run.returncode, status, run.stderr)
        self.assertRegex(run.stderr, says)
        lines = run.stderr.strip().splitlines()
        self.assertEqual(len(lines), 1 if status == 1 else 2, run.stderr)  # usage: where help is to be had
        self.assertEqual(self.listing(), before)

    def test_refuses_wrong_options(self):
        for option, value in (("--epochs", "0"), ("--epochs", "many"), ("--batch", "-1"), ("--batch", "1e3"),
                              ("--seed", "-1"), ("--train-limit", "0")):
            self.refused(2, rf"{option}.*\({re.escape(value)}\).*whole number", f"{option}={value}")
        self.refused(2, "--colour", "--colour=red")

    def test_refuses_unknown_devices(self):
        self.refused(1, r"\(toaster\)", "--device", "toaster")
        self.refused(1, r"\(vulkan:99\)", "--device", "vulkan:99")
        self.refused(1, r"\(toaster\)", REPRISE_DEVICE="toaster")

    def test_refuses_data_that_is_not_there(self):
        self.refused(1, "nowhere.*dataset-fashion-mnist", "--data", "nowhere")
        (self.data / "t10k-labels-idx1-ubyte").unlink()
        self.refused(1, "t10k-labels-idx1-ubyte.*dataset-fashion-mnist")

    def test_refuses_wrong_data(self):
        labels, images = self.data / "train-labels-idx1-ubyte", self.data / "train-images-idx3-ubyte.gz"
        for path, change, says in (
                (labels, lambda content: content[:-1], "truncated"),
                (labels, lambda content: content[:5], "truncated"),
                (labels, lambda _: b"", "truncated"),
                (labels, lambda content: content[:-1] + b"\x0a", "label"),
                (labels, lambda content: idx([3], b"\0\0\0"), "belong together"),
                (labels, lambda _: b"no data at all", "no IDX file"),
                (images, lambda content: content[:-40], "truncated"),
                (images, lambda content: content[:-8] + bytes(4) + content[-4:], "can't be read"),  # its checksum
                (images, lambda _: gzip.compress(idx([24, 1, 1], bytes(24))), "28 x 28")):
            before = path.read_bytes()
            path.write_bytes(change(before))
            self.refused(1, f"{path.name}.*{says}")
            path.write_bytes(before)

    def test_refuses_folders_that_can_not_be_written(self):
        file = self.data / "file"
        file.write_text("")
        self.refused(1, re.escape(f"({file})"), "--out", file)
        self.refused(1, re.escape(f"({file / 'below'})"), "--out", file / "below")
        self.refused(1, "can't be", "--out", self.data / ("long" * 100))
        for name in ("fashion_mnist.safetensors", "training.svg", "metrics.json"):  # before the training
            taken = self.data / "out"
            (taken / name).mkdir(parents=True)
            self.refused(1, f"{name}.*directory", "--out", taken)
            self.assertEqual([path.name for path in taken.iterdir()], [name])
            shutil.rmtree(taken)

    def interrupt(self, when, *arguments):
        """Ctrl-C at the first line of output that matches; gives what the program said until its end."""
        with subprocess.Popen(self.command(*arguments), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True) as demo:
            self.addCleanup(demo.kill)
            lines = []
            for line in demo.stdout:
                lines.append(line)
                if re.match(when, line):
                    demo.send_signal(signal.SIGINT)
                    break
            rest, errors = demo.communicate(timeout=SECONDS)
        self.check_silence(*lines, rest, errors)
        self.assertEqual((demo.returncode, errors), (130, ""), lines)
        self.assertTrue(json.loads((self.out / "metrics.json").read_text())["interrupted"])
        return rest

    def test_interrupt_leaves_the_last_complete_weights(self):
        rest = self.interrupt("epoch 1/1000000: test", "--epochs", 1_000_000, "--batch", 2)
        complete = int(re.search(r"the weights of epoch (\d+) are in", rest)[1])
        self.assertEqual(sorted(self.listing()),
                         ["checkpoint.safetensors", "fashion_mnist.safetensors", "metrics.json", "training.svg"])
        self.assertEqual(sum(map(len, read_safetensors(self.weights).values())), PARAMETERS)
        self.assertEqual(len(json.loads((self.out / "metrics.json").read_text())["test_accuracies"]), complete)

    def test_interrupt_of_the_first_epoch_leaves_what_was_there(self):
        write_data(self.data, train=2000)
        self.weights.write_bytes(b"weights of an earlier run")
        rest = self.interrupt("Device: ", "--batch", 1)
        self.assertIn("no weights were written", rest)
        self.assertEqual(self.weights.read_bytes(), b"weights of an earlier run")

    def test_resume_gives_the_bits_of_an_undisturbed_run(self):
        write_data(self.data, train=20)
        options = ["--epochs", 2, "--batch", 2]
        straight = self.run_demo(*options)
        self.assertEqual((straight.returncode, straight.stderr), (0, ""))
        weights, metrics = self.weights.read_bytes(), json.loads((self.out / "metrics.json").read_text())
        shutil.rmtree(self.out)
        self.interrupt("Recorded: ", *options)
        resumed = self.run_demo(*options, "--resume")
        self.assertEqual((resumed.returncode, resumed.stderr), (0, ""))
        self.assertEqual(self.weights.read_bytes(), weights)
        for name in ("losses", "test_accuracies"):
            self.assertEqual(json.loads((self.out / "metrics.json").read_text())[name], metrics[name])
        self.refused(1, "of another run.*seed 0; this one:.*seed 6", *options, "--seed", 6, "--resume")


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
