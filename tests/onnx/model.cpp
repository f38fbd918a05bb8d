// Models as modules: their inputs, what can't be imported, and malformed files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <random>

#include <reprise/onnx.hpp>

#include "onnx/builder.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace onnx_test;
using proto::AttributeProto;
using proto::TensorProto;
using rp::ErrorKind;
using rp::onnx::Model;
using testing::HasSubstr;

// y = relu(x w + b) with a weight of 3 rows and 2 columns.
Builder small()
{
    Builder b;
    b.input("x", TensorProto::FLOAT, {"batch", 3});
    b.output("y", TensorProto::FLOAT, {"batch", 2});
    const std::string product =
        b.node("MatMul", {"x", b.weight("layer.weight", rp::tensor({{1., 2.}, {3., 4.}, {5., 6.}}))});
    const std::string sum = b.node("Add", {product, b.weight("layer.bias", rp::tensor({-10., 1.}))});
    b.node("Relu", {sum}, {"y"});
    return b;
}

TEST(OnnxModel, HasInputsOutputsAndParameters)
{
    Model model(small().bytes());
    EXPECT_EQ(model.opset(), 17);
    ASSERT_EQ(model.inputs().size(), 1u);
    EXPECT_EQ(model.inputs()[0].name, "x");
    EXPECT_EQ(model.inputs()[0].type, "float32");
    EXPECT_EQ(std::get<std::string>(model.inputs()[0].shape[0]), "batch");
    EXPECT_EQ(std::get<std::int64_t>(model.inputs()[0].shape[1]), 3);
    EXPECT_EQ(model.outputs()[0].name, "y");
    EXPECT_EQ(model.named_parameters().keys(), (std::vector<std::string>{"layer.weight", "layer.bias"}));
    EXPECT_EQ(model(rp::ones({1, 3})).to_vector<float>(), (std::vector<float>{0, 13}));
}

TEST(OnnxModel, IsRecordedAtASymbolicBatch)
{
    Model model(small().bytes());
    const auto specs = model.input_specs();
    ASSERT_TRUE(specs[0].shape[0].is_symbol());
    const rp::Program program = rp::record([&](rp::Tensor x) { return model(x); }, {specs[0]});
    for (const int rows : {1, 4, 9})
        EXPECT_TRUE(rp::equal(program(rp::ones({rows, 3})), model(rp::ones({rows, 3})))) << rows;
}

// Windows that leave elements of the image out, at sizes that divide by the stride and at others.
TEST(OnnxModel, PoolsImagesOfSymbolicSizes)
{
    for (const bool ceil_mode : {false, true})
        for (const char* op : {"MaxPool", "AveragePool", "LpPool"}) {
            Builder b(19);
            b.input("x", TensorProto::FLOAT, {1, 2, "height", "width"});
            b.output("y", TensorProto::FLOAT, {1, 2, "h", "w"});
            b.node(op, {"x"}, {"y"});
            b.with("kernel_shape", {3, 2}).with("strides", {3, 2}).with("pads", {1, 0, 1, 1});
            b.with("ceil_mode", std::int64_t{ceil_mode});
            Model model(b.bytes());
            const rp::Program program =
                rp::record([&](rp::Tensor x) { return model(x); }, {model.input_specs()[0]});
            for (const int size : {4, 5, 6, 7, 8, 9}) {
                const rp::Tensor x = rp::rand({1, 2, size, size + 3});
                EXPECT_TRUE(rp::allclose(program(x), model(x))) << op << " " << size << " " << ceil_mode;
            }
        }
}

TEST(OnnxModel, RefusesInputsThatDoNotFit)
{
    Model model(small().bytes());
    EXPECT_EQ(error_of([&] { model(rp::ones({1, 4})); }).kind, ErrorKind::shape);
    EXPECT_EQ(error_of([&] { model(rp::ones({1, 3}, rp::i32)); }).kind, ErrorKind::dtype);
    EXPECT_EQ(error_of([&] { model(std::vector<rp::Tensor>(2)); }).kind, ErrorKind::argument);
}

TEST(OnnxModel, TrainsWhatTheCallerChooses)
{
    const auto trainable = [](const std::string& name, const rp::Shape&) { return name == "layer.bias"; };
    Model model(small().bytes(), {.trainable = trainable});
    EXPECT_EQ(model.named_parameters().keys(), std::vector<std::string>{"layer.bias"});
    EXPECT_EQ(model.state_dict().size(), 2u);
}

TEST(OnnxModel, KeepsNamesThatModulesDoNotAllow)
{
    Builder b;
    b.input("x", TensorProto::FLOAT, {2});
    b.output("y", TensorProto::FLOAT, {2});
    std::string sum = "x";
    for (const char* name : {"a", "a.b", "a..b", ".", "a_b"})
        sum = b.node("Add", {sum, b.weight(name, rp::ones({2}))});
    b.node("Identity", {sum}, {"y"});
    Model model(b.bytes());
    EXPECT_EQ(model.state_dict().size(), 5u);
    EXPECT_EQ(model(rp::zeros({2})).to_vector<float>(), (std::vector<float>{5, 5}));
}

TEST(OnnxModel, ListsAllThatCannotBeImported)
{
    Builder b = small();
    b.node("Frobnicate", {"x"});
    b.node("StringConcat", {"x", "x"});
    b.graph().add_initializer()->set_name("texts");
    b.graph().mutable_initializer()->rbegin()->set_data_type(TensorProto::STRING);
    const Caught error = error_of([&] { Model{b.bytes()}; });
    EXPECT_EQ(error.kind, ErrorKind::unsupported);
    for (const char* part :
         {"(3) parts", "Frobnicate (node_4)", "StringConcat (node_5)", "initializer (texts)"})
        EXPECT_THAT(error.text, HasSubstr(part));
}

TEST(OnnxModel, NamesTheNodeThatFails)
{
    Builder b;
    b.input("x", TensorProto::FLOAT, {"n"});
    b.output("y", TensorProto::FLOAT, {"m"});
    b.node("Reshape", {"x", b.integers({3, 5})}, {"y"});
    Model model(b.bytes());
    const Caught error = error_of([&] { model(rp::zeros({7})); });
    EXPECT_EQ(error.kind, ErrorKind::shape);
    EXPECT_THAT(error.text, HasSubstr("The node Reshape (node_2)"));
}

TEST(OnnxModel, RefusesFunctionsThatCallThemselves)
{
    Builder b = small();
    b.node("Again", {"x"});
    b.last->set_domain("own");
    auto& import = *b.model.add_opset_import();
    import.set_domain("own");
    import.set_version(1);
    auto& function = *b.model.add_functions();
    function.set_domain("own");
    function.set_name("Again");
    function.add_input("a");
    function.add_output("b");
    *function.add_opset_import() = import;
    auto& node = *function.add_node();
    node.set_op_type("Again");
    node.set_domain("own");
    node.add_input("a");
    node.add_output("b");
    EXPECT_THAT(error_of([&] { Model{b.bytes()}; }).text, HasSubstr("calls itself"));
}

TEST(OnnxModel, ReadsExternalDataOfItsFolder)
{
    const auto folder = std::filesystem::path(testing::TempDir()) / "onnx_external";
    std::filesystem::create_directories(folder);
    Builder b = small();
    auto& weight = *b.graph().mutable_initializer(0);
    std::ofstream(folder / "weights.bin", std::ios::binary) << std::string(8, '\0') << weight.raw_data();
    weight.clear_raw_data();
    weight.set_data_location(TensorProto::EXTERNAL);
    const auto add = [&](const char* key, const std::string& value) {
        auto& entry = *weight.add_external_data();
        entry.set_key(key);
        entry.set_value(value);
    };
    add("location", "weights.bin");
    add("offset", "8");
    add("length", "24");
    const auto save = [&] {
        const auto bytes = b.bytes();
        std::ofstream file(folder / "model.onnx", std::ios::binary);
        file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    };
    save();
    Model model(folder / "model.onnx");
    EXPECT_EQ(model(rp::ones({1, 3})).to_vector<float>(), (std::vector<float>{0, 13}));
    for (const char* location : {"../weights.bin", "/etc/passwd", "missing.bin"}) {
        weight.mutable_external_data(0)->set_value(location);
        save();
        EXPECT_EQ(error_of([&] { Model{folder / "model.onnx"}; }).kind, ErrorKind::file) << location;
    }
    weight.mutable_external_data(0)->set_value("weights.bin");
    weight.mutable_external_data(1)->set_value("9");
    save();
    EXPECT_THAT(error_of([&] { Model{folder / "model.onnx"}; }).text, HasSubstr("may be truncated"));
}

// Every change of a byte, and every shorter file, is a valid model or an Error.
TEST(OnnxModel, RefusesMalformedFiles)
{
    Builder b = small();
    const std::string shape = b.node("Shape", {"x"});
    const std::string cut = b.node("Slice", {shape, b.integers({0}), b.integers({1}), b.integers({0})});
    b.node("Reshape", {"x", b.node("Concat", {cut, b.integers({3, -1})})});
    b.with("axis", std::int64_t{0});
    const std::vector<std::byte> whole = b.bytes();
    const auto load = [](const std::vector<std::byte>& bytes) {
        try {
            Model model(bytes);
            model(std::vector<rp::Tensor>(model.inputs().size(), rp::ones({2, 3})));
        } catch (const rp::Error& error) {
            EXPECT_NE(error.kind(), ErrorKind::internal) << error.what();
        }
    };
    for (std::size_t size = 0; size < whole.size(); ++size)
        load({whole.begin(), whole.begin() + static_cast<long>(size)});
    std::mt19937 random(1);
    for (std::size_t at = 0; at < whole.size(); ++at) {
        for (int k = 0; k < 3; ++k) {
            std::vector<std::byte> changed = whole;
            changed[at] = static_cast<std::byte>(random());
            load(changed);
        }
    }
}

} // namespace
