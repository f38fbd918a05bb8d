"""The bindings of the op functions and of Tensor's methods."""

from pathlib import Path

from declarations import Function, Header, read_header, read_rows
from emit import Binding, bind, define, define_method, define_spread, spread_list, unit, without_covered
from types_of import Types, Unsupported

# Functions that python/src binds by hand, or that have another form in Python.
BY_HAND = {
    "host_scalar": "python/src/programs.cpp",
    "tensor": "python/src/arrays.cpp",
    "from_bytes": "another form in Python",
    "from_vector": "another form in Python",
    "from_blob": "another form in Python",
    "to_bytes": "another form in Python",
}
# Members of Tensor that are properties or have another form in Python.
PROPERTIES = {
    "shape",
    "dtype",
    "device",
    "requires_grad",
    "is_leaf",
    "grad",
    "T",
    "mT",
    "ndimension",
    "is_cpu",
    "is_cuda",
    "itemsize",
    "nbytes",
    "retains_grad",
    "data",
}
MEMBERS_BY_HAND = {
    "item": "python/src/tensor.cpp",
    "eval": "python/src/tensor.cpp",
    "grad_fn": "a TapeNode, which Python does not have",
    "backward": "python/src/tensor.cpp",
    "index": "Python's indexing",
    "index_put_": "Python's indexing",
    "index_put": "Python's indexing",
    "register_hook": "python/src/tensor.cpp",
    "remove_hook": "another form in Python",
    "sizes": "another form in Python",
    "scalar_type": "another form in Python",
    "options": "another form in Python",
    "mutable_grad": "another form in Python",
    "cell": "for the library itself",
    "defined": "another form in Python",
    "reset": "another form in Python",
    "gradients": "another form in Python",
    "size": "python/src/tensor.cpp",
    "accessor": "another form in Python",
    "new_tensor": "another form in Python",
    "to_vector": "another form in Python",
}
HEADERS = (
    "ops/elementwise",
    "ops/reductions",
    "ops/shapes",
    "ops/linear_algebra",
    "ops/indexing",
    "ops/sorting",
    "ops/creation",
    "ops/convolution",
    "ops/pooling",
    "ops/normalization",
    "ops/losses",
    "ops/attention",
    "ops/interpolation",
    "ops/quantization",
    "ops/dynamic",
    "autograd/grad",
    "autograd/derivatives",
)


# Headers of ops that are not bound as a whole, with the reasons.  Functions of any other header are reported.
WITHOUT_FUNCTIONS = {
    "ops/in_place": "methods of Tensor",
    "ops/options": "names of choices, which are texts",
    "ops/promotion": "python/src/devices.cpp",
    "ops/updates": "ops of the optimizers",
}


class Ops:
    """Collects the bindings, and what has none."""

    def __init__(self, types: Types, headers: dict[str, Header]):
        self.types, self.headers = types, headers
        self.unbound: dict[str, str] = {}

    def bindings(self, functions: list[Function], prefix: str = "") -> dict[str, list[Binding]]:
        out: dict[str, list[Binding]] = {}
        for f in functions:
            label = f"{prefix}{f.name}({', '.join(p.type for p in f.parameters)})"
            if f.is_template or f.name.startswith(("operator", "_")):
                continue  # conveniences of C++, for which Python has keywords
            if any(p.name == "cudnn_enabled" for p in f.parameters):
                self.unbound[label] = "libtorch's order of arguments; keywords serve"
                continue
            try:
                out.setdefault(f.name, []).append(bind(self.types, f))
            except Unsupported as reason:
                self.unbound[label] = str(reason)
        return {name: without_covered(list) for name, list in out.items()}

    def functions(self, header: str, rows: list[Function]) -> str:
        """Returns the definitions of the functions of a header, in the order of their names' first declarations."""
        declared = [
            f
            for f in rows + self.headers[header].functions
            if f.name not in ("names_of_choices",) and not BY_HAND.get(f.name)
        ]
        text = ""
        for name, list in self.bindings([f for f in declared if f.scope == "reprise"]).items():
            for b in list:
                text += define("home", name, b, f"reprise::{name}")
            for b in list:
                if spread_list(self.types, b) is not None:
                    text += define_spread(self.types, "home", name, b, f"reprise::{name}", False)
        for name, list in self.bindings(
            [f for f in declared if f.scope == "reprise::linalg"], "linalg."
        ).items():
            for b in list:
                text += define("linalg", name, b, f"reprise::linalg::{name}")
        return text

    def methods(self, functions: list[Function]) -> dict[str, str]:
        """Returns the definitions of Tensor's methods by name."""
        out = {}
        for name, list in self.bindings(
            [
                f
                for f in functions
                if f.name not in PROPERTIES and not f.is_static and f.name not in MEMBERS_BY_HAND
            ],
            "Tensor.",
        ).items():
            python_name = name
            text = "".join(define_method("tensor", python_name, b, name) for b in list)
            for b in list:
                if b.function.is_const and spread_list(self.types, b) is not None:
                    text += define_spread(self.types, "tensor", python_name, b, name, True)
            out[name] = text
        return out


def write_ops(
    out: Path, include: list[Path], types: Types, headers: dict[str, Header], find
) -> dict[str, str]:
    """Writes the files of functions and methods; returns what has no binding, with the reasons."""
    ops = Ops(types, headers)
    rows = read_rows(find("elementwise.def").read_text())
    calls = []
    for path in HEADERS:
        header = path.rsplit("/", 1)[-1]
        body = ops.functions(path, rows if header == "elementwise" else [])
        body += "static_cast<void>(linalg);\n" if "linalg." not in body else ""
        write(
            out / f"ops_{header}.cpp",
            unit(
                f"bind_ops_{header}",
                "nb::module_& home, nb::module_& linalg",
                body,
                '#include "generated.hpp"\n',
            ),
        )
        calls.append(f"bind_ops_{header}(m, linalg);")
    tensor = next(c for c in headers["tensor"].classes if c.name == "Tensor")
    generated = read_header(
        "namespace reprise { class Tensor { public:\n" + find("tensor_methods.inc").read_text() + "\n}; }"
    ).classes[0]
    methods = ops.methods(generated.functions + tensor.functions)
    names = sorted(methods)
    parts = 6
    for part in range(parts):
        body = "".join(methods[name] for name in names[part::parts])
        write(
            out / f"methods_{part}.cpp",
            unit(f"bind_methods_{part}", "nb::class_<Tensor>& tensor", body, '#include "generated.hpp"\n'),
        )
    declarations = "".join(
        f"void bind_ops_{h}(nb::module_& m, nb::module_& linalg);\n"
        for h in (p.rsplit("/", 1)[-1] for p in HEADERS)
    )
    declarations += "".join(f"void bind_methods_{i}(nb::class_<Tensor>& tensor);\n" for i in range(parts))
    body = 'nb::module_ linalg = m.def_submodule("linalg", "Norms of vectors and matrices.");\n'
    body += "\n".join(calls) + "\n" + "".join(f"bind_methods_{i}(tensor);\n" for i in range(parts))
    write(
        out / "ops.cpp",
        f'#include "generated.hpp"\n\nnamespace reprise::python {{\n{declarations}\n'
        f"void bind_ops(nb::module_& m, nb::class_<Tensor>& tensor)\n{{\n{body}}}\n"
        "} // namespace reprise::python\n",
    )
    reasons = {
        **{f"Tensor.{n}": r for n, r in MEMBERS_BY_HAND.items()},
        **{n: r for n, r in BY_HAND.items() if r},
    }
    return {**unlisted(headers), **ops.unbound, **reasons}


def unlisted(headers: dict[str, Header]) -> dict[str, str]:
    """Returns the functions of headers of ops that no list above has."""
    return {
        f.name: f"the header {path} is not listed in python/generate/ops.py"
        for path, header in headers.items()
        if path.startswith("ops/") and path not in HEADERS and path not in WITHOUT_FUNCTIONS
        for f in header.functions
        if f.scope in ("reprise", "reprise::linalg") and not f.is_template
    }


def write(path: Path, text: str) -> None:
    """Writes a file, unless it has this text already, so that builds compile only what has changed."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)
