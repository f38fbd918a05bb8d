"""Completes the stubs that nanobind has written, in place, for type checkers.

    python3 python/generate/stubs.py FOLDER

FOLDER has _core/.  Running it again changes nothing.
"""

import re
import sys
from pathlib import Path

BUILTINS = ("float", "int", "bool")
# The package has modules of these names, in whose place are not those of _core.
PACKAGE_MODULES = ("nn", "optim", "train", "functional", "init")
ERROR = '''

class Error(RuntimeError):
    """The exception that the library raises; `kind` says what went wrong."""

    kind: ErrorKind
'''


def with_builtins(text: str) -> str:
    """Writes builtins.float for the type in classes whose members have its name, as x.float()."""
    parts = re.split(r"(?m)^(?=class )", text)
    for i, part in enumerate(parts):
        names = [n for n in BUILTINS if re.search(rf"(?m)^    (def {n}\(|{n}( =|:))", part)]
        if not part.startswith("class ") or not names:
            continue
        pattern = rf"((?<=: )|(?<=\| )|(?<=> )|(?<=, )|(?<=\[))({'|'.join(names)})\b"
        texts = re.split(r'(""".*?""")', part, flags=re.S)  # at odd places are docstrings
        texts[::2] = [re.sub(pattern, r"builtins.\2", t) for t in texts[::2]]
        parts[i] = "".join(texts)
    out = "".join(parts)
    return after_docstring(out, "import builtins\n") if "builtins." in out else out


def after_docstring(text: str, line: str) -> str:
    if re.search(rf"(?m)^{line.strip()}$", text):
        return text
    found = re.match(r'""".*?"""\n', text, re.S)
    at = found.end() if found else 0
    return text[:at] + "\n" + line + text[at:]


def without_modules(text: str) -> str:
    """Leaves out imports of modules that the package has itself."""

    def shortened(found: re.Match) -> str:
        names = [n.strip() for n in found[2].strip("()").split(",")]
        kept = [n for n in names if n and n.split(" ")[0] not in PACKAGE_MODULES]
        return f"{found[1]}{', '.join(kept)}\n" if kept else ""

    text = re.sub(r"(?m)^(from reprise\._core(?:\.nn)? import )(\([^)]*\)|[^(\n]*)\n", shortened, text)
    for name in PACKAGE_MODULES:
        if re.search(rf"(?<=[ \[]){name}\.[A-Z]", text):  # the type of an argument
            text = re.sub(rf"(?<=[ \[]){name}\.(?=[A-Z])", f"reprise._core.{name}.", text)
            text = after_docstring(text, f"import reprise._core.{name}\n")
    return text


def complete(text: str) -> str:
    text = without_modules(text)
    if "from reprise import Error as Error\n" in text:
        text = text.replace("from reprise import Error as Error\n", "").rstrip() + "\n" + ERROR
    return with_builtins(text)


def main() -> None:
    for path in Path(sys.argv[1]).rglob("*.pyi"):
        text = path.read_text()
        completed = complete(text)
        if completed != text:
            path.write_text(completed)


if __name__ == "__main__":
    main()
