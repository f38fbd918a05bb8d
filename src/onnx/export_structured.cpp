// Structured ops as ONNX's operators.
#include <algorithm>
#include <limits>

#include "onnx/emitter.hpp"
#include "ops/resample.hpp"

namespace reprise::onnx {

namespace {

using graph::Node;
using Numbers = std::vector<std::int64_t>;
using Result = std::optional<std::string>;

graph::Value output(const Node& node, std::uint32_t index = 0) { return {node.shared_from_this(), index}; }

std::string input(Emitter& to, const Node& node, std::size_t i = 0) { return to.name_of(node.inputs[i]); }

const Shape& input_shape(const Node& node, std::size_t i = 0) { return node.inputs[i].type().shape; }

Result done(Emitter& to, const Node& node, const std::string& name)
{
    to.bind(output(node), name);
    return std::nullopt;
}

// Numbers that the op has as a list or as a shape.
Numbers numbers(const Node& node, const char* name)
{
    for (const auto& [key, value] : node.attributes.all())
        if (name == std::string_view(key)) {
            if (const auto* list = std::get_if<Numbers>(&value)) return *list;
            if (const auto* shape = std::get_if<Shape>(&value)) return shape->vec();
        }
    return {};
}

Numbers twice(const Numbers& list)
{
    Numbers both = list;
    both.insert(both.end(), list.begin(), list.end());
    return both;
}

Result reshape(Emitter& to, const Node& node)
{
    const Shape& shape = node.attributes.shape("shape");
    const auto symbolic =
        std::count_if(shape.begin(), shape.end(), [](const Dim& d) { return !d.is_constant(); });
    const bool empty = std::any_of(shape.begin(), shape.end(), [](const Dim& d) { return same(d, Dim(0)); });
    if (symbolic > 1 || empty)
        return done(to, node,
                    to.node("Reshape", {input(to, node), to.sizes(shape)}, {{"allowzero", std::int64_t{1}}}));
    Numbers sizes;
    for (const Dim& size : shape) sizes.push_back(size.is_constant() ? size.value() : -1);
    return done(to, node, to.node("Reshape", {input(to, node), to.constant(sizes)}));
}

Result permute(Emitter& to, const Node& node)
{
    return done(to, node, to.node("Transpose", {input(to, node)}, {{"perm", numbers(node, "dims")}}));
}

Result expand(Emitter& to, const Node& node)
{
    return done(to, node, to.node("Expand", {input(to, node), to.sizes(node.attributes.shape("shape"))}));
}

Result narrow(Emitter& to, const Node& node)
{
    const Dim start = node.attributes.get<Dim>("start"), length = node.attributes.get<Dim>("length");
    const std::string axes = to.constant({node.attributes.integer("dim")});
    return done(to, node, to.node("Slice", {input(to, node), to.size(start), to.size(start + length), axes}));
}

Result flip(Emitter& to, const Node& node)
{
    const std::string axes = to.constant({node.attributes.integer("dim")}), step = to.constant({-1});
    const std::string end = to.constant({std::numeric_limits<std::int64_t>::min()});
    return done(to, node, to.node("Slice", {input(to, node), step, end, axes, step}));
}

Result pad(Emitter& to, const Node& node)
{
    const std::int64_t dim = node.attributes.integer("dim");
    const Dim start = node.attributes.get<Dim>("start");
    const Dim end =
        node.attributes.get<Dim>("size") - start - input_shape(node)[static_cast<std::size_t>(dim)];
    const std::string value = to.number(node.attributes.number("value"), node.outputs[0].dtype);
    return done(to, node,
                to.node("Pad", {input(to, node), to.sizes({start, end}), value, to.constant({dim})}));
}

Result cat(Emitter& to, const Node& node)
{
    std::vector<std::string> parts;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) parts.push_back(input(to, node, i));
    return done(to, node, to.node("Concat", parts, {{"axis", node.attributes.integer("dim")}}));
}

Result split(Emitter& to, const Node& node)
{
    const std::string sizes = to.sizes(node.attributes.shape("sizes"));
    const auto parts = to.node_of(node.outputs.size(), "Split", {input(to, node), sizes},
                                  {{"axis", node.attributes.integer("dim")}});
    for (std::size_t i = 0; i < parts.size(); ++i)
        to.bind(output(node, static_cast<std::uint32_t>(i)), parts[i]);
    return std::nullopt;
}

Result full(Emitter& to, const Node& node)
{
    if (node.attributes.has_source("value"))
        return "a number of the host, which each call asks for, has no place in a file";
    const double value = node.attributes.number("value");
    const Dim factor = node.attributes.get<Dim>("factor");
    const auto& [dtype, shape] = node.outputs[0];
    std::string one;
    if (factor.is_constant()) {
        one = to.number(value * static_cast<double>(factor.value()), dtype);
    } else {
        const std::string size = to.node("Reshape", {to.size(factor), to.constant({})});
        one = to.node("Mul", {to.cast(size, dtype), to.number(value, dtype)});
    }
    return done(to, node, shape.empty() ? one : to.node("Expand", {one, to.sizes(shape)}));
}

Result arange(Emitter& to, const Node& node)
{
    const auto scalar = [&](const Dim& size) { return to.node("Reshape", {to.size(size), to.constant({})}); };
    const std::string range =
        to.node("Range", {scalar(0), scalar(node.attributes.get<Dim>("end")), scalar(1)});
    return done(to, node, to.cast(range, node.outputs[0].dtype));
}

Result matmul(Emitter& to, const Node& node)
{
    return done(to, node, to.node("MatMul", {input(to, node, 0), input(to, node, 1)}));
}

// [..., h, m, k] x [..., h, k, n] -> [..., m, h, n].
Result matmul_heads(Emitter& to, const Node& node)
{
    const auto rank = static_cast<std::int64_t>(node.outputs[0].shape.size());
    Numbers order;
    for (std::int64_t i = 0; i < rank; ++i) order.push_back(i);
    std::swap(order[order.size() - 3], order[order.size() - 2]);
    const std::string product = to.node("MatMul", {input(to, node, 0), input(to, node, 1)});
    return done(to, node, to.node("Transpose", {product}, {{"perm", order}}));
}

Result convolution(Emitter& to, const Node& node)
{
    std::vector<std::string> inputs;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) inputs.push_back(input(to, node, i));
    return done(to, node,
                to.node("Conv", inputs,
                        {{"strides", numbers(node, "stride")},
                         {"pads", twice(numbers(node, "padding"))},
                         {"dilations", numbers(node, "dilation")},
                         {"group", node.attributes.integer("groups")}}));
}

Result convolution_input(Emitter& to, const Node& node)
{
    const Numbers stride = numbers(node, "stride"), padding = numbers(node, "padding"),
                  dilation = numbers(node, "dilation");
    Numbers more;
    for (std::size_t i = 0; i < stride.size(); ++i) {
        const Dim kernel = input_shape(node, 1)[i + 2];
        const Dim least =
            (input_shape(node)[i + 2] - 1) * stride[i] - 2 * padding[i] + (kernel - 1) * dilation[i] + 1;
        const Dim rest = node.outputs[0].shape[i + 2] - least;
        if (!rest.is_constant()) return "the padding of its result depends on sizes";
        more.push_back(rest.value());
    }
    return done(to, node,
                to.node("ConvTranspose", {input(to, node, 0), input(to, node, 1)},
                        {{"strides", stride},
                         {"pads", twice(padding)},
                         {"dilations", dilation},
                         {"output_padding", more},
                         {"group", node.attributes.integer("groups")}}));
}

Result max_pool(Emitter& to, const Node& node)
{
    return done(to, node,
                to.node("MaxPool", {input(to, node)},
                        {{"kernel_shape", numbers(node, "kernel")},
                         {"strides", numbers(node, "stride")},
                         {"pads", twice(numbers(node, "padding"))},
                         {"dilations", numbers(node, "dilation")},
                         {"ceil_mode", node.attributes.integer("ceil_mode")}}));
}

Result average_pool(Emitter& to, const Node& node)
{
    const Numbers kernel = numbers(node, "kernel"), stride = numbers(node, "stride");
    const Shape& shape = input_shape(node);
    const std::size_t n = kernel.size();
    Numbers padding;
    for (std::size_t i = 0; i < n; ++i) {
        const Dim before = node.attributes.get<Dim>(("before_" + std::to_string(i)).c_str());
        const Dim size = shape[shape.size() - n + i], out = node.outputs[0].shape[shape.size() - n + i];
        if (!before.is_constant() || !same(floor_div(size + 2 * before - kernel[i], Dim(stride[i])) + 1, out))
            return "its windows reach beyond the padding";
        padding.push_back(before.value());
    }
    if (node.attributes.integer("divisor")) return "it has a divisor of its own";
    return done(to, node,
                to.node("AveragePool", {input(to, node)},
                        {{"kernel_shape", kernel},
                         {"strides", stride},
                         {"pads", twice(padding)},
                         {"count_include_pad", node.attributes.integer("counts_padding")}}));
}

Result resample(Emitter& to, const Node& node)
{
    using ops::Resampling;
    const auto how = static_cast<Resampling>(node.attributes.integer("how"));
    if (how == Resampling::window) return average_pool(to, node);
    const bool corners = how == Resampling::linear_corners || how == Resampling::cubic_corners;
    const bool linear = how == Resampling::linear || how == Resampling::linear_corners;
    const bool cubic = how == Resampling::cubic || how == Resampling::cubic_corners;
    if (how != Resampling::nearest && !linear && !cubic) return "Resize has no mode for it";
    const std::string sizes = to.sizes(node.outputs[0].shape);
    return done(to, node,
                to.node("Resize", {input(to, node), "", "", sizes},
                        {{"mode", std::string(linear  ? "linear"
                                              : cubic ? "cubic"
                                                      : "nearest")},
                         {"nearest_mode", std::string("floor")},
                         {"coordinate_transformation_mode", std::string(corners           ? "align_corners"
                                                                        : linear || cubic ? "half_pixel"
                                                                                          : "asymmetric")}}));
}

template <bool logarithm> Result softmax(Emitter& to, const Node& node)
{
    return done(to, node,
                to.node(logarithm ? "LogSoftmax" : "Softmax", {input(to, node)},
                        {{"axis", node.attributes.integer("dim")}}));
}

Result layer_norm(Emitter& to, const Node& node)
{
    if (!node.attributes.integer("centered")) return "RMS normalisation is not an operator of the opset";
    return done(to, node,
                to.node("LayerNormalization", {input(to, node, 0), input(to, node, 1), input(to, node, 2)},
                        {{"axis", std::int64_t{-1}}, {"epsilon", node.attributes.number("eps")}}));
}

// The rows of a table [V, D] that indices [N] name.
Result embedding(Emitter& to, const Node& node)
{
    return done(to, node,
                to.node("Gather", {input(to, node, 1), input(to, node, 0)}, {{"axis", std::int64_t{0}}}));
}

Result reduce(Emitter& to, const Node& node, const char* op)
{
    std::string x = input(to, node);
    const DType dtype = node.outputs[0].dtype;
    if (node.inputs[0].type().dtype != dtype) x = to.cast(x, dtype);
    return done(to, node,
                to.node(op, {x, to.constant(numbers(node, "dims"))},
                        {{"keepdims", node.attributes.integer("keepdim")}}));
}

Result sum(Emitter& to, const Node& node) { return reduce(to, node, "ReduceSum"); }
Result prod(Emitter& to, const Node& node) { return reduce(to, node, "ReduceProd"); }
Result amax(Emitter& to, const Node& node) { return reduce(to, node, "ReduceMax"); }
Result amin(Emitter& to, const Node& node) { return reduce(to, node, "ReduceMin"); }

Result argmax(Emitter& to, const Node& node)
{
    const Numbers dims = numbers(node, "dims");
    if (dims.size() != 1) return "it is over several dimensions";
    const std::string at = to.node("ArgMax", {input(to, node)},
                                   {{"axis", dims[0]}, {"keepdims", node.attributes.integer("keepdim")}});
    return done(to, node, to.cast(at, node.outputs[0].dtype));
}

Result cumsum(Emitter& to, const Node& node)
{
    std::string x = input(to, node);
    const DType dtype = node.outputs[0].dtype;
    if (node.inputs[0].type().dtype != dtype) x = to.cast(x, dtype);
    const std::string axis = to.number(static_cast<double>(node.attributes.integer("dim")), i64);
    return done(to, node, to.node("CumSum", {x, axis}));
}

Result sort(Emitter& to, const Node& node)
{
    const auto both = to.node_of(
        2, "TopK", {input(to, node), to.size(node.attributes.get<Dim>("count"))},
        {{"axis", node.attributes.integer("dim")}, {"largest", node.attributes.integer("descending")}});
    to.bind(output(node, 0), both[0]);
    to.bind(output(node, 1), to.cast(both[1], node.outputs[1].dtype));
    return std::nullopt;
}

Result contiguous(Emitter& to, const Node& node)
{
    return done(to, node, to.node("Identity", {input(to, node)}));
}

constexpr ExportRow rows[] = {
    {"amax", amax},
    {"amin", amin},
    {"arange", arange},
    {"argmax", argmax},
    {"cat", cat},
    {"contiguous", contiguous},
    {"convolution", convolution},
    {"convolution_input", convolution_input},
    {"cumsum", cumsum},
    {"embedding", embedding},
    {"expand", expand},
    {"flip", flip},
    {"full", full},
    {"layer_norm", layer_norm},
    {"log_softmax", softmax<true>},
    {"matmul", matmul},
    {"matmul_heads", matmul_heads},
    {"max_pool", max_pool},
    {"narrow", narrow},
    {"pad", pad},
    {"permute", permute},
    {"prod", prod},
    {"resample", resample},
    {"reshape", reshape},
    {"softmax", softmax<false>},
    {"sort", sort},
    {"split", split},
    {"sum", sum},
};

} // namespace

std::span<const ExportRow> structured_export_rules() { return rows; }

} // namespace reprise::onnx
