"""The code of docs/python.md runs."""

import pathlib
import re

import numpy as np
import pytest

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.md"


def blocks():
    return re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.S)


def test_the_training_loop(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    loader = [(np.ones((n, 1, 28, 28), np.float32), np.arange(n, dtype=np.int32) % 10) for n in (4, 2, 3)]
    exec(compile(blocks()[0], str(PAGE), "exec"), {"loader": loader})
    assert len(capsys.readouterr().out.split()) == 3 and (tmp_path / "net.safetensors").exists()


def test_the_exchange_of_arrays():
    torch = pytest.importorskip("torch", reason="PyTorch is not installed")
    exec(
        compile(blocks()[1], str(PAGE), "exec"),
        {"array": np.ones(3, np.float32), "torch": torch, "rp": __import__("reprise")},
    )
