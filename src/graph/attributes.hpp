// The attributes of an op: named constants in addition to its input tensors.  They are generic, so that code which
// prints, compares or hashes graphs needs to know no op.
#pragma once
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/dim.hpp>
#include <reprise/dtype.hpp>

namespace reprise {
struct KernelOptions; // autograd/kernel.hpp
}

namespace reprise::graph {

// A number that the library queries at each call, such as a learning rate.
struct HostScalar {
    std::function<double()> value;
};

// One call of a kernel that a user wrote (runtime/user_kernel.cpp).
struct UserKernel {
    std::shared_ptr<const KernelOptions> options;
    std::string name;                                        // of the code
    std::shared_ptr<const std::vector<std::uint32_t>> words; // SPIR-V; null on the reference device
    std::vector<double> floats;
};

class HostCall; // graph/host_call.hpp

using Attribute = std::variant<std::int64_t, double, Dim, Shape, std::vector<std::int64_t>, DType,
                               std::shared_ptr<const HostScalar>, std::shared_ptr<const UserKernel>,
                               std::shared_ptr<const HostCall>>;

class Attributes {
public:
    Attributes() = default;
    struct Given {
        const char* name;
        mutable Attribute attribute; // mutable, as it is moved out of the list, whose elements are const
    };
    Attributes(std::initializer_list<Given> list)
    {
        list_.reserve(list.size());
        for (const Given& g : list) list_.emplace_back(g.name, std::move(g.attribute));
    }

    template <class T> const T& get(const char* name) const { return std::get<T>(find(name)); }
    std::int64_t integer(const char* name) const { return get<std::int64_t>(name); }
    double number(const char* name) const { return get<double>(name); }
    const Shape& shape(const char* name) const { return get<Shape>(name); }
    const std::vector<std::int64_t>& integers(const char* name) const
    {
        return get<std::vector<std::int64_t>>(name);
    }
    using List = std::vector<std::pair<const char*, Attribute>>;
    const List& all() const { return list_; }
    template <class F> void transform(F&& f) // calls f(name, attribute&) for each attribute
    {
        for (auto& [name, attribute] : list_) f(name, attribute);
    }
    bool has_source(const char* name) const // whether it is a host scalar
    {
        return std::holds_alternative<std::shared_ptr<const HostScalar>>(find(name));
    }
    Attributes with(const char* name, Attribute) const; // a copy with this attribute set or replaced
    Attributes without(const char* name) const;
    std::string text() const; // "dim=1 keepdim=0"; empty without attributes

private:
    const Attribute& find(const char* name) const;
    List list_;
};

} // namespace reprise::graph
