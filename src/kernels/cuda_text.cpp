#include "kernels/cuda_text.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>

namespace reprise::kernels {

namespace {

enum class Type : std::uint8_t { word, number, other, directive, end };

struct Token {
    Type type = Type::end;
    std::string space, text; // `space`: the whitespace before the token
    std::size_t line = 0;    // on which it begins
};

bool begins_word(char c) { return std::isalpha(static_cast<unsigned char>(c)) || c == '_'; }
bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// If a comment begins at `at`, moves `at` to its end (of a `//` comment: to the newline) and returns true.
bool skip_comment(std::string_view text, std::size_t& at)
{
    if (text.substr(at, 2) == "//") {
        at = std::min(text.find('\n', at), text.size());
        return true;
    }
    if (text.substr(at, 2) != "/*") return false;
    at = std::min(text.find("*/", at) + 2, text.size());
    return true;
}

std::vector<Token> tokens_of(std::string_view text, bool in_directive = false)
{
    std::vector<Token> out;
    std::string space;
    std::size_t line = 1;
    bool line_start = !in_directive;
    for (std::size_t at = 0; at < text.size();) {
        const char c = text[at];
        const std::size_t comment = at;
        if (skip_comment(text, at)) {
            const std::string_view skipped = text.substr(comment, at - comment);
            const auto lines = static_cast<std::size_t>(std::count(skipped.begin(), skipped.end(), '\n'));
            if (!in_directive) space.append(lines, '\n'); // so that what follows keeps its line
            line += lines;
            continue;
        }
        if (std::isspace(static_cast<unsigned char>(c))) {
            line_start |= c == '\n';
            line += c == '\n';
            space += c;
            ++at;
            continue;
        }
        std::size_t end = at + 1;
        Type type = Type::other;
        if (c == '#' && line_start) { // includes the lines that continue it with a backslash
            type = Type::directive;
            while (end < text.size() && (text[end] != '\n' || text[end - 1] == '\\')) ++end;
        } else if (begins_word(c)) {
            type = Type::word;
            while (end < text.size() && in_word(text[end])) ++end;
        } else if (std::isdigit(static_cast<unsigned char>(c)) ||
                   (c == '.' && end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])))) {
            type = Type::number;
            const auto exponent = [&](char e) {
                const bool hexadecimal = text.substr(at, 2) == "0x" || text.substr(at, 2) == "0X";
                return (e == '+' || e == '-') && !hexadecimal &&
                       (text[end - 1] == 'e' || text[end - 1] == 'E');
            };
            while (end < text.size() && (in_word(text[end]) || text[end] == '.' || exponent(text[end])))
                ++end;
        }
        out.push_back({type, std::move(space), std::string(text.substr(at, end - at)), line});
        line += static_cast<std::size_t>(std::count(out.back().text.begin(), out.back().text.end(), '\n'));
        space.clear();
        line_start = false;
        at = end;
    }
    out.push_back({Type::end, std::move(space), {}, line});
    return out;
}

// Converts a literal: in GLSL a number with a point is a float, and one with the suffix `lf` a double.
std::string number_of(const std::string& n)
{
    if (n.size() > 1 && n[0] == '0' && (n[1] == 'x' || n[1] == 'X')) return n;
    if (n.find_first_of(".eE") == std::string::npos) return n;
    if (n.back() != 'f' && n.back() != 'F') return n + "f";
    return n.size() > 1 && n[n.size() - 2] == 'l' ? n.substr(0, n.size() - 2) : n;
}

class Rewriter {
public:
    explicit Rewriter(const GlslKernel& k) : kernel_(k) {}

    std::string header()
    {
        begin();
        has_abi_ = true;
        out_ += "#define RP_FN RP_DEVICE\nnamespace rp {\n";
        define("RP_FN");
        rewrite(kernel_.text);
        out_ += "\n}\n";
        end();
        return std::move(out_);
    }

    std::string text()
    {
        begin();
        out_ += "namespace rp::" + kernel_.name +
                "_text {\nstruct Kernel : rp::Invocation {\nusing Invocation::Invocation;\n";
        rewrite(kernel_.text);
        out_ += "\n};\n}\n#ifndef RP_COOPERATES\n#define RP_COOPERATES false\n#endif\nRP_KERNEL_OF_TEXT(" +
                kernel_.name + ", rp::" + kernel_.name +
                "_text::Kernel::rp_threads, RP_COOPERATES)\n{\n    rp::" + kernel_.name +
                "_text::Kernel(rp_record, rp_constants).run();\n}\n#undef RP_COOPERATES\n";
        end();
        return std::move(out_);
    }

private:
    void begin()
    {
        for (const std::string& d : kernel_.definitions) {
            const std::size_t equals = d.find('=');
            define(d.substr(0, equals));
            out_ += "#define " + d.substr(0, equals) + ' ' +
                    (equals == std::string::npos ? "1" : d.substr(equals + 1)) + '\n';
        }
    }
    void end()
    {
        for (const std::string& m : macros_) out_ += "#undef " + m + '\n';
    }

    [[noreturn]] void fail(const std::string& what) const
    {
        throw std::runtime_error((kernel_.shown.empty() ? kernel_.name : kernel_.shown) + ": " + what +
                                 ", which CUDA's reader of GLSL does not know");
    }

    // Gives the next line of the result the number that the compiler's messages have for this line of the kernel's own
    // text: `#line` begins the part whose lines count.
    void go_on_at(std::size_t line)
    {
        if (line_before_first_ && includes_ == 0)
            out_ += "\n#line " + std::to_string(line - *line_before_first_) + shown_file();
    }
    // The same where a statement was written on other lines than it had: what follows `last` is on the line of it.
    void go_on_after(const Token& last)
    {
        go_on_at(last.line);
        out_ += '\n';
    }
    std::string shown_file() const
    {
        return " \"" + (kernel_.shown.empty() ? kernel_.name : kernel_.shown) + '"';
    }

    void define(const std::string& name)
    {
        if (std::find(macros_.begin(), macros_.end(), name) == macros_.end()) macros_.push_back(name);
    }

    // -- one text, with its own tokens and position --
    void rewrite(const std::string& text)
    {
        std::vector<Token> outer = std::move(tokens_);
        const std::size_t outer_at = at_;
        tokens_ = tokens_of(text);
        at_ = 0;
        while (now().type != Type::end) statement();
        out_ += now().space;
        tokens_ = std::move(outer);
        at_ = outer_at;
    }

    const Token& now(std::size_t ahead = 0) const
    {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    bool is(const char* text, std::size_t ahead = 0) const { return now(ahead).text == text; }
    Token take()
    {
        if (now().type == Type::end) fail("a statement without an end");
        return tokens_[at_++];
    }
    Token expect(const char* text)
    {
        if (!is(text)) fail("(" + now().text + ") in place of (" + text + ")");
        return take();
    }

    void directive(const Token& t)
    {
        std::size_t at = 1;
        while (at < t.text.size() && std::isspace(static_cast<unsigned char>(t.text[at]))) ++at;
        const std::string line = t.text.substr(at);
        out_ += t.space;
        if (line.rfind("version", 0) == 0 || line.rfind("extension", 0) == 0) return;
        if (line.rfind("include", 0) == 0) {
            const std::size_t from = line.find('"') + 1, to = line.find('"', from);
            if (from == 0 || to == std::string::npos) fail("(" + t.text + ")");
            const std::string file = line.substr(from, to - from);
            // The text of a file stands at each place that includes it, as both branches of a condition may: it
            // needs a guard.
            if (file != "common/abi.glsl") {
                ++includes_;
                rewrite(kernel_.include(file));
                --includes_;
                go_on_at(t.line + 1);
            } else if (!has_abi_) {
                for (const char* m : {"COMMON_ABI", "RP_FN", "REAL", "REAL4", "CELL", "RECORD", "INPUT",
                                      "OUTPUT", "UPDATE", "FLOAT", "INT", "MEMBER", "LIST", "CHAIN_OPERANDS",
                                      "END_RECORD", "gl_LocalInvocationID", "gl_LocalInvocationIndex"})
                    define(m);
                out_ += "#include \"common/abi.cuh\"";
                has_abi_ = true;
            }
            return;
        }
        if (line.rfind("define", 0) == 0) {
            std::size_t name = 6;
            while (std::isspace(static_cast<unsigned char>(line[name]))) ++name;
            std::size_t end = name;
            while (end < line.size() && in_word(line[end])) ++end;
            define(line.substr(name, end - name));
            std::vector<Token> outer = std::move(tokens_);
            const std::size_t outer_at = at_;
            tokens_ = tokens_of(line.substr(end), true);
            at_ = 0;
            out_ += "#define " + line.substr(name, end - name);
            while (now().type != Type::end) token();
            tokens_ = std::move(outer);
            at_ = outer_at;
            return;
        }
        out_ += t.text;
        if (line.rfind("line", 0) == 0) {
            out_ += shown_file();
            if (line == "line 1" && includes_ == 0) line_before_first_ = t.line; // as users' kernels begin
        }
    }

    // -- any token --
    void token()
    {
        if (now().type == Type::directive) return directive(take());
        if (is("precise") || is("readonly")) {
            out_ += take().space;
            return;
        }
        if ((is("out") || is("inout")) && now(1).type == Type::word && now(2).type == Type::word) {
            return reference();
        }
        if (is("[") && is("[", 1) && (is("unroll", 2) || is("dont_unroll", 2))) {
            out_ += now().space + (is("unroll", 2) ? "RP_UNROLL" : "RP_DONT_UNROLL");
            at_ += 5;
            return;
        }
        if (is("gl_WorkGroupSize")) {
            out_ += take().space + "rp_threads";
            expect(".");
            expect("x");
            return;
        }
        const Token t = take();
        out_ += t.space + (t.type == Type::number ? number_of(t.text) : t.text);
    }

    // Rewrites a parameter `out T x` or `inout T x[N]` as a C++ reference.
    void reference()
    {
        const std::string space = take().space, type = take().text, name = take().text;
        if (!is("[")) {
            out_ += space + type + "& " + name;
            return;
        }
        out_ += space + type + " (&" + name + ")";
        while (!is("]")) token();
        token();
    }

    void through(const char* open, const char* close)
    {
        std::size_t depth = 0;
        do {
            depth += is(open);
            depth -= is(close);
            token();
        } while (depth > 0);
    }

    // -- declarations outside of functions --
    void statement()
    {
        if (now().type == Type::directive) return directive(take());
        if (is(";") || is("CHAIN_OPERANDS") || is("END_RECORD")) return token();
        if (is("layout")) return layout();
        if (is("const")) return constants();
        if (is("shared")) return shared();
        if (is("struct")) {
            while (!is("{")) token();
            through("{", "}");
            return token(); // ;
        }
        if (now().type == Type::word && is("(", 1)) { // a macro that expands to statements
            token();
            return through("(", ")");
        }
        std::size_t ahead = 0; // a function has its "(" before anything else ends the statement
        while (now(ahead).type == Type::word) ++ahead;
        if (!is("(", ahead)) {
            while (!is(";")) token();
            return token();
        }
        if (!is("RP_FN")) {
            out_ += now().space + "RP_DEVICE ";
            tokens_[at_].space.clear();
        }
        while (!is("(")) {
            if (is("main")) {
                out_ += take().space + "run";
            } else {
                token();
            }
        }
        through("(", ")");
        if (is(";")) return token();
        through("{", "}");
    }

    // const T A = x, B = y;  Constants computed from specialization constants become members, others static constexpr.
    void constants()
    {
        std::size_t ahead = 0;
        bool special = false;
        std::vector<std::string> names;
        for (bool name = true; !is(";", ahead); ++ahead) {
            const Token& t = now(ahead);
            if (t.type == Type::end) fail("a constant without an end");
            if (t.type == Type::word && name && is("=", ahead + 1)) {
                names.push_back(t.text);
                name = false;
            } else if (t.type == Type::word) {
                special |= special_.count(t.text) != 0;
            }
            name |= t.text == ",";
        }
        if (special) {
            special_.insert(names.begin(), names.end());
        } else {
            out_ += now().space + "static constexpr";
            take();
        }
        while (!is(";")) token();
        token();
    }

    // shared T a[N], b[M][L], c;  Each becomes a member that refers to memory of the block.
    void shared()
    {
        out_ += take().space + "\n#undef RP_COOPERATES\n#define RP_COOPERATES true\n";
        const std::string type = take().text;
        do {
            const std::string name = take().text;
            out_ += "RP_SHARED_MEMBER(" + type + ", " + name + ", ";
            while (is("[")) {
                while (!is("]")) token();
                token();
            }
            out_ += ")";
        } while (is(",") && !take().text.empty());
        go_on_after(expect(";"));
    }

    void layout()
    {
        out_ += take().space;
        expect("(");
        std::vector<Token> arguments;
        while (!is(")")) arguments.push_back(take());
        expect(")");
        const auto value_of = [&](const char* name) {
            std::string value;
            for (std::size_t i = 0; i + 2 < arguments.size(); ++i)
                if (arguments[i].text == name && arguments[i + 1].text == "=") value = arguments[i + 2].text;
            return value;
        };
        if (const std::string threads = value_of("local_size_x"); !threads.empty()) {
            expect("in");
            out_ += "static constexpr uint rp_threads = " + threads + ";";
            go_on_after(expect(";"));
        } else if (const std::string id = value_of("constant_id"); !id.empty()) {
            expect("const");
            const std::string type = take().text, name = take().text;
            special_.insert(name);
            expect("=");
            out_ += "const " + type + ' ' + name + " = constant<" + type + ">(" + id + ',';
            while (!is(";")) token();
            out_ += ")";
            token();
        } else {
            while (!is("buffer")) {
                if (!is("readonly") && !is("writeonly") && !is("restrict"))
                    fail("layout of (" + now().text + ")");
                take();
            }
            take();
            const std::string name = take().text;
            expect("{");
            const std::string type = take().text;
            for (const char* t : {"v", "[", "]", ";", "}"}) expect(t);
            out_ += "using " + name + " = rp::Elements<" + type + ">;";
            go_on_after(expect(";"));
        }
    }

    const GlslKernel& kernel_;
    std::vector<Token> tokens_;
    std::size_t at_ = 0;
    std::string out_;
    std::vector<std::string> macros_;
    std::set<std::string> special_;
    bool has_abi_ = false;
    std::size_t includes_ = 0;
    std::optional<std::size_t> line_before_first_;
};

} // namespace

std::string cuda_of_glsl(const GlslKernel& k) { return Rewriter(k).text(); }

std::string cuda_header_of_glsl(const GlslKernel& k) { return Rewriter(k).header(); }

} // namespace reprise::kernels
