#include <sstream>

#include "plan/plan.hpp"

namespace reprise::plan {

namespace {

const char* place_name(Place p)
{
    switch (p) {
    case Place::external: return "external";
    case Place::output: return "output";
    case Place::temporary: return "temporary";
    }
    return "?";
}

void print_operand(std::ostream& out, const PlanOperand& o)
{
    if (o.absent) {
        out << '-';
        return;
    }
    const char* use = o.use == ops::Use::read ? "" : o.use == ops::Use::write ? "=" : "+=";
    out << use << 'v' << o.value;
    if (!same(o.offset, 0)) out << '[' << o.offset << ']';
}

} // namespace

std::string print(const Plan& plan)
{
    std::ostringstream out;
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
        const PlanValue& v = plan.values[i];
        if (v.first > v.last) continue;
        out << 'v' << i << "  " << name_of(v.dtype) << " x " << v.elements << "  " << place_name(v.place)
            << "  epochs " << v.first << ".." << v.last << "  " << v.name << '\n';
    }
    std::uint32_t epoch = no_launch;
    for (const PlanLaunch& l : plan.launches) {
        if (l.epoch != epoch) out << "epoch " << (epoch = l.epoch) << '\n';
        out << "  " << l.label << '(';
        for (std::size_t i = 0; i < l.operands.size(); ++i) {
            if (i) out << ", ";
            print_operand(out, l.operands[i]);
        }
        out << ")  groups " << l.groups;
        if (l.texels) out << "  in the slab";
        if (l.fallback_of != no_launch) out << "  else";
        out << '\n';
    }
    return out.str();
}

namespace {

std::string escaped(const std::string& text)
{
    std::string out;
    for (const char c : text) {
        if (c == '"' || c == '\\') out += '\\';
        out += c;
    }
    return out;
}

} // namespace

std::string print_dot(const Plan& plan)
{
    std::ostringstream out;
    out << "digraph plan {\n  rankdir=TB; node [fontname=monospace];\n";
    for (std::size_t i = 0; i < plan.values.size(); ++i) {
        const PlanValue& v = plan.values[i];
        if (v.first > v.last) continue;
        out << "  v" << i << " [shape=ellipse, label=\"" << escaped(v.name) << "\\n"
            << name_of(v.dtype) << " x " << escaped(v.elements.text()) << '"'
            << (v.place == Place::temporary ? "" : ", style=filled, fillcolor=lightgray") << "];\n";
    }
    for (std::size_t k = 0; k < plan.launches.size(); ++k) {
        const PlanLaunch& l = plan.launches[k];
        out << "  l" << k << " [shape=box, label=\"" << escaped(l.label) << "\\nepoch " << l.epoch
            << ", groups " << escaped(l.groups.text()) << "\"];\n";
        for (const PlanOperand& o : l.operands) {
            if (o.absent) continue;
            if (o.use != ops::Use::write) out << "  v" << o.value << " -> l" << k << ";\n";
            if (o.use != ops::Use::read) out << "  l" << k << " -> v" << o.value << ";\n";
        }
    }
    out << "}\n";
    return out.str();
}

} // namespace reprise::plan
