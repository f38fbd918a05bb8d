"""What scripts/check_compilers and scripts/check_accesses share: limits of figures of kernels, and tables of them.

A file of limits has rows of a place (where the figure was measured), kernels, a figure, a limit and a reason.  A * stands
for any text, and commas separate patterns.  The last row that matches a figure holds for it; a row that allows more than
the one before it, and no longer has to, is an error."""
import collections
import fnmatch
import re
import sys

Row = collections.namedtuple("Row", "text places kernels figure limit")


def read_limits(path, figures, has_places=True):
    """Returns the rows of a file; without places the column is left out, and the rows match each place."""
    rows = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        words = line.split(None, 4 if has_places else 3)
        if not has_places:
            words.insert(0, "*")
        if len(words) < 5 or words[2] not in figures or not re.fullmatch(r"\d+(\.\d+)?", words[3]):
            sys.exit(f"{path.name}:{number}: a row has {'chips, ' if has_places else ''}kernels, a figure "
                     f"({', '.join(figures)}), a limit and a reason.")
        rows.append(Row(f"{path.name}:{number}", words[0], words[1], words[2], float(words[3])))
    return rows


def matches(name, patterns):
    return any(fnmatch.fnmatchcase(name, p) for p in patterns.split(","))


class Limits:
    """Compares figures with rows, and notes which rows matter."""

    def __init__(self, rows):
        self.rows = rows
        self.ran, self.matched, self.needed = set(), set(), set()

    def exceeded(self, place, kernel, shown, found):
        """Returns a line for each of a kernel's figures {name: value} that is beyond its limit."""
        lines = []
        here = [r for r in self.rows if matches(place, r.places)]
        self.ran.update(here)
        for figure, value in found.items():
            fitting = [r for r in here if r.figure == figure and matches(kernel, r.kernels)]
            if not fitting:
                continue
            value = round(value, 2)
            self.matched.update(fitting)
            if value > fitting[-1].limit:
                lines.append(f"{shown} has {figure} {value:g}; {fitting[-1].text} allows {fitting[-1].limit:g}.")
            self.needed.add(fitting[0])
            if len(fitting) > 1 and value > fitting[-2].limit:
                self.needed.add(fitting[-1])
        return lines

    def unneeded(self):
        """Returns a line for each row of the places that were measured that no figure needs."""
        lines = [f"{r.text}: no kernel {r.kernels} has {r.figure}." for r in self.rows
                 if r in self.ran and r not in self.matched]
        return lines + [f"{r.text}: {r.kernels} needs no limit of its own for {r.figure}." for r in self.rows
                        if r in self.matched and r not in self.needed]


def family(kernel, others=None):
    """Returns the name of a kernel in a table: fused kernels, whose names are hashes, are one family for each kernel that
    they are a part of.  `others`, if it is given, is the family of all kernels that are not fused."""
    if fused := re.fullmatch(r"(\w*?)_?fused_[0-9a-f]{16}", kernel):
        return f"`{fused[1]}` with a chain" if fused[1] else "fused kernels"
    return others or f"`{kernel}`"


def in_order(families):
    """The items of {family: ...}: kernels by name, then families of several."""
    return sorted(families.items(), key=lambda item: (item[0][0] != "`", item[0].strip("`")))


def markdown(head, rows):
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, ["---"] * len(head), *rows))
