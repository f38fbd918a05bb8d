#include "onnx/call.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace reprise::onnx {

bool Call::wants(std::size_t output) const
{
    return output < outputs() && !node_.proto->output(static_cast<int>(output)).empty();
}

const Value& Call::value(std::size_t i) const
{
    if (!has(i)) fail("The input (", i, ") is not given, but the operator needs it.");
    return inputs_[i];
}

Tensor Call::operator[](std::size_t i) const
{
    const Value& given = value(i);
    if (given.is_sequence()) fail("The input (", i, ") is a sequence, not a tensor.");
    return given.tensor(device);
}

Tensor Call::tensor_or_none(std::size_t i) const { return has(i) ? (*this)[i] : Tensor(); }

std::vector<Tensor> Call::tensors(std::size_t from) const
{
    std::vector<Tensor> all;
    for (std::size_t i = from; i < inputs_.size(); ++i)
        if (has(i)) all.push_back((*this)[i]);
    return all;
}

const ElementType& Call::type(std::size_t i) const
{
    const Value& given = value(i);
    if (given.is_sequence()) fail("The input (", i, ") is a sequence, not a tensor.");
    return given.type();
}

DimVector Call::sizes(std::size_t i) const
{
    if (type(i).is_floating()) fail("The input (", i, ") has the type (", type(i).name, "), not integers.");
    return value(i).read_integers().values;
}

std::vector<std::int64_t> Call::integers(std::size_t i) const { return sizes(i).vec(); }

std::vector<double> Call::numbers(std::size_t i) const
{
    type(i);
    return value(i).read_numbers();
}

double Call::number(std::size_t i, double otherwise) const
{
    if (!has(i)) return otherwise;
    const std::vector<double> all = numbers(i);
    if (all.size() != 1) fail("The input (", i, ") has (", all.size(), ") elements, not one.");
    return all[0];
}

std::int64_t Call::whole(std::size_t i, std::int64_t otherwise) const
{
    if (!has(i)) return otherwise;
    const std::vector<std::int64_t> all = integers(i);
    if (all.size() != 1) fail("The input (", i, ") has (", all.size(), ") elements, not one.");
    return all[0];
}

const proto::AttributeProto* Call::attribute(const std::string& name) const
{
    for (const auto& attribute : node_.proto->attribute()) {
        if (attribute.name() == name) return scope.resolved(attribute);
    }
    return nullptr;
}

std::int64_t Call::integer(const std::string& name) const
{
    if (!has_attribute(name)) fail("The attribute (", name, ") is not given, but the operator needs it.");
    return integer(name, 0);
}

std::int64_t Call::integer(const std::string& name, std::int64_t otherwise) const
{
    const auto* found = attribute(name);
    return found ? found->i() : otherwise;
}

double Call::real(const std::string& name, double otherwise) const
{
    const auto* found = attribute(name);
    return found ? static_cast<double>(found->f()) : otherwise;
}

std::string Call::text(const std::string& name, const std::string& otherwise) const
{
    const auto* found = attribute(name);
    return found ? found->s() : otherwise;
}

std::vector<std::int64_t> Call::list(const std::string& name) const
{
    const auto* found = attribute(name);
    return found ? std::vector<std::int64_t>(found->ints().begin(), found->ints().end())
                 : std::vector<std::int64_t>();
}

std::vector<double> Call::reals(const std::string& name) const
{
    const auto* found = attribute(name);
    return found ? std::vector<double>(found->floats().begin(), found->floats().end())
                 : std::vector<double>();
}

std::vector<std::string> Call::texts(const std::string& name) const
{
    const auto* found = attribute(name);
    return found ? std::vector<std::string>(found->strings().begin(), found->strings().end())
                 : std::vector<std::string>();
}

std::string Call::choice(const std::string& name, const std::string& otherwise,
                         std::initializer_list<const char*> known) const
{
    const std::string given = text(name, otherwise);
    if (std::find(known.begin(), known.end(), given) == known.end())
        fail("The attribute (", name, ") has the value (", given, "), which is not known.");
    return given;
}

const ElementType& Call::element_type(const std::string& name, const ElementType& otherwise) const
{
    const auto number = static_cast<int>(integer(name, 0));
    const ElementType* type = number ? find_element_type(number) : &otherwise;
    if (!type) fail("The library has no tensors of the type (", element_type_name(number), ").");
    return *type;
}

const Graph& Call::subgraph(const std::string& name) const
{
    const auto found = node_.graphs.find(name);
    if (found == node_.graphs.end()) fail("The attribute (", name, ") is no graph.");
    return *found->second;
}

std::optional<std::vector<std::int64_t>> Call::integers_or_list(std::size_t input,
                                                                const std::string& name) const
{
    if (has(input)) return integers(input);
    if (has_attribute(name)) return list(name);
    return std::nullopt;
}

std::int64_t Call::axis(std::int64_t given, std::int64_t rank) const
{
    if (given < -rank || given >= rank) fail("The axis (", given, ") is not one of (", rank, ") dimensions.");
    return given < 0 ? given + rank : given;
}

std::int64_t Call::floor_of(double number) const
{
    constexpr double most = 9007199254740992; // 2^53
    const double down = std::floor(number);
    if (!(down >= -most && down <= most)) fail("The number (", number, ") is no size or position.");
    return static_cast<std::int64_t>(down);
}

Tensor Call::from_host(const std::vector<double>& numbers, const Shape& shape, DType dtype) const
{
    const CreationOptions options{.dtype = dtype, .device = device};
    if (dtype == f64) return from_vector(numbers, shape, options);
    // Devices without f64 take f32 only.
    return from_vector(std::vector<float>(numbers.begin(), numbers.end()), shape, options);
}

Values Call::run(const Graph& graph, Values inputs) const
{
    Scope inner{&scope};
    return run_graph(graph, device, inner, std::move(inputs));
}

} // namespace reprise::onnx
