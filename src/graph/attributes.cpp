#include "graph/attributes.hpp"

#include <cstring>
#include <sstream>

#include <reprise/error.hpp>

namespace reprise::graph {

const Attribute& Attributes::find(const char* name) const
{
    for (const auto& [key, value] : list_)
        if (std::strcmp(key, name) == 0) return value;
    detail::fail(ErrorKind::internal, "attributes", "There is no attribute (", name, ").");
}

namespace {
struct Printer {
    std::ostream& out;
    void operator()(std::int64_t v) const { out << v; }
    void operator()(double v) const { out << v; }
    void operator()(const Dim& v) const { out << v; }
    void operator()(const Shape& v) const { out << to_string(v); }
    void operator()(const std::vector<std::int64_t>& v) const
    {
        out << '[';
        for (std::size_t i = 0; i < v.size(); ++i) out << (i ? ", " : "") << v[i];
        out << ']';
    }
    void operator()(DType v) const { out << name_of(v); }
    void operator()(const std::shared_ptr<const HostScalar>&) const { out << "host"; }
    void operator()(const std::shared_ptr<const UserKernel>&) const { out << "user's"; }
};
} // namespace

std::string Attributes::text() const
{
    std::ostringstream out;
    for (std::size_t i = 0; i < list_.size(); ++i) {
        out << (i ? " " : "") << list_[i].first << '=';
        std::visit(Printer{out}, list_[i].second);
    }
    return out.str();
}

} // namespace reprise::graph
