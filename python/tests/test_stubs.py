"""The stubs: what completes them, and the code of docs/python.md under a type checker."""

import os
import pathlib
import re
import subprocess
import sys

import pytest
import reprise as rp

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python" / "generate"))
from stubs import complete  # noqa: E402

STUB = '''"""A module."""

from reprise import Error as Error
from reprise._core import (
    linalg as linalg,
    nn as nn
)

class DType(enum.Enum):
    bool = 9

class Tensor:
    def float(self) -> Tensor:
        """As a float."""

    def f(self, a: float = 1.0, b: int | float | None = None) -> tuple[float, int]: ...

class Other:
    def f(self, a: optim.SGD, b: float) -> float: ...
'''

USE = """
import numpy as np
import reprise.nn.functional as F
from reprise.optim.lr_scheduler import StepLR

logits: rp.Tensor = net(rp.ones(1, 1, 28, 28)).float()
total: rp.Tensor = logits * 2 + np.ones(10) - F.relu(logits)
try:
    net.w = nn.Parameter(rp.ones(3))
except rp.Error as e:
    print(e.kind)
StepLR(opt, 1).step()
net.fc.weight = nn.Embedding(10, 6272).weight
features: int = net.fc.in_features
sizes: tuple[int, ...] = net.conv.kernel_size
a: rp.Tensor = rp.record(lambda x: x * 2, [rp.spec([2])])(total)
nn.utils.clip_grad_norm_(net.eval().parameters(), 1.0)
logits.no_such_method()
"""


def test_stubs_are_completed_once():
    text = complete(STUB)
    assert complete(text) == text and "import builtins\n" in text and "class Error(RuntimeError):" in text
    assert "nn as nn" not in text and "from reprise._core import linalg as linalg\n" in text
    assert "a: builtins.float = 1.0, b: int | builtins.float | None" in text
    assert "b: float) -> float" in text and "a: reprise._core.optim.SGD" in text and "    bool = 9" in text
    assert '"""As a float."""' in text


def test_the_documented_code_has_types(tmp_path):
    pytest.importorskip("mypy", reason="mypy is not installed")
    package = pathlib.Path(rp.__file__).parent
    if not (package / "_core" / "__init__.pyi").exists():
        pytest.skip("the package was built without stubs")
    code = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "python.md").read_text(), re.S)[0]
    file = tmp_path / "use.py"
    file.write_text("from typing import Any\nloader: Any = []\n" + code + USE)
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", tmp_path / "cache", "--follow-imports=silent", file],
        capture_output=True,
        text=True,
        env={**os.environ, "MYPYPATH": str(package.parent)} if "site-packages" not in str(package) else None,
    )
    found = [line.split(": ", 1)[1] for line in done.stdout.splitlines() if "use.py" in line and "error" in line]
    assert len(found) == 1 and "no_such_method" in found[0], done.stdout  # that of the last line
