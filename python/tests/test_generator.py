"""python/generate: what it reads from headers, and the bindings that it makes of it."""

import pathlib
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "generate"))
from declarations import Parameter, parameter, read_header, read_rows  # noqa: E402
from emit import bind, without_covered  # noqa: E402
from layers import setter  # noqa: E402
from ops import unlisted  # noqa: E402
from types_of import Types, Unsupported  # noqa: E402

HEADER = """
namespace reprise {
enum class Mode { slow, fast };
inline constexpr std::array<std::pair<std::string_view, Mode>, 2> names_of_choices(Mode) { return {}; }
// Options of f().
template <std::size_t N> struct Options {
    WindowSizes<N> stride = 1; // the distance
    std::array<std::int64_t, N> size = detail::each<N>(2);
    Choice<Mode> mode = Mode::slow;
    double a = 1e-5, b = 2; // two numbers
};
// Computes f,
// in two lines.
Tensor f(const Tensor& x, const Options<2>& = {});
Tensor f(const Tensor& x, double a); // with a number
template <class T> Tensor f(T);
Tensor g(const Tensor&, Unknown);
class Layer : public ModuleOf<Tensor(Tensor, Tensor)> {
public:
    REPRISE_LAYER(Layer)
    struct Settings {
        bool bias = true;
    };
    explicit Layer(std::int64_t n, const Settings& = {}) : n_{n} {}
    using Module::forward;
    Tensor forward(Tensor a, Tensor b) override;
    Variable weight, // [n]
        bias;
    Inner inner{nullptr};

private:
    std::int64_t n_ = 0;
};
} // namespace reprise
"""


def read():
    header = read_header(HEADER)
    return header, Types([header])


def test_functions_structures_and_classes_are_read():
    header, _ = read()
    f = [x for x in header.functions if x.name == "f"]
    assert [(x.is_template, len(x.parameters), x.comment) for x in f] == [
        (False, 2, "Computes f,\nin two lines."),
        (False, 2, "with a number"),
        (True, 1, ""),
    ]
    options, layer, settings = header.classes
    assert [(p.type, p.name, p.default) for p in options.fields][-3:] == [
        ("Choice<Mode>", "mode", "Mode::slow"),
        ("double", "a", "1e-5"),
        ("double", "b", "2"),
    ]
    assert layer.is_layer and layer.bases == ["ModuleOf<Tensor(Tensor, Tensor)>"]
    assert [p.name for p in layer.fields] == ["weight", "bias", "inner"]
    assert layer.constructors[0].parameters[0] == Parameter("std::int64_t", "n")
    assert settings.scope == "reprise::Layer" and settings.fields[0].default == "true"
    assert header.enums == {"reprise::Mode": ["slow", "fast"]}


@pytest.mark.parametrize(
    "text, expected",
    [
        ("const Tensor& x = {}", Parameter("const Tensor&", "x", "{}")),
        ("DType", Parameter("DType")),
        ("std::optional<double> p = std::nullopt", Parameter("std::optional<double>", "p", "std::nullopt")),
        ("const Dims& dims = {-2, -1}", Parameter("const Dims&", "dims", "{-2, -1}")),
    ],
)
def test_parameters(text, expected):
    assert parameter(text) == expected


def test_options_become_keywords_and_covered_overloads_are_left_out():
    header, types = read()
    overloads = [bind(types, f) for f in header.functions if f.name == "f" and not f.is_template]
    assert [a.name for a in overloads[0].arguments] == ["x", "stride", "size", "mode", "a", "b"]
    assert overloads[0].arguments[3].default == "text_of<reprise::Mode>(reprise::Mode::slow)"
    assert "options.size = size.array();" in overloads[0].statements
    assert without_covered(overloads) == overloads[:1]


def test_a_type_without_a_counterpart_is_reported():
    header, types = read()
    with pytest.raises(Unsupported, match="Unknown"):
        bind(types, next(f for f in header.functions if f.name == "g"))


def test_rows_of_elementwise_ops():
    rows = read_rows(
        "// the sign\nUNARY (sign, N, N, f(x), NONE, -2, 2)\nTERNARY(clamp, N, N, N, N,\n    more)\n"
    )
    assert [(r.name, len(r.parameters), r.comment) for r in rows] == [
        ("sign", 1, "the sign"),
        ("clamp", 3, "The elementwise op clamp."),
    ]


def test_what_is_dropped_is_reported():
    header = read_header(
        """namespace reprise {
struct Options {
    enum class Shade { dark, light };
    Unknown field{};
    Choice<Shade> shade = Shade::dark;
    double a = 1;
};
Tensor f(const Tensor& x, const Options& = {});
}"""
    )
    types = Types([header])
    bound = bind(types, header.functions[0])
    assert [a.name for a in bound.arguments] == ["x", "shade", "a"]
    assert bound.arguments[1].default == "text_of<reprise::Options::Shade>(reprise::Options::Shade::dark)"
    assert types.left_out["Options.field"].startswith("an argument of type Unknown")
    assert list(unlisted({"ops/new": header, "nn/new": header})) == ["f"]


def test_quotation_marks_in_texts_and_characters_open_nothing():
    header = read_header(
        """namespace reprise {
inline char f() { return '"'; }
inline char g() { return '{'; }
inline std::string h(std::string text = "a\\"b, {") { return text; }
inline int i() { return 1'000; }
Tensor j(const Tensor& x);
}"""
    )
    assert [f.name for f in header.functions] == ["f", "g", "h", "i", "j"]
    assert len(header.functions[2].parameters) == 1


def test_options_are_set_by_their_own_argument():
    header = read_header(
        """namespace reprise::optim {
struct Settings {
    double a = 1;
    double lr_a = 2;
    Tensor tensor = {};
};
}"""
    )
    text = setter(Types([header]), header.classes[0])
    assert [line.split(" = ")[0] for line in text.splitlines() if line.startswith("options.")] == [
        "options.a",
        "options.lr_a",
        "options.tensor",
    ]
    assert 'key == "tensor"' in text and "options.tensor = tensor_or_none(tensor);" in text
