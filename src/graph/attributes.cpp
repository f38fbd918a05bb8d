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

Attributes Attributes::with(const char* name, Attribute attribute) const
{
    Attributes all = *this;
    for (auto& [key, value] : all.list_)
        if (std::strcmp(key, name) == 0) {
            value = std::move(attribute);
            return all;
        }
    all.list_.emplace_back(name, std::move(attribute));
    return all;
}

Attributes Attributes::without(const char* name) const
{
    Attributes all = *this;
    std::erase_if(all.list_, [name](const auto& one) { return std::strcmp(one.first, name) == 0; });
    return all;
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
    void operator()(const std::shared_ptr<const HostCall>&) const { out << "host's"; }
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
