#include "verify_text.hpp"

#include <algorithm>
#include <cstdio>
#include <sstream>

namespace command {

namespace {

using reprise::testing::Verdict;
using reprise::testing::Verified;

const char* word(Verdict v)
{
    switch (v) {
    case Verdict::right: return "pass";
    case Verdict::wrong: return "FAIL";
    case Verdict::zero: return "zero";
    case Verdict::undefined: return "none";
    case Verdict::no_type: return "";
    case Verdict::lacking: return "lacking";
    }
    return "";
}

const char* sign(Verdict v)
{
    switch (v) {
    case Verdict::right: return "✓";
    case Verdict::wrong: return "✗";
    case Verdict::zero: return "0";
    case Verdict::undefined: return "–";
    case Verdict::no_type: return "";
    case Verdict::lacking: return "d";
    }
    return "";
}

// The first dtype that the op supports: f32, unless the op supports integers only.
const Verified& main_dtype(const std::vector<Verified>& op)
{
    const auto found =
        std::find_if(op.begin(), op.end(), [](const Verified& v) { return v.forward != Verdict::no_type; });
    return found == op.end() ? op.front() : *found;
}

} // namespace

std::string verify_header(std::size_t width)
{
    char line[200];
    std::snprintf(line, sizeof(line), "%-*s  forward  gradient  second  worst error  dtypes\n",
                  static_cast<int>(width), "op");
    return line;
}

std::string verify_line(const std::vector<Verified>& op, std::size_t width)
{
    const Verified& shown = main_dtype(op);
    double worst = 0;
    std::string right, wrong;
    for (const Verified& v : op) {
        if (v.dtype == shown.dtype) worst = v.worst;
        if (v.forward == Verdict::right && v.passed()) right += std::string(" ") + name_of(v.dtype);
        if (!v.passed()) wrong += std::string(" ") + name_of(v.dtype);
    }
    char line[200];
    std::snprintf(line, sizeof(line), "%-*s  %-7s  %-8s  %-6s  %11.1e ", static_cast<int>(width),
                  shown.op.c_str(), word(shown.forward), word(shown.gradient), word(shown.second_gradient),
                  worst);
    return line + right + (wrong.empty() ? "" : "  FAIL:" + wrong) + "\n";
}

std::string verify_markdown(const std::string& device, const std::vector<std::vector<Verified>>& ops)
{
    std::ostringstream out;
    out << "## " << device << "\n\n| op |";
    if (ops.empty()) return out.str() + "\n";
    for (const Verified& v : ops[0]) out << " " << name_of(v.dtype) << " |";
    out << "\n|---|";
    for (std::size_t i = 0; i < ops[0].size(); ++i) out << "---|";
    out << "\n";
    for (const std::vector<Verified>& op : ops) {
        out << "| " << op[0].op << " |";
        for (const Verified& v : op) {
            const bool none = v.forward == Verdict::lacking || v.forward == Verdict::no_type;
            out << " " << sign(v.forward);
            if (!none) out << sign(v.gradient) << sign(v.second_gradient);
            out << " |";
        }
        out << "\n";
    }
    return out.str();
}

std::vector<OpTable> tables_of(const std::string& markdown)
{
    std::vector<OpTable> tables;
    std::istringstream in(markdown);
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("## ")) tables.push_back({line.substr(3), {}});
        if (!line.starts_with("| ") || line.starts_with("| op |") || tables.empty()) continue;
        tables.back().lines.push_back({line.substr(2, line.find(" |") - 2), line});
    }
    return tables;
}

} // namespace command
