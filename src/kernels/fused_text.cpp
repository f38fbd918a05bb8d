// The fuser: writes the text of one kernel for a chain.  A step calls a function with its row's formula from the table.
// Its result is rounded to its dtype as by a store and a load, so that the bits are those of separate launches.
#include <algorithm>
#include <sstream>

#include "kernels/chain.hpp"
#include "kernels/shader_texts.hpp"
#include "kernels/walk.hpp"
#include "ops/readers.hpp"
#include "shape/rules.hpp"

namespace reprise::kernels {

namespace {

using ops::LaunchOperand;
using Source = Chain::Source;

// The type of a value in a register.
enum class Kind : std::uint8_t { real, integer, truth };

Kind kind_of(DType t) { return t == boolean ? Kind::truth : is_floating(t) ? Kind::real : Kind::integer; }

const char* type_of(Kind k) { return k == Kind::real ? "float" : k == Kind::integer ? "int" : "bool"; }
const char* vector_of(Kind k) { return k == Kind::real ? "vec4" : k == Kind::integer ? "ivec4" : "bvec4"; }
const char* loader_of(Kind k)
{
    return k == Kind::real ? "floats_of" : k == Kind::integer ? "ints_of" : "bools_of";
}
const char* precise_type_of(Kind k) { return k == Kind::real ? "precise float" : type_of(k); }

std::string dtype_name(DType t) // "DTYPE_F32", as in shaders/common/dtypes.glsl
{
    std::string name = std::string("DTYPE_") + name_of(t);
    for (char& c : name)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return name;
}

// Returns the slots among x..., y, dy that the part's formula reads.
std::vector<int> slots_of(const Chain::Step& s)
{
    const ops::Row& row = ops::row_of(*s.op);
    const int part = s.op->part, all = row.arity() + (part ? 2 : 0);
    std::vector<int> slots;
    for (int i = 0; i < all; ++i)
        if (!part || (row.reads[static_cast<std::size_t>(part)] >> i & 1)) slots.push_back(i);
    return slots;
}

class Writer {
public:
    Writer(const Chain& c, std::span<const LaunchOperand> operands, bool texels)
        : chain_(c), operands_(operands), texels_(texels)
    {
        for (const Chain::Input& in : c.inputs) {
            const Dim offset = in.number || in.product ? Dim(0) : operands[in.operand].offset;
            walks_.push_back(in.product ? Walk::contiguous : walk_of(c, in, offset));
            walked_ |= walks(walks_.back());
        }
        number_inputs();
    }

    FusedKernel kernel()
    {
        out_.ints.insert(out_.ints.begin(), shape::element_count(chain_.sizes));
        text_ << "#version 460\n";
        write_counts();
        if (texels_) text_ << "#define SLAB\n";
        write_parts(texels_ ? "layout(constant_id = 0) const uint PATH = 0;\n" : "");
        text_ << "layout(local_size_x = 128) in;\n";
        write_functions();
        write_element();
        write_main();
        out_.text = text_.str();
        return std::move(out_);
    }

    // Writes a variant of a reduction's shader, preceded by start_chain() and by chain(at), which replaces LOAD(at).
    FusedKernel reduction(const ShaderVariant& v)
    {
        single_ = true;
        text_ << "#version 460\n#define CHAIN\n";
        write_counts();
        write_definitions(v);
        if (v.defines("TEXELS")) text_ << "#define SLAB\n";
        write_parts(v.defines("TEXELS") ? "const uint PATH = 1;\n" : "");
        write_functions();
        write_element();
        write_chain(v.defines("ROWS") || v.defines("COLUMNS"));
        text_ << v.text;
        out_.text = text_.str();
        return std::move(out_);
    }

    // Writes a variant of a product's shader, with the chain's operands and numbers in its record, and with finish()
    // and finish4() behind it.
    FusedKernel product(const ShaderVariant& v)
    {
        single_ = true;
        text_ << "#version 460\n#define CHAIN\n#define CHAIN_OPERANDS ";
        for (std::size_t k = own_operands(); k < operands_.size(); ++k) text_ << "INPUT(o" << k << ") ";
        for (std::size_t i = 0; i < chain_.inputs.size(); ++i)
            if (as_float_[i]) text_ << "FLOAT(i" << i << ") ";
        text_ << '\n';
        write_definitions(v);
        write_parts("");
        if (has_half_results()) text_ << "#include \"common/halves.glsl\"\n";
        write_functions();
        write_element();
        const std::string end = "END_RECORD\n";
        const std::size_t behind = v.text.find(end) + end.size();
        text_ << v.text.substr(0, behind) << "#ifndef RESULT\n#define RESULT c\n#endif\n";
        write_finish(false);
        write_finish(true);
        text_ << v.text.substr(behind);
        out_.text = text_.str();
        return std::move(out_);
    }

private:
    std::size_t rank() const { return walked_ ? chain_.sizes.size() : 0; }
    bool is_number(const Source& s) const
    {
        return s.from == Source::From::input && chain_.inputs[s.index].number.has_value();
    }

    bool has_half_results() const
    {
        return std::any_of(chain_.results.begin(), chain_.results.end(),
                           [&](std::uint32_t r) { return chain_.steps[r].dtype != f32; });
    }

    // Lists the launch's floats and ints.  A number is read as a float, by a step on integers as an int, or as both.
    void number_inputs()
    {
        as_float_.assign(chain_.inputs.size(), false);
        as_int_.assign(chain_.inputs.size(), false);
        for (const Chain::Step& s : chain_.steps)
            for (const Source& from : s.sources)
                if (is_number(from)) (computes_integers(chain_, s) ? as_int_ : as_float_)[from.index] = true;
        if (walked_) out_.ints.insert(out_.ints.end(), chain_.sizes.begin(), chain_.sizes.end());
        for (std::size_t i = 0; i < chain_.inputs.size(); ++i) {
            const Chain::Input& in = chain_.inputs[i];
            if (in.number) {
                if (as_float_[i]) out_.floats.push_back(*in.number);
            } else if (walks(walks_[i])) {
                out_.ints.insert(out_.ints.end(), in.strides.begin(), in.strides.end());
            }
        }
        for (std::size_t i = 0; i < chain_.inputs.size(); ++i)
            if (as_int_[i]) out_.ints.push_back(as_integer(*chain_.inputs[i].number, "fuse"));
    }

    void write_counts()
    {
        text_ << "#define OPERANDS " << operands_.size() << "\n#define FLOATS " << out_.floats.size() << '\n';
    }

    void write_definitions(const ShaderVariant& v)
    {
        for (std::string d : v.definitions) {
            std::replace(d.begin(), d.end(), '=', ' '); // "ROWS=32u"
            text_ << "#define " << d << '\n';
        }
    }

    void write_parts(const char* path)
    {
        for (const char* part : {"abi", "vocabulary", "dtypes", "index"})
            text_ << "#include \"common/" << part << ".glsl\"\n";
        text_ << path << "#include \"common/elements.glsl\"\n";
    }

    static std::string function_name(const Chain::Step& s, bool integer)
    {
        return part_name(*s.op) + (integer ? "_i32" : "");
    }

    // Returns the parameter type of the function for a slot, whose type in the table is 'F', 'N', 'I' or 'B'.
    Kind slot_kind(const Chain::Step& s, int slot, bool integer) const
    {
        const ops::Row& row = ops::row_of(*s.op);
        const char type = slot < row.arity() ? row.types[static_cast<std::size_t>(slot)] : 'F';
        return kind_of_type(type, integer);
    }
    Kind result_kind(const Chain::Step& s, bool integer) const
    {
        const char type = s.op->part ? 'F' : ops::row_of(*s.op).types.back();
        return kind_of_type(type, integer);
    }
    static Kind kind_of_type(char type, bool integer)
    {
        return type == 'B' ? Kind::truth : type != 'F' && integer ? Kind::integer : Kind::real;
    }

    void write_functions()
    {
        std::vector<std::string> written;
        for (const Chain::Step& s : chain_.steps) {
            const bool integer = computes_integers(chain_, s);
            const std::string name = function_name(s, integer);
            if (std::find(written.begin(), written.end(), name) != written.end()) continue;
            written.push_back(name);
            const ops::Row& row = ops::row_of(*s.op);
            static constexpr const char* names[] = {"a", "b", "c"};
            text_ << "#undef K\n#define K(c) " << (integer ? "int" : "float") << "(c)\n"
                  << precise_type_of(result_kind(s, integer)) << ' ' << name << '(';
            const char* comma = "";
            for (const int slot : slots_of(s)) {
                text_ << comma << type_of(slot_kind(s, slot, integer)) << ' '
                      << (slot == row.arity()       ? "y"
                          : slot == row.arity() + 1 ? "dy"
                          : row.arity() == 1        ? "x"
                                                    : names[slot]);
                comma = ", ";
            }
            text_ << ") { return " << row.text[static_cast<std::size_t>(s.op->part)] << "; }\n";
        }
    }

    // Returns the expression that passes a value to a step's function.
    std::string argument(const Source& from, Kind wanted, bool integer) const
    {
        const char* where = from.from == Source::From::step ? "s" : is_number(from) && integer ? "n" : "i";
        const std::string v = where + std::to_string(from.index);
        if (is_number(from)) return wanted == Kind::truth ? "rp_is_nonzero(" + v + ")" : v;
        return converted(v, kind_of(dtype_of(chain_, from)), wanted);
    }
    // Converts in the same way as loads and stores (shaders/common/dtypes.glsl).
    static std::string converted(const std::string& v, Kind has, Kind wanted)
    {
        if (has == wanted) return v;
        if (wanted == Kind::truth) return "rp_is_nonzero(" + v + ")";
        if (has == Kind::truth) return wanted == Kind::real ? "(" + v + " ? 1.0 : 0.0)" : "int(" + v + ")";
        return wanted == Kind::real ? "float(" + v + ")" : "rp_to_i32(" + v + ")";
    }
    // Rounds or truncates the result of a function to a dtype.
    static std::string stored(const std::string& v, Kind has, DType t)
    {
        if (t == f16 || t == bf16) {
            const std::string d = dtype_name(t);
            return "float_of(bits_of(" + v + ", " + d + "), " + d + ")";
        }
        const std::string out = converted(v, has, kind_of(t));
        if (t == i16 || t == i8) return "bitfieldExtract(" + out + ", 0, " + (t == i16 ? "16)" : "8)");
        return t == u8 ? "((" + out + ") & 255)" : out;
    }

    // Lists the parameters of element() for inputs: `i0` from memory, a number `i1` as a float or `n1` as an int.
    template <class Write> void for_each_argument(Write&& write) const
    {
        for (std::size_t i = 0; i < chain_.inputs.size(); ++i) {
            const Chain::Input& in = chain_.inputs[i];
            if (!in.number) write(type_of(kind_of(in.dtype)), 'i', i);
            if (as_float_[i]) write("float", 'i', i);
            if (as_int_[i]) write("int", 'n', i);
        }
    }

    void write_element()
    {
        text_ << "void element(";
        const char* comma = "";
        for_each_argument([&](const char* type, char letter, std::size_t i) {
            text_ << comma << type << ' ' << letter << i;
            comma = ", ";
        });
        for (std::size_t r = 0; r < chain_.results.size(); ++r) {
            text_ << comma << "out " << type_of(kind_of(chain_.steps[chain_.results[r]].dtype)) << " r" << r;
            comma = ", ";
        }
        text_ << ")\n{\n";
        for (std::size_t k = 0; k < chain_.steps.size(); ++k) {
            const Chain::Step& s = chain_.steps[k];
            const bool integer = computes_integers(chain_, s);
            const std::vector<int> slots = slots_of(s);
            std::string call = function_name(s, integer) + "(";
            for (std::size_t i = 0; i < slots.size(); ++i)
                call += (i ? ", " : "") + argument(s.sources[i], slot_kind(s, slots[i], integer), integer);
            const Kind returned = result_kind(s, integer);
            text_ << "    " << precise_type_of(returned) << " t" << k << " = " << call << ");\n    "
                  << precise_type_of(kind_of(s.dtype)) << " s" << k << " = "
                  << stored("t" + std::to_string(k), returned, s.dtype) << ";\n";
        }
        for (std::size_t r = 0; r < chain_.results.size(); ++r)
            text_ << "    r" << r << " = s" << chain_.results[r] << ";\n";
        text_ << "}\n";
    }

    // Reads the complete record before any branch: inside of a branch, lavapipe would load it once per lane.
    void write_record()
    {
        text_ << "void main()\n{\n    const uint count = uint(record.n[0]);\n";
        for (std::size_t i = 0; i < operands_.size(); ++i)
            text_ << "    const Operand o" << i << " = record.operand[" << i << "];\n";
        std::size_t at = 1, next_float = 0;
        if (walked_) {
            text_ << "    uint size[MAX_RANK];\n";
            for (std::size_t d = 0; d < rank(); ++d)
                text_ << "    size[" << d << "] = uint(record.n[" << at++ << "]);\n";
        }
        for (std::size_t i = 0; i < chain_.inputs.size(); ++i) {
            if (chain_.inputs[i].number) {
                if (as_float_[i])
                    text_ << "    const float i" << i << " = record.f[" << next_float++ << "];\n";
            } else if (walks(walks_[i])) {
                text_ << "    int stride" << i << "[MAX_RANK];\n";
                for (std::size_t d = 0; d < rank(); ++d)
                    text_ << "    stride" << i << '[' << d << "] = record.n[" << at++ << "];\n";
            }
        }
        for (std::size_t i = 0; i < chain_.inputs.size(); ++i)
            if (as_int_[i]) text_ << "    const int n" << i << " = record.n[" << at++ << "];\n";
        text_ << "    const uint group = flat_group() * gl_WorkGroupSize.x + gl_LocalInvocationID.x;\n"
                 "    const uint first = 4u * group;\n    if (first >= count) return;\n";
    }

    // Computes the offset of the first element of each operand with strides; for Walk::strided, of all four elements.
    void write_offsets()
    {
        if (!walked_) return;
        text_ << "    uint c[MAX_RANK];\n    coordinates(first, " << rank() << "u, size, c);\n";
        bool strided = false;
        for (std::size_t i = 0; i < walks_.size(); ++i) {
            if (!walks(walks_[i])) continue;
            strided |= walks_[i] == Walk::strided;
            text_ << "    uvec4 at" << i << ";\n    at" << i << ".x = offset(" << rank() << "u, c, stride"
                  << i << ");\n";
        }
        for (std::size_t j = 1; strided && j < 4; ++j) {
            text_ << "    advance(first + " << j << "u < count ? 1u : 0u, " << rank() << "u, size, c);\n";
            for (std::size_t i = 0; i < walks_.size(); ++i)
                if (walks_[i] == Walk::strided)
                    text_ << "    at" << i << '.' << "xyzw"[j] << " = offset(" << rank() << "u, c, stride"
                          << i << ");\n";
        }
    }

    std::string bits(std::size_t i) const
    {
        const std::string o = "o" + std::to_string(chain_.inputs[i].operand);
        const std::string t = dtype_name(chain_.inputs[i].dtype), at = "at" + std::to_string(i);
        const auto element = [&](const std::string& e) {
            return "load_element(" + o + ", " + t + ", " + e + ")";
        };
        switch (walks_[i]) {
        case Walk::contiguous: return "load_group(" + o + ", " + t + ", group)";
        case Walk::rows: return "load_group(" + o + ", " + t + ", " + at + ".x >> 2)";
        case Walk::splat: return "uvec4(" + element(at + ".x") + ")";
        case Walk::scalar: return "uvec4(" + element("0u") + ")";
        default:
            return "uvec4(" + element(at + ".x") + ", " + element(at + ".y") + ", " + element(at + ".z") +
                   ", " + element(at + ".w") + ")";
        }
    }

    void write_main()
    {
        write_record();
        write_offsets();
        for (std::size_t i = 0; i < chain_.inputs.size(); ++i) {
            if (chain_.inputs[i].number) continue;
            const Kind k = kind_of(chain_.inputs[i].dtype);
            text_ << "    const " << vector_of(k) << " i" << i << " = " << loader_of(k) << '(' << bits(i)
                  << ", " << dtype_name(chain_.inputs[i].dtype) << ");\n";
        }
        for (std::size_t r = 0; r < chain_.results.size(); ++r)
            text_ << "    " << vector_of(kind_of(chain_.steps[chain_.results[r]].dtype)) << " r" << r
                  << ";\n";
        for (const char j : {'x', 'y', 'z', 'w'}) write_call(std::string(".") + j);
        for (std::size_t r = 0; r < chain_.results.size(); ++r) {
            const std::string t = dtype_name(chain_.steps[chain_.results[r]].dtype);
            text_ << "    store_group(o" << chain_.memory_inputs() + r << ", " << t << ", group, bits_of(r"
                  << r << ", " << t << "));\n";
        }
        text_ << "}\n";
    }

    // Writes start_chain(), which reads the record and one-element operands, and chain(at), which computes the result
    // at element `at` or, with `groups`, at the four elements of group `at`.
    void write_chain(bool groups)
    {
        std::ostringstream start;
        std::size_t next_float = 0;
        for (std::size_t i = 0; i < chain_.inputs.size(); ++i) {
            const Chain::Input& in = chain_.inputs[i];
            const std::string v = "i" + std::to_string(i), o = "o" + std::to_string(in.operand);
            if (in.number) {
                text_ << "float " << v << ";\n";
                start << "    " << v << " = record.f[" << next_float++ << "];\n";
                continue;
            }
            text_ << "Operand " << o << ";\n";
            start << "    " << o << " = record.operand[" << in.operand << "];\n";
            if (walks_[i] != Walk::scalar) continue;
            text_ << type_of(kind_of(in.dtype)) << ' ' << v << ";\n";
            start << "    " << v << " = " << loader_of(kind_of(in.dtype)) << '(' << bits(i) << ", "
                  << dtype_name(in.dtype) << ").x;\n";
        }
        text_ << "void start_chain()\n{\n" << start.str() << "}\n";
        text_ << (groups ? "vec4" : "float") << " chain(uint at)\n{\n";
        for (std::size_t i = 0; i < chain_.inputs.size(); ++i) {
            if (walks_[i] != Walk::contiguous) continue;
            const Kind k = kind_of(chain_.inputs[i].dtype);
            const std::string t = dtype_name(chain_.inputs[i].dtype);
            const std::string o = "(o" + std::to_string(chain_.inputs[i].operand) + ", " + t + ", at)" +
                                  (groups ? ", " : "), ") + t + ")";
            if (groups)
                text_ << "    const " << vector_of(k) << " i" << i << " = " << loader_of(k) << "(load_group"
                      << o;
            else
                text_ << "    const " << type_of(k) << " i" << i << " = " << loader_of(k)
                      << "(uvec4(load_element" << o;
            text_ << (groups ? ";\n" : ".x;\n");
        }
        text_ << "    " << (groups ? "vec4" : "float") << " r0;\n";
        if (groups)
            for (const char j : {'x', 'y', 'z', 'w'}) write_call(std::string(".") + j);
        else write_call("");
        text_ << "    return r0;\n}\n";
    }

    // The number of operands of a product's kernel, which precede those of the chain.
    std::size_t own_operands() const
    {
        std::size_t first = operands_.size() - (chain_.results.size() - 1);
        for (const Chain::Input& in : chain_.inputs)
            if (!in.number && !in.product) first = std::min(first, std::size_t{in.operand});
        return first;
    }

    // Writes finish(at, column, product), which computes the chain of element `at` of the result of a product or of a
    // kernel of rows, the operand RESULT, and stores the chain's results; with `groups` finish4(), for elements `at` to
    // at + 3 of a row, where `at` is a multiple of 4.
    void write_finish(bool groups)
    {
        const char *real = groups ? "vec4" : "float", *unit = groups ? " / 4u" : "";
        text_ << "void finish" << (groups ? "4" : "") << "(uint at, uint column, " << real
              << " product)\n{\n";
        for (std::size_t i = 0; i < chain_.inputs.size(); ++i) write_finishing_input(i, groups);
        for (std::size_t r = 0; r < chain_.results.size(); ++r) text_ << "    " << real << " r" << r << ";\n";
        if (groups)
            for (const char j : {'x', 'y', 'z', 'w'}) write_call(std::string(".") + j);
        else write_call("");
        const std::size_t others = operands_.size() - (chain_.results.size() - 1);
        for (std::size_t r = 0; r < chain_.results.size(); ++r) {
            const std::string to =
                "record." + (r == 0 ? "RESULT" : "o" + std::to_string(others + r - 1)) + ".address";
            const DType t = chain_.steps[chain_.results[r]].dtype;
            const std::string value = "r" + std::to_string(r),
                              bits = "bits_of(" + value + ", " + dtype_name(t) + ")";
            if (t == f32)
                text_ << "    " << (groups ? "Vec4s(" : "Floats(") << to << ").v[at" << unit
                      << "] = " << value << ";\n";
            else if (groups)
                text_ << "    store4_bits(" << to << ", " << dtype_name(t) << ", at / 4u, " << bits << ");\n";
            else text_ << "    Halves(" << to << ").v[at] = uint16_t(" << bits << ");\n";
        }
        text_ << "}\n";
    }
    void write_finishing_input(std::size_t i, bool groups)
    {
        const Chain::Input& in = chain_.inputs[i];
        const std::string name = " i" + std::to_string(i) + " = ";
        if (in.number) {
            text_ << "    const float" << name << "record.i" << i << ";\n";
            return;
        }
        if (in.product) {
            text_ << "    const " << (groups ? "vec4" : "float") << name << "product;\n";
            return;
        }
        const Kind k = kind_of(in.dtype);
        const std::string o = "record.o" + std::to_string(in.operand), t = dtype_name(in.dtype);
        const bool one = walks_[i] == Walk::scalar;
        const char* at = one ? "0u" : walks_[i] == Walk::contiguous ? "at" : "column";
        if (groups && !one)
            text_ << "    const " << vector_of(k) << name << loader_of(k) << "(load_group(" << o << ", " << t
                  << ", " << at << " / 4u), " << t << ");\n";
        else
            text_ << "    const " << type_of(k) << name << loader_of(k) << "(uvec4(load_element(" << o << ", "
                  << t << ", " << at << ")), " << t << ").x;\n";
    }

    // `at`: ".x" to ".w", or empty if elements are loaded one by one.
    void write_call(const std::string& at)
    {
        text_ << "    element(";
        const char* comma = "";
        for_each_argument([&](const char*, char letter, std::size_t i) {
            const bool one = chain_.inputs[i].number || (single_ && walks_[i] == Walk::scalar);
            text_ << comma << letter << i << (one ? "" : at);
            comma = ", ";
        });
        for (std::size_t r = 0; r < chain_.results.size(); ++r) {
            text_ << comma << 'r' << r << at;
            comma = ", ";
        }
        text_ << ");\n";
    }

    const Chain& chain_;
    std::span<const LaunchOperand> operands_;
    bool texels_;
    std::vector<Walk> walks_; // by input
    bool walked_ = false;
    bool single_ = false;                 // one-element operands are scalars, not vectors
    std::vector<bool> as_float_, as_int_; // by input: how steps read a number
    FusedKernel out_;
    std::ostringstream text_;
};

} // namespace

FusedKernel fused_kernel(const Chain& c, std::span<const LaunchOperand> operands,
                         const device::Capabilities& caps)
{
    return Writer(c, operands, caps.prefer_texels).kernel();
}

namespace {

// Whether a kernel of f32 can compute the chain in place of a load or a store of its own.
bool is_chain_of_floats(const Chain& c, bool halves = false)
{
    if (computes_doubles(c) || computes_longs(c)) return false;
    for (const std::uint32_t result : c.results)
        if (const DType t = c.steps[result].dtype; t != f32 && !(halves && (t == f16 || t == bf16)))
            return false;
    return std::none_of(c.steps.begin(), c.steps.end(),
                        [&](const Chain::Step& s) { return computes_integers(c, s); });
}

// Whether element i of the results reads element i % columns of the input.
bool repeats_a_row(const Chain& c, const Chain::Input& in, const Dim& columns)
{
    Dim inner = 1;
    std::size_t d = c.sizes.size();
    while (d > 0 && !same(inner, columns)) {
        if (!same(in.strides[--d], inner)) return false;
        inner *= c.sizes[d];
    }
    return same(inner, columns) &&
           std::all_of(in.strides.begin(), in.strides.begin() + static_cast<std::ptrdiff_t>(d),
                       [](const Dim& stride) { return same(stride, 0); });
}

} // namespace

bool fits_reduction(const Chain& c, std::span<const LaunchOperand> operands)
{
    if (c.results.size() != 1 || !is_chain_of_floats(c)) return false;
    return std::all_of(c.inputs.begin(), c.inputs.end(), [&](const Chain::Input& in) {
        if (in.number) return true;
        if (in.product) return false;
        const Walk w = walk_of(c, in, operands[in.operand].offset);
        return w == Walk::contiguous || w == Walk::scalar;
    });
}

bool fits_product(const Chain& c, std::span<const LaunchOperand> operands, const Dim& columns,
                  bool half_access)
{
    if (!is_chain_of_floats(c, half_access)) return false;
    return std::all_of(c.inputs.begin(), c.inputs.end(), [&](const Chain::Input& in) {
        if (in.number) return true;
        if (in.product) return in.dtype == f32 && c.flat(in);
        const Dim& offset = operands[in.operand].offset;
        const Walk w = walk_of(c, in, offset);
        const bool aligned = offset.divisible_by(16 / static_cast<std::int64_t>(size_of(in.dtype)));
        return w == Walk::contiguous || w == Walk::scalar || (aligned && repeats_a_row(c, in, columns));
    });
}

FusedKernel fused_product(const Chain& c, std::span<const LaunchOperand> operands, const std::string& kernel)
{
    return Writer(c, operands, false).product(shader_variant(kernel));
}

FusedKernel fused_reduction(const Chain& c, std::span<const LaunchOperand> operands,
                            const std::string& kernel)
{
    return Writer(c, operands, false).reduction(shader_variant(kernel));
}

} // namespace reprise::kernels
