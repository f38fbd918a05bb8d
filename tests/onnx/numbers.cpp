// Numbers that operators compute, where types, rounding or the host matter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>

#include <reprise/onnx.hpp>

#include "onnx/builder.hpp"

namespace {

using namespace onnx_test;
using proto::AttributeProto;
using proto::TensorProto;
using rp::Tensor;
using rp::onnx::Model;
using testing::ElementsAre;
using Tensors = std::vector<Tensor>;

// A model of one input x and an output y of any type.
Builder started(int type, const std::vector<Size>& shape, std::int64_t opset = 17)
{
    Builder b(opset);
    b.input("x", type, shape);
    b.graph().add_output()->set_name("y");
    return b;
}

void texts(Builder& b, const std::string& name, const Names& values)
{
    auto& attribute = b.attribute(name, AttributeProto::STRINGS);
    for (const auto& value : values) attribute.add_strings(value);
}

void reals(Builder& b, const std::string& name, const std::vector<float>& values)
{
    auto& attribute = b.attribute(name, AttributeProto::FLOATS);
    for (const float value : values) attribute.add_floats(value);
}

// Sizes are computed on the host; numbers that leave their type wrap around as on the device.
TEST(OnnxNumbers, IntegersOfTheHostWrapAround)
{
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    Builder b = started(TensorProto::FLOAT, {1});
    const std::string large = b.integers({most}), narrow = b.integers({(std::int64_t{1} << 32) + 5});
    const auto i32 = [&](const std::string& x) {
        const std::string y = b.node("Cast", {x});
        b.with("to", std::int64_t{TensorProto::INT32});
        return y;
    };
    const auto i64 = [&](const std::string& x) {
        const std::string y = b.node("Cast", {x});
        b.with("to", std::int64_t{TensorProto::INT64});
        return y;
    };
    const std::string factor = i32(b.integers({1 << 20}));
    b.node("Concat",
           {b.node("Add", {large, b.integers({2})}), b.node("Mul", {large, b.integers({2})}),
            i64(i32(narrow)), i64(b.node("Mul", {factor, i32(b.integers({1 << 12}))})),
            b.node("ReduceSum", {b.integers({most, 1})})},
           {"y"});
    b.with("axis", std::int64_t{0});
    Model model(b.bytes());
    EXPECT_THAT(model(rp::ones({1})).to_vector<std::int64_t>(), ElementsAre(-most, -2, 5, 0, -most - 1));
}

TEST(OnnxNumbers, PowersOfIntegersAreCut)
{
    Builder b = started(TensorProto::INT32, {4});
    b.node("Pow", {"x", b.weight("half", rp::tensor({0.5, 0.5, 1.5, -1.}))}, {"y"});
    Model model(b.bytes(), {.trainable = [](const auto&, const auto&) { return false; }});
    const Tensor x = rp::tensor({4, 8, 9, 2}, {.dtype = rp::i32});
    EXPECT_THAT(model(x).to_vector<int>(), ElementsAre(2, 2, 27, 0));
}

// 300 squared is beyond f16.
TEST(OnnxNumbers, NormalisesHalfPrecisionInF32)
{
    Builder b = started(TensorProto::FLOAT16, {1, 1, 4});
    const auto one = [&](float value) {
        const std::string half =
            b.node("Cast", {b.weight("w" + std::to_string(value), rp::full({1}, value))});
        b.with("to", std::int64_t{TensorProto::FLOAT16});
        return half;
    };
    b.node("InstanceNormalization", {"x", one(1), one(0)}, {"y"});
    Model model(b.bytes());
    const Tensor x = rp::tensor({-300., 300., -300., 300.}).reshape({1, 1, 4}).to(rp::f16);
    EXPECT_THAT(model(x).to(rp::f32).to_vector<float>(), ElementsAre(-1, 1, -1, 1));
    Builder c = started(TensorProto::FLOAT16, {1, 1, 2, 2});
    c.node("MeanVarianceNormalization", {"x"}, {"y"});
    Model variance(c.bytes());
    EXPECT_THAT(variance(x.reshape({1, 1, 2, 2})).to(rp::f32).to_vector<float>(), ElementsAre(-1, 1, -1, 1));
}

// Nodes Constant have external data, and are copied to the device once.
TEST(OnnxNumbers, ConstantsAreDecodedWhenTheModelIsLoaded)
{
    const auto folder = std::filesystem::path(testing::TempDir()) / "onnx_constant";
    std::filesystem::create_directories(folder);
    Builder b = started(TensorProto::FLOAT, {2});
    const std::string constant = b.node("Constant", {});
    auto& value = b.attribute("value", AttributeProto::TENSOR);
    auto& tensor = *value.mutable_t();
    tensor.set_data_type(TensorProto::FLOAT);
    tensor.add_dims(2);
    tensor.set_data_location(TensorProto::EXTERNAL);
    auto& entry = *tensor.add_external_data();
    entry.set_key("location");
    entry.set_value("values.bin");
    const std::vector<float> numbers{3, 4};
    std::ofstream(folder / "values.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(numbers.data()), 2 * sizeof(float));
    const std::string list = b.node("Constant", {});
    reals(b, "value_floats", {10, 20});
    b.node("Add", {b.node("Add", {"x", constant}), list}, {"y"});
    const auto bytes = b.bytes();
    std::ofstream(folder / "model.onnx", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    Model model(folder / "model.onnx");
    std::filesystem::remove(folder / "values.bin");
    EXPECT_THAT(model(rp::ones({2})).to_vector<float>(), ElementsAre(14, 25));
    EXPECT_THAT(model(rp::zeros({2})).to_vector<float>(), ElementsAre(13, 24));
}

// A running sum over a sequence of 3 in reverse order.
TEST(OnnxNumbers, ScansOfOpset8HaveDirections)
{
    Builder b(8);
    b.input("start", TensorProto::FLOAT, {1, 1});
    b.input("x", TensorProto::FLOAT, {1, 3, 1});
    b.graph().add_output()->set_name("last");
    b.graph().add_output()->set_name("all");
    b.node("Scan", {"", "start", "x"}, {"last", "all"});
    b.with("num_scan_inputs", std::int64_t{1}).with("directions", std::vector<std::int64_t>{1});
    auto& body = *b.attribute("body", AttributeProto::GRAPH).mutable_g();
    body.add_input()->set_name("before");
    body.add_input()->set_name("item");
    auto& node = *body.add_node();
    node.set_op_type("Add");
    node.add_input("before");
    node.add_input("item");
    node.add_output("sum");
    auto& copy = *body.add_node();
    copy.set_op_type("Identity");
    copy.add_input("sum");
    copy.add_output("copy");
    body.add_output()->set_name("sum");
    body.add_output()->set_name("copy");
    Model model(b.bytes());
    const Tensors y = model({rp::zeros({1, 1}), rp::tensor({1., 2., 4.}).reshape({1, 3, 1})});
    EXPECT_THAT(y[1].to_vector<float>(), ElementsAre(4, 6, 7));
}

// Only the second direction's function has an alpha, so that the first number of the list is its.
TEST(OnnxNumbers, ActivationsTakeTheNumbersThatTheyHave)
{
    Builder b = started(TensorProto::FLOAT, {1, 1, 1});
    const std::string w = b.weight("w", rp::full({2, 1, 1}, -1.0)), r = b.weight("r", rp::zeros({2, 1, 1}));
    b.node("RNN", {"x", w, r}, {"y"});
    b.attribute("direction", AttributeProto::STRING).set_s("bidirectional");
    b.with("hidden_size", std::int64_t{1});
    texts(b, "activations", {"Tanh", "LeakyRelu"});
    reals(b, "activation_alpha", {0.5});
    Model model(b.bytes());
    const std::vector<float> y = model(rp::ones({1, 1, 1})).to_vector<float>();
    EXPECT_NEAR(y[0], std::tanh(-1), 1e-5);
    EXPECT_FLOAT_EQ(y[1], -0.5f);
}

// Sums of products that f32 does not hold: 700 products of numbers up to 255.
TEST(OnnxNumbers, ProductsOfIntegersAreExact)
{
    constexpr int products = 700;
    const auto number = [](int i) { return 255 - (i * i + i / 3) % 61; };
    std::vector<std::uint8_t> left(2 * products), right(3 * products);
    for (int i = 0; i < 2 * products; ++i)
        left[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number(i));
    for (int i = 0; i < 3 * products; ++i)
        right[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(number(3 * i + 1));
    std::vector<int> expected;
    for (int m = 0; m < 2; ++m)
        for (int n = 0; n < 3; ++n) {
            int sum = 0;
            for (int k = 0; k < products; ++k)
                sum += left[static_cast<std::size_t>(m * products + k)] *
                       right[static_cast<std::size_t>(n * products + k)];
            expected.push_back(sum);
        }
    ASSERT_GT(expected[1], 1 << 25); // where f32 has multiples of 4 only
    ASSERT_NE(expected[1] % 4, 0);
    const Tensor x = rp::from_vector(left, {2, products}), w = rp::from_vector(right, {3, products});

    Builder matrices = started(TensorProto::UINT8, {2, products});
    matrices.node("MatMulInteger", {"x", matrices.weight("w", w.T().contiguous())}, {"y"});
    Model product(matrices.bytes(), {.trainable = [](const auto&, const auto&) { return false; }});
    EXPECT_EQ(product(x).to_vector<int>(), expected);

    Builder images = started(TensorProto::UINT8, {2, products, 1});
    images.node("ConvInteger", {"x", images.weight("w", w.reshape({3, products, 1}))}, {"y"});
    Model convolution(images.bytes(), {.trainable = [](const auto&, const auto&) { return false; }});
    EXPECT_EQ(convolution(x.reshape({2, products, 1})).to_vector<int>(), expected);
}

} // namespace
