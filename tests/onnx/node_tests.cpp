// ONNX's own tests of single operators: each folder has a model, inputs and the outputs that are expected.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include <reprise-onnx-data.pb.h>
#include <reprise/reprise.hpp>

#include "onnx/call.hpp"
#include "onnx/file.hpp"

#include "onnx/testing.hpp"

namespace {

namespace fs = std::filesystem;
using namespace reprise;
using onnx::Value;
using onnx::Values;

std::string read_text(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

template <class Message> Message parse(const fs::path& path)
{
    Message message;
    if (!message.ParseFromString(read_text(path)))
        throw std::runtime_error("can't parse " + reprise::path_text(path));
    return message;
}

Value value_of(const onnx::proto::TensorProto& tensor)
{
    const std::string why = onnx::why_not(tensor);
    if (!why.empty()) throw std::runtime_error(why);
    const Value constant(onnx::decode_tensor(tensor, {}));
    // As a tensor, not a constant of the host, as the inputs of a model are.
    return {constant.tensor(default_device()), &constant.type()};
}

Value value_of(const onnx::proto::SequenceProto& sequence)
{
    Values items;
    for (const auto& tensor : sequence.tensor_values()) items.push_back(value_of(tensor));
    return Value(items);
}

// Reads a value of the type that the model declares.
Value read_value(const fs::path& path, const onnx::proto::TypeProto& type)
{
    if (type.has_sequence_type()) return value_of(parse<onnx::proto::SequenceProto>(path));
    if (!type.has_optional_type()) return value_of(parse<onnx::proto::TensorProto>(path));
    const auto optional = parse<onnx::proto::OptionalProto>(path);
    if (optional.has_tensor_value()) return value_of(optional.tensor_value());
    if (optional.has_sequence_value()) return value_of(optional.sequence_value());
    return {};
}

// How a value differs from the expected one; empty where it does not.  ONNX's own runner has these tolerances.
std::string difference(const Value& value, const Value& expected)
{
    std::ostringstream text;
    if (expected.is_sequence()) {
        if (!value.is_sequence() || value.items().size() != expected.items().size())
            return "another sequence";
        for (std::size_t i = 0; i < expected.items().size(); ++i)
            if (const auto inner = difference(value.items()[i], expected.items()[i]); !inner.empty())
                return inner;
        return {};
    }
    if (!expected.present()) return value.present() ? "a value where there is none" : "";
    if (!value.present() || value.is_sequence()) return "no tensor";
    if (&value.type() != &expected.type())
        text << "the type " << value.type().name << ", not " << expected.type().name;
    else if (!same(value.shape(), expected.shape()))
        text << "the shape " << to_string(value.shape()) << ", not " << to_string(expected.shape());
    if (!text.str().empty()) return text.str();
    const std::vector<double> a = value.read_numbers(), b = expected.read_numbers();
    constexpr double rtol = 1e-3, atol = 1e-7;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const bool both_nan = std::isnan(a[i]) && std::isnan(b[i]);
        if (both_nan || a[i] == b[i] || std::abs(a[i] - b[i]) <= atol + rtol * std::abs(b[i])) continue;
        text << a[i] << ", not " << b[i] << ", at " << i;
        return text.str();
    }
    return {};
}

// Runs all data sets of a case; the reason why it fails, empty where it passes.
std::string failure_of(const fs::path& folder)
{
    try {
        const auto model = onnx::read_model(folder / "model.onnx");
        const auto& graph = model->graph();
        std::size_t compared = 0;
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (!entry.is_directory()) continue;
            Values inputs;
            for (int i = 0; i < graph.input_size(); ++i) {
                const fs::path file = entry.path() / ("input_" + std::to_string(i) + ".pb");
                inputs.push_back(fs::exists(file) ? read_value(file, graph.input(i).type()) : Value());
            }
            const Values outputs = onnx::run_model(folder / "model.onnx", default_device(), inputs);
            for (int i = 0; i < graph.output_size(); ++i) {
                const Value expected = read_value(entry.path() / ("output_" + std::to_string(i) + ".pb"),
                                                  graph.output(i).type());
                const std::string other = difference(outputs.at(static_cast<std::size_t>(i)), expected);
                if (!other.empty()) return "output " + std::to_string(i) + ": " + other;
                ++compared;
            }
        }
        return compared ? "" : "no output was compared";
    } catch (const std::exception& error) {
        return error.what();
    }
}

bool has_doubles()
{
    try {
        zeros({1}, f64).eval();
        return true;
    } catch (const Error&) {
        return false;
    }
}

// Whether a case fails because the device has no f64, as some GPUs and drivers have none.
bool lacks_doubles(const std::string& failure) { return failure.find("no f64 arithmetic") != failure.npos; }

std::size_t nodes_in(const fs::path& folder)
{
    return static_cast<std::size_t>(onnx::read_model(folder / "model.onnx")->graph().node_size());
}

// Rows "case device reason" of tests/expectations/onnx.txt; * stands for all devices.
std::map<std::string, std::string> expected_failures()
{
    std::map<std::string, std::string> rows;
    std::istringstream lines(read_text(REPRISE_ONNX_EXPECTATIONS));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, device, reason;
        words >> name >> device;
        std::getline(words >> std::ws, reason);
        const bool applies = device == "*" || default_device().name().rfind(device, 0) == 0;
        if (!name.empty() && name[0] != '#' && applies) rows[name] = reason;
    }
    return rows;
}

TEST(OnnxNodes, PassExceptThoseWithAReason)
{
    const fs::path folder = REPRISE_ONNX_NODE_TESTS;
    auto expected = expected_failures();
    std::vector<fs::path> cases;
    for (const auto& entry : fs::directory_iterator(folder)) cases.push_back(entry.path());
    std::sort(cases.begin(), cases.end());
    ASSERT_GT(cases.size(), 1700u) << folder;
    const char* only = std::getenv("REPRISE_ONNX_CASE");
    std::size_t single = 0, single_passed = 0, passed = 0, doubles = 0;
    for (const fs::path& path : cases) {
        const std::string name = reprise::path_text(path.filename());
        if (only && name.find(only) == name.npos) continue;
        const std::string failure = failure_of(path);
        const bool is_single = nodes_in(path) == 1;
        single += is_single;
        single_passed += is_single && failure.empty();
        passed += failure.empty();
        const bool listed = expected.count(name) != 0;
        doubles += lacks_doubles(failure);
        if (!failure.empty() && !listed && !lacks_doubles(failure)) ADD_FAILURE() << name << ": " << failure;
        if (failure.empty() && listed) ADD_FAILURE() << name << " passes: remove its row.";
        expected.erase(name);
    }
    RecordProperty("passed", static_cast<int>(passed));
    RecordProperty("passed_of_one_node", static_cast<int>(single_passed));
    EXPECT_TRUE(doubles == 0 || !has_doubles()) << doubles;
    if (only) return;
    for (const auto& [name, reason] : expected)
        ADD_FAILURE() << name << " is listed, but there is no such case.";
    EXPECT_GE(single_passed, 880u) << "of " << single;
}

// Whether an operator's results follow from the sizes of its inputs, and not from random numbers.
bool can_be_recorded(const onnx::Operator& op)
{
    const std::string limits = op.options.limits;
    return limits.find("can't be recorded") == limits.npos && limits.find("random") == limits.npos;
}

// The inputs of a case of which those are arguments of a program that are floating and not read on the host.
struct RecordedCase {
    onnx::Graph graph;
    Values values;
    std::vector<std::size_t> recorded; // indices of the arguments
    std::vector<Tensor> arguments;
    std::vector<Spec> specs;

    std::vector<Tensor> run(const std::vector<Tensor>& given) const
    {
        Values inputs = values;
        for (std::size_t k = 0; k < recorded.size(); ++k)
            inputs[recorded[k]] = Value(given[k], &values[recorded[k]].type());
        onnx::Scope scope;
        std::vector<Tensor> outputs;
        for (const Value& value : onnx::run_graph(graph, default_device(), scope, inputs))
            if (value.present() && !value.is_sequence()) outputs.push_back(value.tensor(default_device()));
        return outputs;
    }
};

// Compares a recorded run of a case with an eager one.  Returns whether there was something to record.
bool compare_recorded(const fs::path& folder)
{
    const auto model = onnx::read_model(folder / "model.onnx");
    const auto& graph = model->graph();
    const auto* op = onnx::find_operator(graph.node(0).domain(), graph.node(0).op_type());
    if (graph.node_size() != 1 || !op || !can_be_recorded(*op)) return false;
    onnx::Library library;
    onnx::read_opsets(*model, library);
    RecordedCase one{onnx::prepare(graph, library), {}, {}, {}, {}};
    for (int i = 0; i < graph.input_size(); ++i) {
        if (!graph.input(i).type().has_tensor_type()) return false;
        const fs::path file = folder / "test_data_set_0" / ("input_" + std::to_string(i) + ".pb");
        const auto constant = onnx::decode_tensor(parse<onnx::proto::TensorProto>(file), {});
        one.values.emplace_back(constant);
        const bool is_argument = constant->type().is_floating() && !constant->shape().empty();
        if (!is_argument || op->options.constants >> i & 1) continue;
        one.recorded.push_back(static_cast<std::size_t>(i));
        one.arguments.push_back(constant->tensor(default_device()));
        one.specs.push_back(spec(one.arguments.back().shape(), one.arguments.back().dtype()));
    }
    if (one.recorded.empty()) return false;
    const auto run = [&](const std::vector<Tensor>& given) { return one.run(given); };
    const std::vector<Tensor> eager = run(one.arguments);
    const std::vector<Tensor> replayed = record_function(run, one.specs).call(one.arguments);
    EXPECT_EQ(eager.size(), replayed.size());
    for (std::size_t k = 0; k < eager.size(); ++k)
        EXPECT_EQ(difference(Value(replayed[k]), Value(eager[k])), "");
    return true;
}

TEST(OnnxNodes, GiveTheSameWhenRecorded)
{
    const auto failing = expected_failures();
    std::size_t compared = 0;
    for (const auto& entry : fs::directory_iterator(REPRISE_ONNX_NODE_TESTS)) {
        const std::string name = entry.path().filename().string();
        if (failing.count(name)) continue;
        SCOPED_TRACE(name);
        try {
            compared += compare_recorded(entry.path());
        } catch (const Error& error) {
            if (has_doubles() || !lacks_doubles(error.what())) ADD_FAILURE() << error.what();
        }
    }
    EXPECT_GT(compared, 900u);
}

} // namespace
