"""How a C++ parameter or result becomes one of Python: its type in the binding, its default, how it is passed on."""

import re
from dataclasses import dataclass

from declarations import Class, Header, Parameter, split


class Unsupported(Exception):
    """The type has no counterpart in Python; the text says which one."""


@dataclass(frozen=True)
class Argument:
    """An argument of a Python function."""

    name: str
    type: str  # of the binding's parameter
    value: str  # the expression that is passed on
    default: str | None  # an expression, or None where it must be given
    kind: str  # arguments of one kind accept the same objects
    comment: str = ""

    @property
    def value_type(self) -> str:
        """The binding's type without const and reference."""
        return self.type.removeprefix("const ").removesuffix("&")


# Names that Python reserves, and those of PyTorch where the library's would be reserved.
RENAMED = {
    ("flatten", "from"): "start_dim",
    ("flatten", "to"): "end_dim",
    ("movedim", "from"): "source",
    ("movedim", "to"): "destination",
    ("softshrink", "lambda"): "lambd",
    ("hardshrink", "lambda"): "lambd",
    ("exponential_", "lambda"): "lambd",
}
Bound = tuple[str, str, str | None, str]
NUMBERS = {
    "double": "float",
    "bool": "bool",
    **dict.fromkeys(("std::int64_t", "std::size_t", "std::uint32_t", "std::uint64_t"), "int"),
}
LISTS = {"Dim", "Shape", "Dims", "Parameters", "ScaleFactors", "PerGroup", "optim::PerGroup"} | {
    f"std::vector<{item}>" for item in ("std::int64_t", "double", "Tensor", "Variable")
}
RENAMED_EVERYWHERE = {"with_bias": "bias"}
RESERVED = {"from", "lambda", "is", "in", "not", "and", "or", "def", "del", "pass", "with", "as", "None"}
# Names of arguments that have none in C++, by their type.
NAMES = {
    "Tensor": "x",
    "Choice<Reduction>": "reduction",
    "Shape": "size",
    "DType": "dtype",
    "Device": "device",
    "std::vector<Tensor>": "tensors",
    "double": "value",
    "std::int64_t": "value",
    "Dims": "dim",
    "Optimizer": "optimizer",
    "std::vector<std::shared_ptr<LRScheduler>>": "schedulers",
    "AttentionScores": "scores",
    "Choice<MeshIndexing>": "indexing",
    "Choice<PaddingMode>": "mode",
}


def bare(type: str) -> str:
    """Returns a type without const, references and the library's namespaces."""
    type = re.sub(r"\bconst\b|&", "", type).strip()
    type = re.sub(r"\b(::)?reprise::(nn::|optim::)?", "", type)
    return re.sub(r"\s+", " ", type)


def parameter_type(text: str) -> str:
    return (
        re.sub(r"\s+\w+$", "", text) if re.search(r"[\w>&]\s+\w+$", text) and "const " not in text else text
    )


class Types:
    """The types of all headers."""

    def __init__(self, headers: list[Header]):
        self.structs: dict[str, Class] = (
            {}
        )  # those inside of classes by their owner's name, too: "GELU::Options"
        self.layers: set[str] = set()
        self.enums: dict[str, str] = {}  # name: qualified name
        self.enumerators: dict[str, list[str]] = {}
        self.aliases: dict[str, str] = {}
        self.named_choices: set[str] = set()
        self.left_out: dict[str, str] = {}  # fields of options without an argument in Python, with the reasons
        self.tables: set[str] = set()  # enumerations whose names the bindings list themselves
        for h in headers:
            for c in h.classes:
                owner = c.scope.rsplit("::", 1)[-1]
                name = f"{owner}::{c.name}" if owner[:1].isupper() else c.name
                if c.key == "struct":
                    self.structs[name] = c
                if c.is_layer:
                    self.layers.add(c.name)
            for qualified, names in h.enums.items():
                owner = qualified.split("::")[-2]
                name = qualified.rsplit("::", 1)[-1]
                self.enums[f"{owner}::{name}" if owner[0].isupper() else name] = qualified
                self.enums.setdefault(name, qualified)
                self.enumerators[qualified] = names
            self.aliases |= {q.rsplit("::", 1)[-1]: t for q, t in h.aliases.items()}
            self.named_choices |= {
                bare(f.parameters[0].type) for f in h.functions if f.name == "names_of_choices"
            }

    def resolve(self, type: str) -> str:
        type = bare(type)
        while type in self.aliases and type not in ("DimVector", "IntArrayRef"):
            type = bare(self.aliases[type])
        return re.sub(r"\bSizes<", "WindowSizes<", re.sub(r"\bDimVector\b|\bIntArrayRef\b", "Shape", type))

    def struct(self, type: str) -> Class | None:
        """Returns the structure of options of this name, with its template argument replaced."""
        plain = self.resolve(type)
        number = (re.search(r"<(\d+)>", plain) or ["", ""])[1]
        found = self.structs.get(re.sub(r"<\d+>|\b(bases|optim|nn)::", "", plain))
        if not found or not (found.fields or found.bases):
            return None
        if not number:
            return found
        fill = lambda text: re.sub(r"\bN\b", number, text) if text else text
        return Class(
            found.name,
            found.scope,
            found.key,
            found.bases,
            "",
            [Parameter(fill(f.type), f.name, fill(f.default), f.comment) for f in found.fields],
            comment=found.comment,
        )

    def arguments(self, op: str, p: Parameter) -> tuple[list[Argument], str, str]:
        """Returns the Python arguments of a C++ parameter, the statements that make it, and the expression for it.

        A structure of options becomes one argument for each of its fields.
        """
        type = self.resolve(p.type)
        if struct := self.struct(type):
            return self.options(op, p, struct)
        argument = self.argument(op, p, type)
        return [argument], "", argument.value

    def options(self, op: str, p: Parameter, struct: Class, name: str = "options"):
        spelled = re.sub(r"\bconst\b|&", "", p.type).strip()
        made, out = f"{spelled} {name}{{}};\n", []
        for field in struct.fields:
            inner = self.struct(field.type)
            if inner:
                arguments, text, _ = self.options(
                    op, Parameter(f"decltype({name}.{field.name})", field.name), inner, field.name
                )
                text = text.split(";\n", 1)[1].replace(f"{field.name}.", f"{name}.{field.name}.")
                out += arguments
                made += text
                continue
            try:
                scoped = self.in_struct(struct, field)
                argument = self.argument(op, scoped, self.resolve(scoped.type), has_default=True)
            except Unsupported as reason:
                self.left_out[f"{struct.name}.{field.name}"] = f"{reason}; it keeps its default"
                continue
            out.append(argument)
            made += f"{name}.{field.name} = {argument.value};\n"
        return out, made, name

    def in_struct(self, struct: Class, field: Parameter) -> Parameter:
        """Qualifies enumerations that are declared in the structure itself."""
        for name, whole in self.enums.items():
            enum = name.removeprefix(f"{struct.name}::")
            if enum != name and re.search(rf"(?<!::)\b{enum}\b", field.type):
                return Parameter(
                    re.sub(rf"\b{enum}\b", whole, field.type),
                    field.name,
                    re.sub(rf"(?<!:)\b{enum}::", f"{whole}::", field.default or ""),
                    field.comment,
                )
        return field

    def argument(self, op: str, p: Parameter, type: str, has_default: bool = False) -> Argument:
        name = p.name or NAMES.get(type) or NAMES.get(bare(p.type))
        if not name and "std::function<double(" in type:
            name = "lr_lambda"  # as PyTorch calls the functions of LambdaLR
        if not name:
            raise Unsupported(f"an argument of type {type} without a name")
        if type == "Dims" and name == "dims":
            name = "dim"  # PyTorch's name
        name = RENAMED_EVERYWHERE.get(name, name)
        name = RENAMED.get((op, name), name + "_" if name in RESERVED else name)
        if type in self.layers and "&" not in p.type:
            raise Unsupported(f"a module of type {type}, which is moved")
        default = p.default if p.default is not None else ("{}" if has_default else None)
        bound, value, default, kind = self.binding(type, name, default)
        return Argument(name, bound, value, default, kind, p.comment)

    def binding(self, type: str, name: str, default: str | None) -> Bound:
        """Returns the type of the binding's parameter, the expression that is passed on, the default, and the kind."""
        for of in (self.number_or_text, self.list_or_sizes, self.optional, self.object_or_callable):
            if found := of(type, name, default):
                return found
        return self.choice(type, name, default)

    def number_or_text(self, type: str, name: str, default: str | None) -> Bound | None:
        if type in NUMBERS:
            return type, name, self.braces(type, default), NUMBERS[type]
        if type in ("std::string", "std::string_view"):
            return "const std::string&", name, "std::string()" if default == "{}" else default, "str"
        if type == "DType":
            return type, name, default, "dtype"
        if type == "std::pair<double, double>":
            return type, name, self.braces(type, default), type
        return None

    def list_or_sizes(self, type: str, name: str, default: str | None) -> Bound | None:
        """Sizes, dimensions, windows and other lists, which have conversions in python/src/casters.hpp."""
        if type in LISTS:
            kind = {"Dim": "int", "Dims": "dims"}.get(type, type)
            type = "optim::PerGroup" if type == "PerGroup" else type
            return f"const {type}&", name, self.braces(type, default), kind
        if re.fullmatch(r"Window(Sizes|Strides|Padding)<\d+>|std::array<Dim, \d+>", type):
            return f"const {type}&", name, self.braces(type, default), "sizes"
        if found := re.fullmatch(r"std::array<std::int64_t, (\d+)>", type):
            sizes = f"WindowSizes<{found[1]}>"
            made = None if default is None else f"{sizes}({default})"
            return f"const {sizes}&", f"{name}.array()", made, "sizes"
        return None

    def optional(self, type: str, name: str, default: str | None) -> Bound | None:
        """What Python may give as None."""
        if type == "Tensor":
            if default is None:
                return "const Tensor&", name, None, "tensor"
            return "const std::optional<Tensor>&", f"tensor_or_none({name})", "nb::none()", "tensor"
        if type == "std::optional<Device>":
            return "const std::optional<DeviceName>&", f"device_or_none({name})", "nb::none()", "device"
        if type == "std::tuple<Tensor, Tensor>":
            given = f"const std::optional<{type}>&"
            return given, f"{name}.value_or({type}())", default and "nb::none()", type
        found = re.fullmatch(r"std::optional<(.*)>", type)
        if not found or found[1] not in {*NUMBERS, "DType", "Dim", "Shape"}:
            return None
        given = f"const {type}&" if found[1] in ("Dim", "Shape") else type
        if default is not None:
            default = "nb::none()" if default in ("{}", "std::nullopt") else default
        kind = NUMBERS.get(found[1]) or {"DType": "dtype", "Dim": "int"}.get(found[1], found[1])
        return given, name, default, kind

    def object_or_callable(self, type: str, name: str, default: str | None) -> Bound | None:
        if type == "Device":
            return "const DeviceName&", f"{name}.device()", default, "device"
        if type in ("Optimizer", "optim::Optimizer"):
            return "optim::Optimizer&", name, None, "optimizer"
        if type in self.layers:
            return f"const nn::{type}&", name, None, type
        if type == "std::vector<std::shared_ptr<LRScheduler>>":
            return "const optim::Schedulers&", name, None, type
        if found := re.fullmatch(r"(std::vector<)?std::function<(\w+)\((.*)\)>>?", type):
            taken = ", ".join(parameter_type(a) for a in split(found[3]))
            function = f"std::function<{found[2]}({taken})>"
            given = f"std::vector<{function}>" if found[1] else function
            return given, name, default and "nb::none()", "callable"
        return None

    def choice(self, type: str, name: str, default: str | None) -> Bound:
        inner = re.fullmatch(r"Choice<(.*)>", type)
        enum = inner[1] if inner else type
        qualified = self.enums.get(enum) or self.enums.get(enum.rsplit("::", 1)[-1])
        if not qualified:
            raise Unsupported(f"an argument of type {type}")
        if not inner:
            self.tables.add(qualified)
        value = f"choice<{qualified}>({name})"
        if default == "{}":
            default = f"{qualified}{{}}"
        text = None if default is None else f"text_of<{qualified}>({self.qualified(default, qualified)})"
        return "const std::string&", value, text, "str"

    @staticmethod
    def qualified(default: str, enum: str) -> str:
        return f"{enum}::{default.rsplit('::', 1)[-1]}" if "{" not in default else default

    @staticmethod
    def braces(type: str, default: str | None) -> str | None:
        if default is None:
            return None
        return f"{type}{default}" if default.startswith("{") else f"{type}({default})"

    def result(self, type: str) -> str | None:
        """Returns the wrapper of a result, or raises Unsupported; None: it is returned as it is."""
        plain = self.resolve(type)
        inner = re.fullmatch(r"std::(?:pair|vector|tuple)<(.*)>", plain)
        parts = [self.resolve(t) for t in split(inner[1])] if inner else [plain]
        known = {
            "Tensor",
            "Variable",
            "bool",
            "double",
            "std::int64_t",
            "std::size_t",
            "std::uint64_t",
            "Dim",
            "Shape",
            "DType",
            "std::string",
            "void",
            "Device",
        }
        for part in parts:
            if part not in known:
                self.result(part) if part.startswith("std::") else self.fail_result(part)
        return None

    @staticmethod
    def fail_result(type: str) -> None:
        raise Unsupported(f"a result of type {type}")
