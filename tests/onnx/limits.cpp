// Models at the limits of the format: numbers that are out of range, names and values that are missing, and functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>

#include <reprise/onnx.hpp>

#include "onnx/builder.hpp"
#include "shape/error_of.hpp"

namespace {

using namespace onnx_test;
using proto::AttributeProto;
using proto::TensorProto;
using rp::ErrorKind;
using rp::Tensor;
using rp::onnx::Model;
using testing::ElementsAre;
using testing::HasSubstr;
using Tensors = std::vector<Tensor>;

constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();

void text(Builder& b, const std::string& name, const std::string& value)
{
    b.attribute(name, AttributeProto::STRING).set_s(value);
}

// A function of the domain "own", whose nodes the caller adds.
proto::FunctionProto& function(Builder& b, const std::string& name, const Names& inputs, const Names& outputs)
{
    auto& f = *b.model.add_functions();
    f.set_domain("own");
    f.set_name(name);
    for (const auto& input : inputs) f.add_input(input);
    for (const auto& output : outputs) f.add_output(output);
    f.add_opset_import()->set_version(17);
    auto& own = *f.add_opset_import();
    own.set_domain("own");
    own.set_version(1);
    if (b.model.opset_import_size() == 1) *b.model.add_opset_import() = own;
    return f;
}

proto::NodeProto& add_node(proto::FunctionProto& f, const std::string& op, const Names& inputs,
                           const Names& outputs)
{
    auto& node = *f.add_node();
    node.set_op_type(op);
    for (const auto& input : inputs) node.add_input(input);
    for (const auto& output : outputs) node.add_output(output);
    return node;
}

// A model with an output for one node of x [2, 3] or of another shape.
Model of_node(Builder& b, const std::string& op, const Names& inputs, const std::vector<Size>& shape = {2, 3})
{
    b.input("x", TensorProto::FLOAT, shape);
    b.output("y", TensorProto::FLOAT, {});
    b.graph().mutable_output(0)->clear_type();
    b.node(op, inputs, {"y"});
    return Model(b.bytes());
}

// -- numbers --

TEST(OnnxLimits, SuppressesBoxesWithoutALimit)
{
    Builder b;
    b.input("boxes", TensorProto::FLOAT, {1, 2, 4});
    b.input("scores", TensorProto::FLOAT, {1, 1, 2});
    b.output("y", TensorProto::INT64, {"n", 3});
    b.node("NonMaxSuppression", {"boxes", "scores", b.integers({huge})}, {"y"});
    Model model(b.bytes());
    const Tensors y = model({rp::tensor({0., 0., 1., 1., 5., 5., 6., 6.}).reshape({1, 2, 4}),
                             rp::tensor({0.5, 0.25}).reshape({1, 1, 2})});
    EXPECT_EQ(y[0].size(0), rp::Dim(2));
}

TEST(OnnxLimits, RefusesNumbersThatAreNoSizes)
{
    for (const float number : {1e30f, -1e30f, std::numeric_limits<float>::quiet_NaN()}) {
        Builder b;
        const std::string scales = b.weight("scales", rp::full({2}, number));
        Model resize = of_node(b, "Resize", {"x", "", scales});
        EXPECT_EQ(error_of([&] { resize(rp::ones({2, 3})); }).kind, ErrorKind::argument);
        Builder c;
        const std::string depth = c.number(number), values = c.weight("values", rp::tensor({0., 1.}));
        Model one_hot = of_node(c, "OneHot", {"x", depth, values});
        EXPECT_EQ(error_of([&] { one_hot(rp::ones({2, 3})); }).kind, ErrorKind::argument);
    }
}

TEST(OnnxLimits, SlicesByBoundsAndStepsOfAnySize)
{
    Builder b;
    const std::string starts = b.integers({0}), ends = b.integers({huge}), axes = b.integers({1});
    Model model = of_node(b, "Slice", {"x", starts, ends, axes, b.integers({std::int64_t{1} << 40})});
    const Tensor x = rp::arange(6).to(rp::f32).reshape({2, 3});
    EXPECT_THAT(model(x).to_vector<float>(), ElementsAre(0, 3));
    Builder back;
    const std::string from = back.integers({-1}), to = back.integers({-huge}), dim = back.integers({1});
    Model backward = of_node(back, "Slice", {"x", from, to, dim, back.integers({-(std::int64_t{1} << 40)})});
    EXPECT_THAT(backward(x).to_vector<float>(), ElementsAre(2, 5));
}

// x[:, -n:] and x[:, -1:-n-1:-1], where n is a size.
TEST(OnnxLimits, SlicesFromTheEndBySymbolicBounds)
{
    for (const bool backward : {false, true}) {
        Builder b;
        b.input("x", TensorProto::FLOAT, {2, "n"});
        b.input("z", TensorProto::FLOAT, {"m"});
        b.output("y", TensorProto::FLOAT, {2, "k"});
        const std::string count = b.node("Neg", {b.node("Shape", {"z"})}), last = b.integers({-1});
        const std::string axes = b.integers({1});
        if (backward) b.node("Slice", {"x", last, b.node("Add", {count, last}), axes, last}, {"y"});
        else b.node("Slice", {"x", count, b.integers({huge}), axes}, {"y"});
        Model model(b.bytes());
        const rp::Program program =
            rp::record_function([&](const Tensors& in) { return model(in); }, model.input_specs());
        const Tensor x = rp::arange(10).to(rp::f32).reshape({2, 5});
        for (const int m : {1, 3, 5}) {
            const Tensors in{x, rp::ones({m})};
            const Tensor expected = rp::narrow(backward ? rp::flip(x, {1}) : x, 1, backward ? 0 : 5 - m, m);
            EXPECT_TRUE(rp::equal(model(in)[0], expected)) << m;
            EXPECT_TRUE(rp::equal(program.call(in)[0], expected)) << m;
        }
    }
    Builder b;
    b.input("x", TensorProto::FLOAT, {2, "n"});
    b.input("z", TensorProto::FLOAT, {"m"});
    b.output("y", TensorProto::FLOAT, {2, "k"});
    const std::string bound = b.node("Sub", {b.node("Shape", {"z"}), b.integers({3})});
    b.node("Slice", {"x", bound, b.integers({huge}), b.integers({1})}, {"y"});
    Model model(b.bytes());
    const auto record = [&] {
        rp::record_function([&](const Tensors& in) { return model(in); }, model.input_specs());
    };
    EXPECT_THAT(error_of(record).text, HasSubstr("counts from the start or from the end"));
}

TEST(OnnxLimits, RefusesAnotherNumberOfParts)
{
    Builder b(18);
    b.input("x", TensorProto::FLOAT, {6});
    b.output("y", TensorProto::FLOAT, {3});
    b.node("Split", {"x"}, {"y", "z"});
    b.with("num_outputs", std::int64_t{1} << 40);
    Model model(b.bytes());
    EXPECT_THAT(error_of([&] { model(rp::ones({6})); }).text, HasSubstr("is not that of the outputs (2)"));
}

TEST(OnnxLimits, RefusesTypesThatNothingIsQuantisedTo)
{
    Builder b(21);
    b.input("x", TensorProto::FLOAT, {2});
    b.output("y", TensorProto::FLOAT, {2});
    b.node("QuantizeLinear", {"x", b.number(1)}, {"y"});
    b.with("output_dtype", std::int64_t{TensorProto::FLOAT});
    Model model(b.bytes());
    EXPECT_THAT(error_of([&] { model(rp::ones({2})); }).text, HasSubstr("(float32) is none"));
}

// -- texts --

TEST(OnnxLimits, ResizesAtTheCentresOfTensorFlow)
{
    Builder b(11);
    b.input("x", TensorProto::FLOAT, {6});
    b.output("y", TensorProto::FLOAT, {4});
    b.node("Resize", {"x", "", b.weight("scales", rp::tensor({2. / 3}))}, {"y"});
    text(b, "coordinate_transformation_mode", "tf_half_pixel_for_nn");
    text(b, "nearest_mode", "floor");
    Model model(b.bytes());
    EXPECT_THAT(model(rp::arange(6).to(rp::f32)).to_vector<float>(), ElementsAre(0, 2, 3, 5));
}

TEST(OnnxLimits, RefusesTextsThatItDoesNotKnow)
{
    const auto refuses = [](const std::string& op, const std::string& attribute, const Names& more = {}) {
        Builder b(18);
        b.input("x", TensorProto::FLOAT, {1, 1, 2});
        b.output("y", TensorProto::FLOAT, {});
        b.graph().mutable_output(0)->clear_type();
        Names inputs{"x"};
        if (op == "Resize") inputs = {"x", "", "", b.integers({1, 1, 4})};
        inputs.insert(inputs.end(), more.begin(), more.end());
        b.node(op, inputs, {"y"});
        text(b, attribute, "unheard");
        Model model(b.bytes());
        EXPECT_THAT(error_of([&] {
                        model(rp::ones({1, 1, 2}));
                    }).text,
                    HasSubstr("(unheard)"))
            << op << attribute;
    };
    for (const char* name :
         {"mode", "coordinate_transformation_mode", "nearest_mode", "keep_aspect_ratio_policy"})
        refuses("Resize", name);
    for (const char* name : {"mode", "padding_mode"}) refuses("GridSample", name, {"x"});
    refuses("RNN", "direction", {"x", "x"});
}

// -- inputs --

TEST(OnnxLimits, GivesTensorsToTheInputsThatNeedThem)
{
    Builder b;
    b.input("shape", TensorProto::INT64, {2});
    b.input("x", TensorProto::FLOAT, {"n"});
    b.output("y", TensorProto::FLOAT, {});
    b.graph().mutable_output(0)->clear_type();
    b.weight("shape", rp::from_vector(std::vector<std::int64_t>{2, 3}, {2}));
    b.node("Reshape", {"x", "shape"}, {"y"});
    Model model(b.bytes());
    ASSERT_EQ(model.inputs().size(), 2u);
    EXPECT_EQ(model(rp::ones({6})).size(0), rp::Dim(2));
    const auto specs = model.input_specs({{"n", 6}});
    ASSERT_EQ(specs.size(), 1u);
    const rp::Program program = rp::record_function([&](const Tensors& in) { return model(in); }, specs);
    EXPECT_EQ(program.call({rp::ones({6})})[0].size(1), rp::Dim(3));
    const Tensor shape = rp::from_vector(std::vector<std::int64_t>{3, 2}, {2});
    EXPECT_EQ(model(Tensors{shape, rp::ones({6})})[0].size(0), rp::Dim(3));
    const Caught error = error_of([&] { model(Tensors{}); });
    EXPECT_EQ(error.kind, ErrorKind::argument);
    EXPECT_THAT(error.text, HasSubstr("The input (x) is not given"));
}

// Options and statistics are no parameters, wherever they are read.
TEST(OnnxLimits, TrainsNoOptions)
{
    Builder b;
    b.input("x", TensorProto::FLOAT, {1, 2, 3});
    b.input("index", TensorProto::INT64, {2});
    b.output("y", TensorProto::FLOAT, {});
    b.graph().mutable_output(0)->clear_type();
    b.output("hot", TensorProto::FLOAT, {2, 4});
    const auto vector = [&](const std::string& name) { return b.weight(name, rp::ones({2})); };
    auto& f = function(b, "Norm", {"x", "s", "b", "m", "v"}, {"y"});
    add_node(f, "BatchNormalization", {"x", "s", "b", "m", "v"}, {"y"});
    const std::string norm =
        b.node("Norm", {"x", vector("scale"), vector("bias"), vector("mean"), vector("variance")});
    b.last->set_domain("own");
    const std::string pads = b.integers({0, 0, 0, 0, 0, 1});
    const std::string value = b.weight("pad.value", rp::tensor({7.}));
    b.node("If", {b.node("Equal", {b.integer(1), b.integer(1)})}, {"y"});
    for (const char* branch : {"then_branch", "else_branch"}) {
        auto& graph = *b.attribute(branch, AttributeProto::GRAPH).mutable_g();
        auto& node = *graph.add_node();
        node.set_op_type("Pad");
        for (const auto& name : {norm, pads, value}) node.add_input(name);
        node.add_output("padded");
        graph.add_output()->set_name("padded");
    }
    b.node("OneHot", {"index", b.integer(4), b.weight("values", rp::tensor({-1., 1.}))}, {"hot"});
    Model model(b.bytes());
    EXPECT_THAT(model.named_parameters().keys(), ElementsAre("scale", "bias"));
    EXPECT_THAT(model.named_buffers().keys(), ElementsAre("mean", "variance"));
    const Tensors y = model({rp::ones({1, 2, 3}), rp::from_vector(std::vector<std::int64_t>{0, 3}, {2})});
    EXPECT_EQ(y[0].size(2), rp::Dim(4));
}

// -- integers of the host --

TEST(OnnxLimits, SumsSizesOverTheAxesThatAreGiven)
{
    const auto shape_of_result = [](bool noop) {
        Builder b(18);
        b.input("x", TensorProto::FLOAT, {2, 3});
        b.output("y", TensorProto::INT64, {});
        b.graph().mutable_output(0)->clear_type();
        b.node("ReduceSum", {b.node("Shape", {"x"}), b.integers({})}, {"y"});
        b.with("keepdims", std::int64_t{0}).with("noop_with_empty_axes", std::int64_t{noop});
        Model model(b.bytes());
        return model(rp::ones({2, 3})).to_vector<std::int64_t>();
    };
    EXPECT_THAT(shape_of_result(true), ElementsAre(2, 3));
    EXPECT_THAT(shape_of_result(false), ElementsAre(5));
    Builder b(18);
    b.input("x", TensorProto::FLOAT, {2, 3});
    b.output("y", TensorProto::INT64, {});
    b.node("ReduceProd", {b.node("Shape", {"x"}), b.integers({1})}, {"y"});
    Model model(b.bytes());
    EXPECT_THAT(error_of([&] { model(rp::ones({2, 3})); }).text, HasSubstr("ReduceProd"));
}

// -- functions --

// y = LeakyRelu(x) with the slope of the call, inside of a branch; a call without one has the default 0.01.
TEST(OnnxLimits, ResolvesAttributesOfTheEnclosingFunction)
{
    const auto slope = [](std::optional<float> given) {
        Builder b;
        b.input("x", TensorProto::FLOAT, {1});
        b.output("y", TensorProto::FLOAT, {1});
        auto& inner = function(b, "Inner", {"a"}, {"r"});
        inner.add_attribute("alpha");
        auto& leaky = add_node(inner, "LeakyRelu", {"a"}, {"r"});
        const auto refer = [](proto::NodeProto& node) {
            auto& attribute = *node.add_attribute();
            attribute.set_name("alpha");
            attribute.set_ref_attr_name("alpha");
            attribute.set_type(AttributeProto::FLOAT);
        };
        refer(leaky);
        auto& outer = function(b, "Outer", {"a"}, {"r"});
        outer.add_attribute("alpha");
        auto& condition = add_node(outer, "Constant", {}, {"true"});
        auto& value = *condition.add_attribute();
        value.set_name("value");
        value.set_type(AttributeProto::TENSOR);
        value.mutable_t()->set_data_type(TensorProto::BOOL);
        value.mutable_t()->add_int32_data(1);
        auto& branch = add_node(outer, "If", {"true"}, {"r"});
        for (const char* name : {"then_branch", "else_branch"}) {
            auto& attribute = *branch.add_attribute();
            attribute.set_name(name);
            attribute.set_type(AttributeProto::GRAPH);
            auto& node = *attribute.mutable_g()->add_node();
            node.set_op_type("Inner");
            node.set_domain("own");
            node.add_input("a");
            node.add_output("inside");
            refer(node);
            attribute.mutable_g()->add_output()->set_name("inside");
        }
        b.node("Outer", {"x"}, {"y"});
        b.last->set_domain("own");
        if (given) b.attribute("alpha", AttributeProto::FLOAT).set_f(*given);
        Model model(b.bytes());
        return model(rp::tensor({-1.})).to_vector<float>()[0];
    };
    EXPECT_FLOAT_EQ(slope(0.5f), -0.5f);
    EXPECT_FLOAT_EQ(slope(std::nullopt), -0.01f);
}

TEST(OnnxLimits, KeepsOverloadsApart)
{
    Builder b;
    b.input("x", TensorProto::FLOAT, {1});
    b.output("y", TensorProto::FLOAT, {1});
    for (const char* overload : {"exp", "neg"}) {
        auto& f = function(b, "F", {"a"}, {"r"});
        f.set_overload(overload);
        add_node(f, overload == std::string("exp") ? "Exp" : "Neg", {"a"}, {"r"});
    }
    const std::string e = b.node("F", {"x"});
    b.last->set_domain("own");
    b.last->set_overload("exp");
    b.node("F", {e}, {"y"});
    b.last->set_domain("own");
    b.last->set_overload("neg");
    Model model(b.bytes());
    EXPECT_THAT(model(rp::zeros({1})).to_vector<float>(), ElementsAre(-1));
    b.model.mutable_functions(1)->set_overload("exp");
    EXPECT_THAT(error_of([&] { Model{b.bytes()}; }).text, HasSubstr("function (F): there are two"));
}

// A chain of functions, each of which calls the next one once or twice.
Builder chain(int length, int calls)
{
    Builder b;
    b.input("x", TensorProto::FLOAT, {1});
    b.output("y", TensorProto::FLOAT, {1});
    for (int i = 0; i < length; ++i) {
        auto& f = function(b, "F" + std::to_string(i), {"a"}, {"r"});
        const bool last = i + 1 == length;
        for (int k = 0; k < calls; ++k) {
            auto& node = add_node(f, last ? "Exp" : "F" + std::to_string(i + 1), {"a"}, {k ? "other" : "r"});
            if (!last) node.set_domain("own");
        }
    }
    b.node("F0", {"x"}, {"y"});
    b.last->set_domain("own");
    return b;
}

TEST(OnnxLimits, RefusesFunctionsThatCallTooMuch)
{
    EXPECT_EQ(Model(chain(20, 1).bytes()).inputs().size(), 1u);
    EXPECT_EQ(error_of([&] { Model{chain(50000, 1).bytes()}; }).kind, ErrorKind::file);
    EXPECT_EQ(error_of([&] { Model{chain(60, 2).bytes()}; }).kind, ErrorKind::file);
}

TEST(OnnxLimits, KeepsNamesOfManyDots)
{
    Builder b;
    b.input("x", TensorProto::FLOAT, {1});
    b.output("y", TensorProto::FLOAT, {1});
    std::string name = "a";
    for (int i = 0; i < 100000; ++i) name += ".a";
    b.node("Add", {"x", b.weight(name, rp::ones({1}))}, {"y"});
    Model model(b.bytes());
    EXPECT_EQ(model.named_parameters().size(), 1u);
    EXPECT_THAT(model(rp::ones({1})).to_vector<float>(), ElementsAre(2));
}

// -- files --

TEST(OnnxLimits, RefusesTensorsWithoutTheirElements)
{
    Builder b;
    b.input("x", TensorProto::FLOAT, {1});
    b.output("y", TensorProto::FLOAT, {1});
    b.node("Identity", {"x"}, {"y"});
    auto& tensor = *b.graph().add_initializer();
    tensor.set_name("few");
    tensor.set_data_type(TensorProto::INT4);
    tensor.add_dims(std::int64_t{1} << 62);
    tensor.set_raw_data("");
    EXPECT_EQ(error_of([&] { Model{b.bytes()}; }).kind, ErrorKind::file);
}

TEST(OnnxLimits, RefusesFoldersAsFiles)
{
    const auto folder = std::filesystem::path(testing::TempDir());
    EXPECT_EQ(error_of([&] { Model{folder}; }).kind, ErrorKind::file);
    Builder b;
    b.input("x", TensorProto::FLOAT, {1});
    b.output("y", TensorProto::FLOAT, {1});
    b.node("Add", {"x", b.weight("w", rp::ones({1}))}, {"y"});
    auto& weight = *b.graph().mutable_initializer(0);
    weight.clear_raw_data();
    weight.set_data_location(TensorProto::EXTERNAL);
    auto& entry = *weight.add_external_data();
    entry.set_key("location");
    entry.set_value(".");
    const auto bytes = b.bytes();
    std::ofstream(folder / "folder.onnx", std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    EXPECT_EQ(error_of([&] { Model{folder / "folder.onnx"}; }).kind, ErrorKind::file);
}

TEST(OnnxLimits, ListsNamesAndTypesThatAreMissing)
{
    Builder b;
    b.input("x", TensorProto::FLOAT, {1});
    b.output("y", TensorProto::FLOAT, {1});
    b.output("nothing", TensorProto::FLOAT, {1});
    b.graph().add_output()->set_name("list");
    b.graph().mutable_output(2)->mutable_type()->mutable_sequence_type();
    b.node("SequenceConstruct", {"x"}, {"list"});
    b.node("Cast", {"x"}, {"y"});
    b.last->clear_name();
    b.with("to", std::int64_t{TensorProto::STRING});
    b.node("Add", {"x", "later"}, {"sum"});
    b.node("Constant", {}, {"later"});
    text(b, "value_string", "text");
    const Caught error = error_of([&] { Model{b.bytes()}; });
    EXPECT_EQ(error.kind, ErrorKind::unsupported);
    for (const char* part :
         {"Cast (-> y): its attribute (to): the library has no tensors of the type string",
          "Add (node_3): it reads (later), which nothing before it computes",
          "Constant (node_4): its attribute (value_string)", "output (nothing): nothing computes it",
          "value (list): a module takes and returns tensors only"})
        EXPECT_THAT(error.text, HasSubstr(part));
}

TEST(OnnxLimits, RefusesOutputsWithoutAValue)
{
    Builder b(7);
    b.input("x", TensorProto::FLOAT, {1, 2});
    b.output("y", TensorProto::FLOAT, {1, 2});
    b.output("mean", TensorProto::FLOAT, {2});
    const auto vector = [&](const std::string& name) { return b.weight(name, rp::ones({2})); };
    b.node("BatchNormalization", {"x", vector("s"), vector("b"), vector("m"), vector("v")}, {"y", "mean"});
    Model model(b.bytes());
    EXPECT_THAT(error_of([&] { model(rp::ones({1, 2})); }).text, HasSubstr("The output (mean) has no value"));
}

} // namespace
