// Builds the messages of small models.
#pragma once
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <reprise/reprise.hpp>

#include "onnx/proto.hpp"

namespace onnx_test {

namespace rp = reprise;
namespace proto = reprise::onnx::proto;

using Size = std::variant<int, std::string>; // a number or the name of a symbol
using Names = std::vector<std::string>;

class Builder {
public:
    explicit Builder(std::int64_t opset = 17)
    {
        model.set_ir_version(8);
        model.add_opset_import()->set_version(opset);
        model.mutable_graph()->set_name("graph");
    }

    void port(proto::ValueInfoProto& info, const std::string& name, int type, const std::vector<Size>& shape)
    {
        info.set_name(name);
        auto& tensor = *info.mutable_type()->mutable_tensor_type();
        tensor.set_elem_type(type);
        tensor.mutable_shape();
        for (const Size& size : shape) {
            auto& dim = *tensor.mutable_shape()->add_dim();
            if (const auto* number = std::get_if<int>(&size)) dim.set_dim_value(*number);
            else dim.set_dim_param(std::get<std::string>(size));
        }
    }
    void input(const std::string& name, int type, const std::vector<Size>& shape)
    {
        port(*graph().add_input(), name, type, shape);
    }
    void output(const std::string& name, int type, const std::vector<Size>& shape)
    {
        port(*graph().add_output(), name, type, shape);
    }
    // A node whose first output is returned.
    std::string node(const std::string& op, const Names& inputs, const Names& outputs = {})
    {
        auto& n = *graph().add_node();
        last = &n;
        n.set_op_type(op);
        n.set_name("node_" + std::to_string(++count_));
        for (const auto& name : inputs) n.add_input(name);
        const Names all = outputs.empty() ? Names{op + "_" + std::to_string(count_)} : outputs;
        for (const auto& name : all) n.add_output(name);
        return all[0];
    }
    // Attributes of the last node.
    Builder& with(const std::string& name, std::int64_t value)
    {
        auto& a = attribute(name, proto::AttributeProto::INT);
        a.set_i(value);
        return *this;
    }
    Builder& with(const std::string& name, const std::vector<std::int64_t>& values)
    {
        auto& a = attribute(name, proto::AttributeProto::INTS);
        for (const auto value : values) a.add_ints(value);
        return *this;
    }
    proto::AttributeProto& attribute(const std::string& name, proto::AttributeProto::AttributeType type)
    {
        auto& a = *last->add_attribute();
        a.set_name(name);
        a.set_type(type);
        return a;
    }
    std::string weight(const std::string& name, const rp::Tensor& value)
    {
        auto& tensor = *graph().add_initializer();
        tensor.set_name(name);
        tensor.set_data_type(value.dtype() == rp::i64  ? proto::TensorProto::INT64
                             : value.dtype() == rp::u8 ? proto::TensorProto::UINT8
                                                       : proto::TensorProto::FLOAT);
        for (const rp::Dim& size : value.shape()) tensor.add_dims(size.value());
        const auto bytes = rp::to_bytes(value);
        tensor.set_raw_data(bytes.data(), bytes.size());
        return name;
    }
    std::string integers(const std::vector<std::int64_t>& values)
    {
        const auto n = static_cast<long long>(values.size());
        return weight("integers_" + std::to_string(++count_), rp::from_vector(values, {n}));
    }
    std::string integer(std::int64_t value)
    {
        return weight("integer_" + std::to_string(++count_),
                      rp::from_vector(std::vector{value}, rp::Shape()));
    }
    std::string number(float value)
    {
        return weight("number_" + std::to_string(++count_), rp::from_vector(std::vector{value}, rp::Shape()));
    }
    std::vector<std::byte> bytes() const
    {
        const std::string text = model.SerializeAsString();
        const auto view = std::as_bytes(std::span(text));
        return {view.begin(), view.end()};
    }
    proto::GraphProto& graph() { return *model.mutable_graph(); }

    proto::ModelProto model;
    proto::NodeProto* last = nullptr;

private:
    int count_ = 0;
};

} // namespace onnx_test
