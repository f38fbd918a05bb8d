"""Writes bindings as C++ text."""

import re
from dataclasses import dataclass, replace

from declarations import Function, Parameter
from types_of import Argument, Types, Unsupported


@dataclass
class Binding:
    """A Python function for one overload of a C++ function."""

    function: Function
    arguments: list[Argument]
    statements: str  # that make structures of options
    passed: list[str]
    keyword_only: int | None = None  # the index of the first argument that can't be passed by position

    def is_keyword_only(self, argument: Argument) -> bool:
        return self.keyword_only is not None and self.arguments.index(argument) >= self.keyword_only


def bind(types: Types, f: Function, parameters: tuple[Parameter, ...] | None = None) -> Binding:
    """Returns the binding of a function; raises Unsupported where there is none."""
    types.result(f.result)
    arguments, statements, passed, keyword_only = [], "", [], None
    for p in f.parameters if parameters is None else parameters:
        more, made, value = types.arguments(f.name, p)
        if made and statements:  # a second structure
            made = re.sub(r"\boptions\b", "more", made)
            value = "more"
        if types.resolve(p.type) == "CreationOptions":
            keyword_only = len(arguments)
        if not made and p.default is None:
            more = [replace(a, default=None) for a in more]
        arguments += more
        statements += made
        passed.append(value)
    names = [a.name for a in arguments]
    if len(set(names)) != len(names):
        raise Unsupported("two arguments of one name")
    required_after = False
    for a in reversed(arguments):  # an argument without default can't follow one with a default
        if a.default is None:
            required_after = True
        elif required_after:
            raise Unsupported("an argument without default after one that has a default")
    return Binding(f, arguments, statements, passed, keyword_only)


def covers(b: Binding, a: Binding) -> bool:
    """Whether each call of `a` by keywords is a call of `b`, too."""
    wider = {("bool", "int")}
    wider |= {("int", other) for other in ("sizes", "float", "dims", "std::vector<std::int64_t>")}
    of = {x.name: x for x in b.arguments}
    for x in a.arguments:
        y = of.pop(x.name, None)
        if not y or (x.kind != y.kind and (x.kind, y.kind) not in wider):
            return False
        if b.is_keyword_only(y) and not a.is_keyword_only(x):
            return False
        if x.default is not None and y.default is None:
            return False
    return all(y.default is not None for y in of.values())


def without_covered(bindings: list[Binding]) -> list[Binding]:
    kept: list[Binding] = []
    for i, a in enumerate(bindings):
        others = bindings[:i] + bindings[i + 1 :]
        if not any(covers(b, a) and (not covers(a, b) or bindings.index(b) < i) for b in others):
            kept.append(a)
    return kept


def doc(comment: str) -> str:
    return f'R"doc({comment.strip()})doc"' if comment.strip() else '""'


def annotations(b: Binding, first: str = "") -> str:
    parts = [first] if first else []
    for i, a in enumerate(b.arguments):
        if b.keyword_only == i and i < len(b.arguments):
            parts.append("nb::kw_only()")
        may_be_none = a.default == "nb::none()" or a.kind == "dims"
        name = f'nb::arg("{a.name}")' + (".none()" if may_be_none else "")
        parts.append(name + (f" = {a.default}" if a.default is not None else ""))
    return "".join(f", {p}" for p in parts)


def declared(b: Binding) -> str:
    return ", ".join(f"{a.type} {a.name}" for a in b.arguments)


def define(target: str, name: str, b: Binding, call: str) -> str:
    """Returns the definition of a function; `call` is the called function with its qualification."""
    value = f"{call}({', '.join(b.passed)})"
    body = f"const Unlocked unlocked;\n{b.statements}return {wrapped(b, value)};"
    return (
        f'{target}.def("{name}", []({declared(b)}) {{\n{body}\n'
        f"}}{annotations(b)}, {doc(b.function.comment)});\n"
    )


def wrapped(b: Binding, value: str) -> str:
    # Of tuples of three tensors some are undefined, which Python gets as None.
    return f"defined_ones({value})" if b.function.result.startswith("std::tuple") else value


def define_method(target: str, name: str, b: Binding, member: str) -> str:
    value = f"self.{member}({', '.join(b.passed)})"
    annotated = annotations(b)
    comma = ", " if b.arguments else ""
    if b.function.result == "Tensor&":  # returns the same Python object
        return (
            f'{target}.def("{name}", [](nb::handle_t<Tensor> object{comma}{declared(b)}) {{\n'
            f"auto& self = nb::cast<Tensor&>(object);\n"
            f"{{ const Unlocked unlocked;\n{b.statements}{value}; }}\n"
            f"return nb::borrow<nb::typed<nb::object, Tensor>>(object);\n"
            f"}}{annotated}, {doc(b.function.comment)});\n"
        )
    const = "const " if b.function.is_const else ""
    return (
        f'{target}.def("{name}", []({const}Tensor& self{comma}{declared(b)}) {{\n'
        f"const Unlocked unlocked;\n{b.statements}return {wrapped(b, value)};\n"
        f"}}{annotated}, {doc(b.function.comment)});\n"
    )


LISTS = {"Shape", "DimVector", "std::vector<std::int64_t>", "Dims"}


def spread_list(types: Types, b: Binding) -> int | None:
    """Returns the index of the list that can also be passed as separate arguments: x.view(2, 3), zeros(2, 3)."""
    f = b.function
    own = [p for p in f.parameters if types.resolve(p.type) != "CreationOptions"]
    if len(own) == 1 and types.resolve(own[0].type) in LISTS and own[0].default is None:
        return 0
    return None


def define_spread(types: Types, target: str, name: str, b: Binding, call: str, of_tensor: bool) -> str:
    """Defines the overload whose list is given as separate arguments."""
    first, rest = b.arguments[0], b.arguments[1:]
    self = "const Tensor& self, " if of_tensor else ""
    passed = ", ".join(["values", *b.passed[1:]])
    more = "".join(f", {a.type} {a.name}" for a in rest)
    named = "".join(f', nb::arg("{a.name}") = {a.default}' for a in rest)
    value = f"self.{call}({passed})" if of_tensor else f"{call}({passed})"
    return (
        f'{target}.def("{name}", []({self}const nb::args& {first.name}{more}) {{\n'
        f"const auto values = nb::cast<{first.value_type}>({first.name});\n"
        f"const Unlocked unlocked;\n{b.statements}return {value};\n"
        f'}}, nb::arg("{first.name}"){named});\n'
    )


def unit(function: str, parameters: str, body: str, includes: str) -> str:
    """Returns a C++ file that defines one function."""
    return (
        f"// Generated by python/generate from the library's public headers.\n{includes}\n"
        f"namespace reprise::python {{\n\nvoid {function}({parameters})\n{{\n{body}}}\n\n"
        f"}} // namespace reprise::python\n"
    )
