"""Reads the declarations of the library's public headers: functions, structures, enumerations and classes.

It understands the style in which these headers are written, not C++ in general: declarations are formatted by
clang-format, a body begins with " {", and the braces of an initialiser follow a name, "=" or "(".
"""

import re
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Parameter:
    type: str
    name: str = ""
    default: str | None = None
    comment: str = ""


@dataclass(frozen=True)
class Function:
    name: str
    result: str
    parameters: tuple[Parameter, ...]
    comment: str = ""
    scope: str = "reprise"
    is_template: bool = False
    is_const: bool = False
    is_static: bool = False


@dataclass
class Class:
    name: str
    scope: str
    key: str  # "struct" or "class"
    bases: list[str] = field(default_factory=list)
    template: str = ""  # the parameter list, without "template"
    fields: list[Parameter] = field(default_factory=list)
    functions: list[Function] = field(default_factory=list)
    constructors: list[Function] = field(default_factory=list)
    aliases: dict[str, str] = field(default_factory=dict)
    comment: str = ""
    is_layer: bool = False  # marked by REPRISE_LAYER


@dataclass
class Header:
    functions: list[Function] = field(default_factory=list)
    classes: list[Class] = field(default_factory=list)
    enums: dict[str, list[str]] = field(default_factory=dict)  # qualified name: enumerators
    aliases: dict[str, str] = field(default_factory=dict)  # qualified name: type
    alias_comments: dict[str, str] = field(default_factory=dict)
    usings: list[tuple[str, str]] = field(default_factory=list)  # scope, qualified name


OPEN, CLOSE = "([{<", ")]}>"


def split(text: str, separator: str = ",") -> list[str]:
    """Splits at separators that are outside of brackets and strings."""
    parts, depth, begin, quoted = [], 0, 0, 0
    for i, c in enumerate(text):
        if i < quoted:
            continue
        if found := QUOTED.match(text, i):
            quoted = found.end()
        elif c in OPEN:
            depth += 1
        elif c in CLOSE and text[i - 1 : i + 1] != "->":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[begin:i].strip())
            begin = i + 1
    parts.append(text[begin:].strip())
    return [p for p in parts if p]


# A text or a character, in which a quotation mark may be escaped.  Between digits ' separates thousands.
QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|(?<!\w)\'(?:[^\'\\]|\\.)\'')


def match_close(text: str, at: int) -> int:
    """Returns the index behind the bracket that closes the one at the index; of the same kind, outside of comments."""
    opened, closed = text[at], {"(": ")", "{": "}", "<": ">", "[": "]"}[text[at]]
    depth = 0
    while at < len(text):
        if text.startswith("//", at):
            at = text.find("\n", at)
            continue
        if found := QUOTED.match(text, at):
            at = found.end()
            continue
        if text[at] == opened:
            depth += 1
        elif text[at] == closed:
            depth -= 1
            if depth == 0:
                return at + 1
        at += 1
    raise ValueError("a bracket is not closed")


def braced(declared: str, value: str | None) -> tuple[str, str | None]:
    """Splits "fc{nullptr}" into the name and the initialiser in braces, if there is one."""
    if value is None and declared.endswith("}"):
        at = declared.index("{")
        return declared[:at], declared[at:]
    return declared, value


def parameter(text: str, comment: str = "") -> Parameter:
    """Returns the type, name and default of "const Tensor& x = {}"."""
    declared, *default = split(text.replace("==", "\0"), "=")
    value = default[0].replace("\0", "==") if default else None
    declared, value = braced(declared, value)
    found = re.fullmatch(r"(.*[\s&*>])([A-Za-z_]\w*)", declared)
    if not found or found[1].strip() in ("const", "unsigned"):
        return Parameter(declared.strip(), "", value, comment)
    return Parameter(found[1].strip(), found[2], value, comment)


def parameters(text: str) -> tuple[Parameter, ...]:
    return tuple(parameter(p) for p in split(text))


def is_type(code: str) -> bool:
    """Whether a statement begins the definition of a class, structure or enumeration."""
    return bool(re.match(r"(struct|class|enum)\b[^(]*(:|$)", template_of(code)[0].strip()))


@dataclass
class Statement:
    code: str
    body: str | None
    comment: str


def statements(text: str):
    """Yields the statements of a scope, each with its comment and, in braces, its body."""
    at, code, comments, inner = 0, "", [], []
    pending = None  # a statement that may still get a comment behind it
    while at < len(text):
        c = text[at]
        if text.startswith("//", at):
            end = text.find("\n", at)
            line = text[at + 2 : end].strip()
            if code.strip():
                inner.append(line)
            elif pending and "\n" not in text[pending[1] : at]:
                pending[0].comment = pending[0].comment or line
            else:
                comments.append(line)
            at = end
            continue
        if c == "\n" and text[at : at + 2] == "\n\n" and not code.strip():
            comments = []
        if c == "(" or c == "[":
            end = match_close(text, at)
            code += re.sub(r"//[^\n]*", "", text[at:end])
            at = end
            continue
        if c == "{":
            end = match_close(text, at)
            before = code.rstrip()
            is_initializer = text[at - 1] not in " \n" or before.endswith(("=", "return"))
            if is_initializer:
                code += re.sub(r"//[^\n]*", "", text[at:end])
                at = end
                continue
            body = text[at + 1 : end - 1]
            at = end
            if is_type(before.strip()):
                semicolon = text.index(";", at)
                trailing = text[at:semicolon].strip()
                at = semicolon + 1
                code = before + (f" \1 {trailing}" if trailing else "")
            if pending:
                yield pending[0]
            pending = (Statement(" ".join(code.split()), body, "\n".join(comments or inner)), at)
            code, comments, inner = "", [], []
            continue
        if c == ";":
            if pending:
                yield pending[0]
            pending = (Statement(" ".join(code.split()), None, "\n".join(comments or inner)), at)
            code, comments, inner = "", [], []
        elif c == ":" and re.fullmatch(r"\s*(public|protected|private)", code):
            if pending:
                yield pending[0]
                pending = None
            yield Statement(code.strip() + ":", None, "")
            code, comments, inner = "", [], []
        else:
            code += c
        at += 1
    if pending:
        yield pending[0]


FUNCTION = re.compile(
    r"(?P<result>(?:[\w:<>,*& ]|\bconst\b)*?[\w>&*])?\s*"
    r"\b(?P<name>operator\(\)|[A-Za-z_]\w*)\s*\((?P<rest>.*)$",
    re.S,
)


def without_prefixes(code: str) -> tuple[str, set[str]]:
    words = set()
    while found := re.match(r"(inline|constexpr|static|virtual|explicit|friend|extern|\[\[\w+\]\])\s+", code):
        words.add(found[1])
        code = code[found.end() :]
    return code, words


def template_of(code: str) -> tuple[str, str | None]:
    """Splits "template <class T> void f()" into the declaration and the parameter list."""
    if not code.startswith("template"):
        return code, None
    at = code.index("<")
    end = match_close(code, at)
    rest = code[end:].strip()
    if rest.startswith("requires"):
        rest = re.sub(r"^requires\s*(\(.*?\)|.*?>)\s*", "", rest)
    return rest, code[at + 1 : end - 1]


def function(code: str, comment: str, scope: str) -> Function | None:
    code, template = template_of(code)
    code, words = without_prefixes(code)
    found = FUNCTION.match(code)
    if not found or "friend" in words:
        return None
    at = found.start("rest") - 1
    end = match_close(code, at)
    suffix = code[end:].strip()
    if suffix.startswith("=") or re.search(r"= (delete|0)$", suffix):
        if "= 0" not in suffix:
            return None
    result = (found["result"] or "").strip()
    if result in ("return", "using", "else"):
        return None
    return Function(
        found["name"],
        result,
        parameters(code[at + 1 : end - 1]),
        comment,
        scope,
        template is not None,
        bool(re.match(r"const\b", suffix)),
        "static" in words,
    )


def fields(code: str, comment: str) -> list[Parameter]:
    """Returns the members of "double eps = 1e-5, beta = 2"."""
    first, *more = split(code)
    head = parameter(first, comment)
    out = [head]
    for text in more:
        name, *default = split(text, "=")
        name, value = braced(name, default[0] if default else None)
        out.append(replace(head, name=name.strip(), default=value))
    return out


def read_enum(header: Header, scope: str, statement: Statement) -> str | None:
    code, _, trailing = statement.code.partition(" \1 ")
    found = re.fullmatch(r"enum (?:class|struct)?\s*(\w+)(?:\s*:\s*[\w:]+)?", code.strip())
    if not found or statement.body is None:
        return None
    names = [split(e, "=") for e in split(re.sub(r"//[^\n]*", "", statement.body))]
    header.enums[f"{scope}::{found[1]}"] = [e[0] for e in names if len(e) == 1 or not e[1].isidentifier()]
    return f"{found[1]} {trailing}" if trailing else ""


def read_class(header: Header, scope: str, statement: Statement) -> None:
    code, template = template_of(statement.code)
    found = re.fullmatch(
        r"(struct|class)\s+(?:\[\[\w+\]\]\s+)?(\w+)(?:\s+final)?(?:\s*:\s*(.*))?", code.strip()
    )
    if not found or statement.body is None:
        return
    key, name, bases = found[1], found[2], found[3] or ""
    out = Class(
        name,
        scope,
        key,
        [re.sub(r"^(public|protected|private)\s+", "", b) for b in split(bases)],
        template or "",
        comment=statement.comment,
    )
    inside = f"{scope}::{name}"
    header.classes.append(out)
    is_public = key == "struct"
    for s in statements(statement.body):
        if marked := MARKER.match(s.code):
            out.is_layer = True
            s.code = s.code[marked.end() :].strip()
        if re.fullmatch(r"(public|protected|private):", s.code):
            is_public = s.code == "public:"
        elif not is_public or "#define" in s.code:
            continue
        elif s.code.startswith("enum"):
            if member := read_enum(header, inside, s):
                out.fields.extend(fields(member, s.comment))
        elif s.body is not None and is_type(s.code):
            read_class(header, inside, s)
        elif found := re.fullmatch(r"using (\w+) = (.*)", s.code):
            out.aliases[found[1]] = found[2]
        elif re.match(r"(using|friend|static_assert)\b", s.code):
            continue
        else:
            read_member(out, inside, s)


MARKER = re.compile(r"^REPRISE_LAYER\(\w+\)\s*")  # a macro without a semicolon behind it


def is_function(code: str) -> bool:
    """Whether a parenthesis comes before any initialiser, outside of template arguments."""
    depth = 0
    for c in code:
        depth += (c == "<") - (c == ">")
        if depth == 0 and c in "(={":
            return c == "("
    return False


def read_member(to: Class, inside: str, s: Statement) -> None:
    code = s.code
    if not code:
        return
    if code.startswith("using ") or "operator" in code and "operator()" not in code:
        if found := re.fullmatch(r"using (\w+) = (.*)", code):
            to.aliases[found[1]] = found[2]
        return
    if not is_function(template_of(code)[0]):
        if s.body is None and not code.startswith("static"):
            to.fields.extend(fields(code, s.comment))
        return
    made = function(code, s.comment, inside)
    if not made:
        return
    if made.name == to.name and not made.result:
        to.constructors.append(made)
    elif made.result:
        to.functions.append(made)


def read_scope(header: Header, scope: str, text: str) -> None:
    for s in statements(text):
        if found := re.fullmatch(r"(?:inline )?namespace\s*([\w:]*)", s.code):
            if s.body is not None and not found[1].endswith("detail"):
                inner = found[1]
                inner_scope = inner if inner.startswith("reprise") else f"{scope}::{inner}".removeprefix("::")
                read_scope(header, inner_scope, s.body)
        elif s.code.startswith("enum"):
            read_enum(header, scope, s)
        elif s.body is not None and is_type(s.code):
            read_class(header, scope, s)
        elif found := re.fullmatch(r"using (\w+) = (.*)", s.code):
            header.aliases[f"{scope}::{found[1]}"] = found[2]
            header.alias_comments[f"{scope}::{found[1]}"] = s.comment
        elif found := re.fullmatch(r"using ([\w:, ]+)", s.code):
            header.usings.extend((scope, name) for name in split(found[1]))
        elif "(" in s.code:
            if made := function(s.code, s.comment, scope):
                header.functions.append(made)


def plain_text(text: str) -> str:
    """Returns a header without directives and with the macros' line continuations removed."""
    text = re.sub(r"\\\n", " ", re.sub(r"/\* (\w+) \*/", r"\1", text))
    return re.sub(r"^[ \t]*#[^\n]*$", "", text, flags=re.M) + "\n"


def read_header(text: str, scope: str = "") -> Header:
    header = Header()
    read_scope(header, scope, plain_text(text))
    return header


def read_rows(text: str) -> list[Function]:
    """Returns the functions of the rows of elementwise.def."""
    names = {"UNARY": ("x",), "BINARY": ("a", "b"), "TERNARY": ("a", "b", "c")}
    out, comment = [], []
    for line in text.splitlines():
        if found := re.match(r"(UNARY|BINARY|TERNARY)\s*\((\w+)", line):
            tensors = tuple(Parameter("const Tensor&", n) for n in names[found[1]])
            out.append(
                Function(found[2], "Tensor", tensors, "\n".join(comment) or f"The elementwise op {found[2]}.")
            )
            comment = []
        elif found := re.match(r"// (.*)", line):
            comment.append(found[1])
        elif not line.startswith((" ", "\t")):
            comment = []
    return out
