// One run of a node, as the functions of operators see it.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <reprise/error.hpp>
#include <reprise/ops.hpp>

#include "onnx/graph.hpp"

namespace reprise::onnx {

// The values of a running graph by name; a graph inside of a node also sees those around it.
struct Scope {
    const Scope* outer = nullptr;
    const Graph* graph = nullptr; // its constants are visible, too
    std::unordered_map<std::string, Value> values{};
    // Attributes of the call of a function whose body this is; null: no function.
    const std::map<std::string, const proto::AttributeProto*>* attributes = nullptr;

    const Value* find(const std::string& name) const;
    // An attribute itself, or that of the call of the enclosing function to which it refers; null where that call gives
    // none.
    const proto::AttributeProto* resolved(const proto::AttributeProto&) const;
};

// The inputs and attributes of a node.  All members throw Error(argument), which names what is wrong.
class Call {
public:
    Call(const Node& node, const Device& on, const Scope& within, Values inputs)
        : device(on), scope(within), node_(node), inputs_(std::move(inputs))
    {}

    const Device& device; // of the run
    const Scope& scope;

    std::int64_t opset() const { return node_.opset; }
    std::size_t outputs() const { return static_cast<std::size_t>(node_.proto->output_size()); }
    bool wants(std::size_t output) const; // whether a later node may read the output

    // -- inputs --
    std::size_t inputs() const { return inputs_.size(); }
    bool has(std::size_t i) const { return i < inputs_.size() && inputs_[i].present(); }
    const Value& value(std::size_t i) const; // an input that must be given
    const std::vector<Value>& values() const { return inputs_; }
    Tensor operator[](std::size_t i) const;                  // the tensor of an input that must be given
    Tensor tensor_or_none(std::size_t i) const;              // undefined where it is not given
    std::vector<Tensor> tensors(std::size_t from = 0) const; // of all inputs that are given
    Shape shape(std::size_t i) const { return value(i).shape(); }
    std::int64_t rank(std::size_t i) const { return static_cast<std::int64_t>(shape(i).size()); }
    const ElementType& type(std::size_t i) const;            // of a tensor
    DimVector sizes(std::size_t i) const;                    // integers, which may be symbols
    std::vector<std::int64_t> integers(std::size_t i) const; // integers that must be constant
    std::vector<double> numbers(std::size_t i) const;        // numbers that must be constant
    double number(std::size_t i, double otherwise) const;    // one number; `otherwise` where it is not given
    // One integer that must be constant, exact; `otherwise` where it is not given.
    std::int64_t whole(std::size_t i, std::int64_t otherwise) const;

    // -- attributes --
    const proto::AttributeProto* attribute(const std::string& name) const; // null where it is not given
    bool has_attribute(const std::string& name) const { return attribute(name) != nullptr; }
    std::int64_t integer(const std::string& name) const; // one that must be given
    std::int64_t integer(const std::string& name, std::int64_t otherwise) const;
    bool flag(const std::string& name, bool otherwise = false) const { return integer(name, otherwise) != 0; }
    double real(const std::string& name, double otherwise) const;
    std::string text(const std::string& name, const std::string& otherwise = {}) const;
    std::vector<std::int64_t> list(const std::string& name) const; // empty where it is not given
    std::vector<double> reals(const std::string& name) const;
    std::vector<std::string> texts(const std::string& name) const;
    // A text that is one of these.
    std::string choice(const std::string& name, const std::string& otherwise,
                       std::initializer_list<const char*> known) const;
    // The element type whose number an attribute has; `otherwise` where it is not given or 0.
    const ElementType& element_type(const std::string& name, const ElementType& otherwise) const;
    const Graph& subgraph(const std::string& name) const;
    // The integers of an input, or, in older opsets, of an attribute; nullopt where neither is given.
    std::optional<std::vector<std::int64_t>> integers_or_list(std::size_t input,
                                                              const std::string& name) const;
    // A dimension from 0 on of a tensor of this rank.
    std::int64_t axis(std::int64_t given, std::int64_t rank) const;
    std::int64_t axis(const std::string& name, std::int64_t otherwise, std::int64_t rank) const
    {
        return axis(integer(name, otherwise), rank);
    }

    // The integer that a number rounds down to; it must be one of those that f64 has exactly.
    std::int64_t floor_of(double number) const;
    // A tensor of numbers that the operator has computed on the host, on the device of the run.
    Tensor from_host(const std::vector<double>& numbers, const Shape& shape, DType dtype) const;
    // Runs a graph of this node; its outputs in order.
    Values run(const Graph&, Values inputs) const;
    // Throws Error(argument) with this text.
    template <class... Parts> [[noreturn]] void fail(const Parts&... parts) const
    {
        std::ostringstream text;
        (text << ... << parts);
        throw Error(ErrorKind::argument, text.str());
    }

private:
    const Node& node_;
    Values inputs_;
};

// A row's function for an op of one tensor.
template <Tensor (*f)(const Tensor&)> Value unary(Call& call) { return f(call[0]); }

// Runs a graph on a device with these values of its inputs; its outputs in order.
Values run_graph(const Graph&, const Device&, Scope&, Values inputs);

} // namespace reprise::onnx
