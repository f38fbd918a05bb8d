"""The bindings of the layers of nn, of the functions of nn.init and nn.functional, and of optimizers and schedules."""

import re
from dataclasses import replace
from pathlib import Path

from declarations import Class, Function, Header, Parameter, parameters, split
from emit import Binding, annotations, bind, declared, define, doc, unit, without_covered
from ops import write
from types_of import Argument, Types, Unsupported

# python/src/containers.cpp and modules.cpp bind these by hand.
BY_HAND = {"Sequential", "ModuleList", "ModuleDict", "ParameterList", "ParameterDict"}
FILES = 8  # over which the layers are distributed


class Layers:
    def __init__(self, types: Types, headers: dict[str, Header]):
        self.types, self.unbound = types, {}
        self.classes = {c.name: c for name, h in headers.items() if name.startswith("nn/") for c in h.classes}
        self.concrete: dict[str, tuple[Class, str]] = (
            {}
        )  # the name in Python: the class, its template arguments
        for name, h in headers.items():
            if not name.startswith("nn/"):
                continue
            for c in h.classes:
                if c.is_layer and not c.template and c.name not in BY_HAND:
                    self.concrete[c.name] = (c, "")
            for alias, type in h.aliases.items():
                found = re.fullmatch(r"(\w+)<(.*)>", type)
                if found and found[1] in self.classes and self.classes[found[1]].is_layer:
                    self.concrete[alias.rsplit("::", 1)[-1]] = (self.classes[found[1]], found[2])

    def chain(self, c: Class) -> list[Class]:
        """Returns the class and those that it derives from, up to Module."""
        out = [c]
        for base in c.bases:
            name = re.sub(r"<.*", "", base).rsplit("::", 1)[-1]
            if name in self.classes and name not in ("Module", "ModuleOf"):
                out += [self.instance(each, base) for each in self.chain(self.classes[name])]
        return out

    @staticmethod
    def instance(c: Class, spelled: str) -> Class:
        """Replaces the types that a template takes, in its constructors, by those that the base is written with."""
        found = re.fullmatch(r"[\w:]+<(\w+)>", spelled)
        taken = re.fullmatch(r"class (\w+)", c.template)
        if not found or not taken:
            return c
        fill = lambda p: replace(p, type=re.sub(rf"\b{taken[1]}\b", found[1], p.type))
        return replace(
            c, constructors=[replace(k, parameters=tuple(map(fill, k.parameters))) for k in c.constructors]
        )

    def signature_base(self, c: Class) -> tuple[str, int] | None:
        """Returns the result of ModuleOf<R(A...)> and the number of its arguments."""
        for each in self.chain(c):
            for base in each.bases:
                if found := re.fullmatch(r"ModuleOf<(.*?)\((.*)\)>", base):
                    return found[1], len(split(found[2]))
        return None

    def spelled(self, c: Class, type: str, arguments: str) -> str:
        """Replaces template parameters and the names that a class declares itself."""
        if arguments:
            for parameter, value in zip(split(c.template), split(arguments)):
                type = re.sub(rf"\b{parameter.split()[-1]}\b", value, type)
            type = re.sub(r"(\d+) \* (\d+)", lambda m: str(int(m[1]) * int(m[2])), type)
        for each in self.chain(c):
            for alias, target in each.aliases.items():
                if re.search(rf"(?<!:)\b{alias}\b", type):
                    return self.spelled(c, re.sub(rf"(?<!:)\b{alias}\b", target, type), arguments)
            for nested in (n for n in self.types.structs if n.startswith(f"{each.name}::")):
                own = nested.split("::")[1]
                whole = f"{each.name}<{arguments}>" if each.template else each.name
                type = re.sub(rf"(?<!:)\b{own}\b", f"{self.scope(each)}{whole}::{own}", type)
        return type

    @staticmethod
    def scope(c: Class) -> str:
        return c.scope.removeprefix("reprise::nn").removeprefix("::") + "::" if "bases" in c.scope else ""

    def bound(self, c: Class, arguments: str, functions: list[Function], label: str) -> list[Binding]:
        out = []
        for f in functions:
            if f.is_template:
                continue
            given = [p for p in f.parameters if p.type != "Place"]
            given = [
                replace(
                    p,
                    type=self.spelled(c, p.type, arguments),
                    default=p.default and self.spelled(c, p.default, arguments),
                )
                for p in given
            ]
            try:
                changed = replace(f, parameters=tuple(given), result=self.spelled(c, f.result, arguments))
                out.append(bind(self.types, changed))
            except Unsupported as reason:
                self.unbound[f"{label}({', '.join(p.type for p in given)})"] = str(reason)
        return without_covered(out)

    def constructors(self, name: str, c: Class, arguments: str) -> list[Binding]:
        found = [replace(k, result="void") for each in self.chain(c) for k in each.constructors]
        found = found or [Function(c.name, "void", ())]  # that without arguments, which C++ adds
        return self.bound(c, arguments, found, f"nn.{name}")

    def calls(self, name: str, c: Class, arguments: str) -> list[Binding]:
        chain = self.chain(c)
        forwards = [f for each in chain for f in each.functions if f.name == "forward" and not f.is_template]
        found = [f for each in chain for f in each.functions if f.name == "operator()"]
        if base := self.signature_base(c):
            result, count = base
            own = [f for f in forwards if len(f.parameters) == count]
            found += [replace(own[0], name="operator()", result=result)] if own else []
        elif not found:
            found = [Function("operator()", "Tensor", parameters("Tensor x"))]
        elif any(len(f.parameters) == 1 for f in forwards) and not any(takes_one(f) for f in found):
            found.append(Function("operator()", "Tensor", parameters("Tensor x")))
        return self.bound(c, arguments, found, f"nn.{name}.__call__")

    def layer(self, name: str) -> str:
        c, arguments = self.concrete[name]
        text = (
            f'{{\nusing M = nn::{name};\nnb::class_<M, nn::Module> bound(home, "{name}", nb::is_final(), '
            f"{doc(c.comment)});\n"
        )
        made = self.constructors(name, c, arguments)
        if not made:
            self.unbound[f"nn.{name}"] = "no constructor"
        for b in made:
            comma = ", " if b.arguments else ""
            kept = ", ".join(f'{{"{a.name}", option_value({kept_value(a)})}}' for a in b.arguments)
            text += (
                f'bound.def("__init__", [](M* self{comma}{declared(b)}) {{\n{{\nconst Unlocked unlocked;\n'
                f"{b.statements}new (self) M({', '.join(b.passed)});\n}}\n"
                f"keep_options(*self, {{{kept}}});\n}}{annotations(b)});\n"
            )
        for b in self.calls(name, c, arguments):
            comma = ", " if b.arguments else ""
            value = f"self({', '.join(b.passed + ['here()'])})"
            if b.function.result.startswith("std::tuple") or b.function.result.endswith("Output"):
                value = f"defined_ones({value})"
            text += (
                f'bound.def("__call__", [](M& self{comma}{declared(b)}) {{\nconst Unlocked unlocked;\n'
                f"{b.statements}return {value};\n}}{annotations(b)});\n"
            )
        return text + self.fields(c) + self.options(c, made) + "}\n"

    def options(self, c: Class, made: list[Binding]) -> str:
        """Returns the options as attributes, where no member has the name.  Tensors and layers are no options."""
        classes = [*self.chain(c), self.classes["Module"]]
        hidden = {member.name for each in classes for member in each.fields + each.functions}
        text = ""
        for a in (a for b in made for a in b.arguments):
            if a.name in hidden or a.kind == "tensor" or a.kind in self.types.layers:
                continue
            hidden.add(a.name)
            text += (
                f'bound.def_prop_ro("{a.name}", [](nb::handle self) {{\n'
                f'return option<{a.value_type}>(self, "{a.name}");\n}}, {doc(a.comment)});\n'
            )
        return text

    def fields(self, c: Class) -> str:
        text = ""
        for each in self.chain(c):
            for field in each.fields:
                if field.type == "Variable":
                    text += (
                        f'bound.def_prop_rw("{field.name}", [](const M& self) {{\n'
                        f"return member_of(self, self.{field.name});\n"
                        "}, [](M& self, Member value) {\n"
                        f'replace_member(self, "{field.name}", self.{field.name}, value);\n'
                        f'}}, nb::for_setter(nb::arg("value").none()), {doc(field.comment)});\n'
                    )
                elif field.type in self.concrete:
                    text += (
                        f'bound.def_prop_ro("{field.name}", [](M& self) -> nn::{field.type}& {{ return self.'
                        f"{field.name}; }}, nb::rv_policy::reference_internal, {doc(field.comment)});\n"
                    )
        return text


def kept_value(a: Argument) -> str:
    """Returns the value of an option that its attribute has: strides of 0 are the sizes of the windows."""
    if a.name != "stride" or not re.fullmatch(r"Window\w+<\d>\(0\)", a.default or ""):
        return a.name
    return f"stride == {a.default} ? kernel_size : stride"


def takes_one(f: Function) -> bool:
    """Whether a call operator can be called with one argument."""
    return all(p.default is not None for p in f.parameters[1:])


def write_layers(out: Path, types: Types, headers: dict[str, Header]) -> dict[str, str]:
    layers = Layers(types, headers)
    includes = '#include "generated.hpp"\n#include "modules.hpp"\n#include "options.hpp"\n'
    # A class comes before those that have it as a member.
    names = sorted(
        layers.concrete,
        key=lambda n: (
            n not in ("Linear", "LayerNorm", "Dropout", "MultiheadAttention"),
            "Transformer" in n,
            len(n) if "Transformer" in n else 0,
            n,
        ),
    )
    size = -(-len(names) // FILES)
    calls = ""
    for i in range(FILES):
        body = "using namespace nn;\n"
        body += "".join(layers.layer(n) for n in names[i * size : (i + 1) * size])
        write(out / f"layers_{i}.cpp", unit(f"bind_layers_{i}", "nb::module_& home", body, includes))
        calls += f"bind_layers_{i}(nn);\n"
    calls += functions_of(layers, headers, "nn/init", "init", "Initialisation of parameters, in place.", out)
    calls += functions_of(
        layers, headers, "nn/functional", "functional", "Functions of layers without state.", out
    )
    names_used = split(",".join(n for _, n in headers["nn/functional"].usings))
    names_used = [n.removeprefix("reprise::") for n in names_used if n.startswith("reprise::")]
    calls += 'nb::module_ all = nb::module_::import_("reprise._core");\n'
    calls += "".join(f'functional.attr("{n}") = all.attr("{n}");\n' for n in sorted(set(names_used)))
    declarations = "".join(f"void bind_layers_{i}(nb::module_&);\n" for i in range(FILES))
    declarations += "void bind_init(nb::module_&);\nvoid bind_functional(nb::module_&);\n"
    write(
        out / "layers.cpp",
        '#include "generated.hpp"\nnamespace reprise::python {\n'
        + declarations
        + f"void bind_layers(nb::module_& nn)\n{{\n{calls}}}\n}} // namespace reprise::python\n",
    )
    return layers.unbound


def functions_of(
    layers: Layers, headers: dict[str, Header], header: str, name: str, comment: str, out: Path
) -> str:
    """Writes the functions of a header, which become a module of Python; returns the call that makes it."""
    text, by_name = "", {}
    for f in headers[header].functions:
        if f.is_template or f.name == "alpha_dropout":
            continue
        try:
            by_name.setdefault(f.name, []).append(bind(layers.types, f))
        except Unsupported as reason:
            layers.unbound[f"nn.{name}.{f.name}"] = str(reason)
    for f, bindings in by_name.items():
        for b in without_covered(bindings):
            text += define("home", f, b, f"reprise::nn::{name}::{f}")
    write(out / f"{name}.cpp", unit(f"bind_{name}", "nb::module_& home", text, '#include "generated.hpp"\n'))
    return f'nb::module_ {name} = nn.def_submodule("{name}", "{comment}");\nbind_{name}({name});\n'


def setter(types: Types, settings: Class) -> str:
    """Returns the branches that set an option by its name, from an object of Python."""
    arguments, made, _ = types.options("", Parameter(f"optim::{settings.name}", "options"), settings)
    values = re.findall(r"(options\.[\w.]+) = (.*);", made)  # one for each argument, in their order
    text = ""
    for a, (target, value) in zip(arguments, values, strict=True):
        plain = re.sub(r"^const (.*)&$", r"\1", a.type)
        text += (
            f'if (key == "{a.name}") {{\nconst auto {a.name} = nb::cast<{plain}>(value);\n'
            f"{target} = {value};\n}} else "
        )
    return text + "return false;\nreturn true;\n"


def write_optimizers(out: Path, types: Types, headers: dict[str, Header]) -> dict[str, str]:
    text, unbound = "", {}
    for name, h in headers.items():
        if not name.startswith("optim/"):
            continue
        for c in h.classes:
            settings = types.structs.get(f"{c.name}Settings")
            if not settings or not any(re.match(r"(BuiltinOptimizer|AdamOf)<", b) for b in c.bases):
                continue
            arguments, made, _ = types.options(
                c.name, Parameter(f"optim::{settings.name}", "options"), settings
            )
            b = Binding(Function(c.name, "void", ()), arguments, made, [])
            text += (
                f"{{\nusing O = optim::{c.name};\nusing S = optim::{settings.name};\n"
                "const auto set = [](S& options, const std::string& key, nb::handle value) {\n"
                f"{setter(types, settings)}}};\n"
                f'auto optimizer = bind_optimizer<O, S>(home, "{c.name}", {doc(c.comment)}, set);\n'
                f'optimizer.def("__init__", [set](O* self, nb::handle params, {declared(b)}) {{\n'
                f"{b.statements}make_optimizer(self, params, options, set);\n"
                f'}}, nb::arg("params"){annotations(b)});\n}}\n'
            )
    schedules = [
        c
        for c in headers["optim/lr_scheduler"].classes
        if c.key == "class" and c.constructors and c.name not in ("PerGroup", "LRScheduler")
    ]
    for c in schedules:
        is_schedule = "LRScheduler" in c.bases
        bindings = []
        for k in c.constructors:
            given = tuple(replace(p, type=qualify(types, c, p.type)) for p in k.parameters)
            try:
                bindings.append(bind(types, replace(k, name=c.name, result="void"), given))
            except Unsupported as reason:
                unbound[f"optim.{c.name}"] = str(reason)
        base = ", optim::LRScheduler" if is_schedule else ""
        text += f'{{\nnb::class_<optim::{c.name}{base}> schedule(home, "{c.name}", {doc(c.comment)});\n'
        for b in without_covered(bindings):
            keep = ", nb::keep_alive<1, 2>()"  # the schedule refers to its optimizer
            text += (
                f'schedule.def("__init__", [](optim::{c.name}* self, {declared(b)}) {{\n'
                "const Unlocked unlocked;\n"
                f"{b.statements}new (self) optim::{c.name}({', '.join(b.passed)});\n"
                f"}}{annotations(b)}{keep});\n"
            )
        text += schedule_members(c, is_schedule) + "}\n"
    write(
        out / "optimizers.cpp",
        unit(
            "bind_optimizers",
            "nb::module_& home",
            "bind_optimizer_base(home);\n" + text,
            '#include "generated.hpp"\n#include "optimizers.hpp"\n',
        ),
    )
    return unbound


def qualify(types: Types, c: Class, type: str) -> str:
    for alias, target in c.aliases.items():
        type = re.sub(rf"(?<!:)\b{alias}\b", target, type)
    plain = re.sub(r"\bconst\b|&", "", type).strip()
    if plain in types.structs:
        type = type.replace(plain, f"optim::{plain}")
    return type.replace("Schedulers", "std::vector<std::shared_ptr<LRScheduler>>")


def schedule_members(c: Class, is_schedule: bool) -> str:
    """Returns the members of schedules whose step() takes an argument, or that are no LRScheduler."""
    text = ""
    for f in c.functions:
        if f.name == "step" and f.parameters:
            p = f.parameters[0]
            text += (
                f'schedule.def("step", [](optim::{c.name}& self, {p.type} {p.name}) {{\n'
                f'self.step({p.name});\n}}, nb::arg("{p.name}"), {doc(f.comment)});\n'
            )
            if is_schedule:
                text += f'schedule.def("step", [](optim::{c.name}& self) {{ self.step(); }});\n'
    return text + ("" if is_schedule else "bind_schedule_members(schedule);\n")
