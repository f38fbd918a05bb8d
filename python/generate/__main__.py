"""Generates the bindings of ops, layers and optimizers from the library's public headers.

    python3 python/generate OUT INCLUDE...

OUT is a folder; INCLUDE are the folders that contain reprise/: those of the sources and of the generated headers, or
that of an installed package.
"""

import sys
from pathlib import Path

from declarations import read_header
from enums import bind_enums, enum_names
from layers import write_layers, write_optimizers
from ops import write, write_ops
from types_of import Types


def main() -> None:
    out, include = Path(sys.argv[1]), [Path(p) / "reprise" for p in sys.argv[2:]]
    out.mkdir(parents=True, exist_ok=True)
    headers = {}
    for folder in include:
        for path in sorted(folder.rglob("*.hpp")):
            headers[str(path.relative_to(folder).with_suffix(""))] = read_header(path.read_text())

    def find(name: str) -> Path:
        return next(folder / name for folder in include if (folder / name).exists())

    types = Types(list(headers.values()))
    unbound = write_ops(out, include, types, headers, find)
    unbound |= write_layers(out, types, headers)
    unbound |= write_optimizers(out, types, headers)
    unbound |= types.left_out
    types.tables.add("reprise::CheckpointOptions::Policy")  # of python/src/autograd.cpp
    write(out / "enum_names.hpp", enum_names(types))
    write(out / "enums.cpp", bind_enums(types, unbound))


main()
