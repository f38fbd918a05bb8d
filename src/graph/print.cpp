#include <sstream>

#include "graph/node.hpp"

namespace reprise::graph {

namespace {

void name(std::ostream& out, const Value& v)
{
    out << '%' << v.node->id;
    if (v.node->outputs.size() > 1) out << '.' << v.index;
}

const char* op_name(const Node& n) { return n.op ? n.op->name : "leaf"; }

} // namespace

std::string print_text(std::span<const Value> outputs)
{
    std::ostringstream out;
    for (const Node* n : reachable(outputs)) {
        out << '%' << n->id << " = " << op_name(*n) << '(';
        for (std::size_t i = 0; i < n->inputs.size(); ++i) {
            if (i) out << ", ";
            name(out, n->inputs[i]);
        }
        out << ')';
        if (const std::string a = n->attributes.text(); !a.empty()) out << " {" << a << '}';
        for (const TensorType& t : n->outputs) out << " : " << name_of(t.dtype) << to_string(t.shape);
        if (n->requires_grad) out << " grad";
        if (n->materialised()) out << " stored";
        out << '\n';
    }
    out << "return";
    for (const Value& v : outputs) {
        out << ' ';
        name(out, v);
    }
    out << '\n';
    return out.str();
}

std::string print_dot(std::span<const Value> outputs)
{
    std::ostringstream out;
    out << "digraph reprise {\n  node [shape=box, fontname=monospace];\n";
    for (const Node* n : reachable(outputs)) {
        out << "  n" << n->id << " [label=\"" << op_name(*n);
        if (const std::string a = n->attributes.text(); !a.empty()) out << "\\n" << a;
        for (const TensorType& t : n->outputs) out << "\\n" << name_of(t.dtype) << to_string(t.shape);
        out << "\"" << (n->is_leaf || !n->op ? ", style=filled, fillcolor=lightgray" : "") << "];\n";
        for (const Value& v : n->inputs) out << "  n" << v.node->id << " -> n" << n->id << ";\n";
    }
    out << "}\n";
    return out.str();
}

} // namespace reprise::graph
