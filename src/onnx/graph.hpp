// Graphs that are ready to run: their operators are found, and their constants decoded.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "onnx/operators.hpp"
#include "onnx/proto.hpp"
#include "onnx/value.hpp"

namespace reprise::onnx {

struct Function;
struct Graph;

// One node of a graph: a row of the table of operators, or a function of the model.
struct Node {
    const proto::NodeProto* proto = nullptr;
    const Operator* op = nullptr;                                 // null: a function
    const Function* function = nullptr;                           // null: an operator
    std::int64_t opset = 0;                                       // the version of its domain
    std::vector<std::string> last_uses{};                         // names whose values no later node reads
    std::map<std::string, std::shared_ptr<const Graph>> graphs{}; // by attribute
};

struct Graph {
    std::vector<std::string> inputs, outputs;
    std::vector<Node> nodes;
    std::unordered_map<std::string, Value>
        constants; // by name: initializers that are not parameters, and nodes Constant
};

// A function of the model, which its nodes call by domain, name and overload.
struct Function {
    Graph body;
    std::map<std::string, const proto::AttributeProto*> defaults; // of attributes that a call need not give
};

using FunctionKey = std::array<std::string, 3>; // domain, name and overload
FunctionKey key_of(const std::string& domain, const std::string& name, const std::string& overload);

// All that nodes of a model may call, and what can't be imported.
struct Library {
    std::map<FunctionKey, std::shared_ptr<Function>> functions;
    std::map<std::string, std::int64_t> opsets; // by domain
    std::vector<std::string> problems;          // sentences, one for each node or tensor
    ExternalData external;
};

// The names that nodes of a graph may read.
struct Known {
    const Known* outer = nullptr; // of the graph around it
    std::set<std::string> names{};

    bool has(const std::string& name) const { return names.count(name) != 0 || (outer && outer->has(name)); }
};

// Prepares a graph whose messages outlive it.  Adds to the problems of the library instead of throwing.  Initializers
// that `skip` returns true for are left out.
Graph prepare(const proto::GraphProto&, Library&,
              const std::function<bool(const proto::TensorProto&)>& skip = {}, const Known* outer = nullptr);
// The operator and name of a node, for messages.
std::string describe(const proto::NodeProto&);
// Throws Error(file) for functions that call each other too deeply, or too often, to be run.
void check_functions(const proto::ModelProto&);
// Prepares all functions of the model.
void prepare_functions(const proto::ModelProto&, Library&);

} // namespace reprise::onnx
