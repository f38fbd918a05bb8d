// Writes the nodes of an ONNX graph for the nodes of a recorded one.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <reprise/tensor.hpp>

#include "graph/node.hpp"
#include "onnx/proto.hpp"
#include "shape/expression.hpp"

namespace reprise::onnx {

// An attribute of an ONNX node.
struct NodeAttribute {
    const char* name;
    std::variant<std::int64_t, double, std::string, std::vector<std::int64_t>> value;
};

class Emitter {
public:
    explicit Emitter(proto::GraphProto& graph) : graph_(graph) {}

    // -- values --
    // Gives a value of the recorded graph a name.
    void bind(const graph::Value&, const std::string& name);
    bool bound(const graph::Value& value) const { return names_.count({value.node.get(), value.index}) != 0; }
    const std::string& name_of(const graph::Value&) const; // Error(internal) for one that is not bound
    // A name that no other value has, which begins like this.
    std::string fresh(const std::string& begin);
    // Takes a size of an input, so that expressions can use its symbols.
    void add_input_size(const std::string& input, std::int64_t dim, const Dim& size);

    // -- nodes; the name of the first output is returned --
    std::string node(const std::string& op, const std::vector<std::string>& inputs,
                     const std::vector<NodeAttribute>& attributes = {});
    std::vector<std::string> node_of(std::size_t outputs, const std::string& op,
                                     const std::vector<std::string>& inputs,
                                     const std::vector<NodeAttribute>& attributes = {});

    // -- constants and sizes --
    std::string constant(const std::vector<std::int64_t>& values); // int64 [n]
    std::string number(double value, DType dtype);                 // without dimensions
    std::string numbers(const std::vector<float>& values);         // float32 [n]
    std::string initializer(const std::string& name, const Tensor& value);
    std::string size(const Dim& size);         // int64 [1]
    std::string sizes(const DimVector& sizes); // int64 [n]
    std::string cast(const std::string& x, DType dtype);

    // -- the recorded graph --
    // Notes that the file needs a value; ops compute some results, such as places of maxima, only where they are used.
    void use(const graph::Value& value) { used_.insert({value.node.get(), value.index}); }
    bool used(const graph::Value& value) const { return used_.count({value.node.get(), value.index}) != 0; }
    // Says whether the next nodes compute in bf16.  Operators that have no bf16 in the opset then compute in f32.
    void set_bfloat16(bool on) { bfloat16_ = on; }

private:
    std::string term(const shape::Term&);
    std::string atom(const shape::Atom&);

    proto::GraphProto& graph_;
    std::map<std::pair<const graph::Node*, std::uint32_t>, std::string> names_;
    std::set<std::pair<const graph::Node*, std::uint32_t>> used_;
    bool bfloat16_ = false;
    std::set<std::string> taken_;
    std::map<std::string, std::string> known_; // constants and sizes by their text
    struct Source {
        std::string input;
        std::int64_t dim;
    };
    std::map<std::uint32_t, Source> symbols_; // by id
    std::uint64_t next_ = 0;
};

// Writes ONNX nodes for one recorded node, and binds its outputs; returns why it can't, or nothing.
using ExportRule = std::optional<std::string> (*)(Emitter&, const graph::Node&);
struct ExportRow {
    const char* op; // of the library
    ExportRule rule;
    std::size_t least = 1, most = 1; // inputs that the rule writes
};
// The rules for structured ops, and that for elementwise ones.
std::span<const ExportRow> structured_export_rules();
std::optional<std::string> export_elementwise(Emitter&, const graph::Node&);

} // namespace reprise::onnx
