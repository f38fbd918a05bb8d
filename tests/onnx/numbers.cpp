// Numbers that operators compute, where types, rounding or the host matter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

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

// A model of one input x and an output y of any type.
Builder started(int type, const std::vector<Size>& shape, std::int64_t opset = 17)
{
    Builder b(opset);
    b.input("x", type, shape);
    b.graph().add_output()->set_name("y");
    return b;
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

} // namespace
