// Structured ops as ONNX's operators.
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <tuple>

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

// Products of f16 and bf16 may have a bias.
Result matmul(Emitter& to, const Node& node)
{
    const std::string product = to.node("MatMul", {input(to, node, 0), input(to, node, 1)});
    if (node.inputs.size() < 3) return done(to, node, product);
    return done(to, node, to.node("Add", {product, input(to, node, 2)}));
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

// Whether an image of n dimensions has no batch; ONNX's pooling needs one.
bool without_batch(const Node& node, std::size_t n) { return input_shape(node).size() == n + 1; }

// The input with a batch, and a result as the op has it.
std::string with_batch(Emitter& to, const Node& node, std::size_t n)
{
    const std::string x = input(to, node);
    return without_batch(node, n) ? to.node("Unsqueeze", {x, to.constant({0})}) : x;
}

std::string as_input(Emitter& to, const Node& node, std::size_t n, const std::string& y)
{
    return without_batch(node, n) ? to.node("Squeeze", {y, to.constant({0})}) : y;
}

constexpr const char* other_rank = "its input has neither [N, C, ...] nor [C, ...]";

Result max_pool(Emitter& to, const Node& node)
{
    const Numbers kernel = numbers(node, "kernel");
    const Shape& shape = input_shape(node);
    const std::size_t n = kernel.size();
    if (kernel.empty()) return "it is adaptive, which no operator is";
    if (shape.size() != n + 1 && shape.size() != n + 2) return other_rank;
    const bool places = to.used(output(node, 1));
    const auto both = to.node_of(places ? 2 : 1, "MaxPool", {with_batch(to, node, n)},
                                 {{"kernel_shape", kernel},
                                  {"strides", numbers(node, "stride")},
                                  {"pads", twice(numbers(node, "padding"))},
                                  {"dilations", numbers(node, "dilation")},
                                  {"ceil_mode", node.attributes.integer("ceil_mode")}});
    to.bind(output(node, 0), as_input(to, node, n, both[0]));
    if (!places) return std::nullopt;
    // ONNX counts places through the whole tensor, the library in each image.
    Dim image = 1;
    for (std::size_t i = shape.size() - n; i < shape.size(); ++i) image *= shape[i];
    const std::string inside = to.node("Mod", {as_input(to, node, n, both[1]), to.size(image)});
    to.bind(output(node, 1), to.cast(inside, node.outputs[1].dtype));
    return std::nullopt;
}

Result average_pool(Emitter& to, const Node& node)
{
    const Numbers kernel = numbers(node, "kernel"), stride = numbers(node, "stride");
    const Shape& shape = input_shape(node);
    const std::size_t n = kernel.size();
    if (shape.size() != n + 1 && shape.size() != n + 2) return other_rank;
    Numbers padding;
    for (std::size_t i = 0; i < n; ++i) {
        const Dim before = node.attributes.get<Dim>(("before_" + std::to_string(i)).c_str());
        const Dim size = shape[shape.size() - n + i], out = node.outputs[0].shape[shape.size() - n + i];
        if (!before.is_constant() || !same(floor_div(size + 2 * before - kernel[i], Dim(stride[i])) + 1, out))
            return "its windows reach beyond the padding";
        padding.push_back(before.value());
    }
    if (node.attributes.integer("divisor")) return "it has a divisor of its own";
    const std::string y = to.node("AveragePool", {with_batch(to, node, n)},
                                  {{"kernel_shape", kernel},
                                   {"strides", stride},
                                   {"pads", twice(padding)},
                                   {"count_include_pad", node.attributes.integer("counts_padding")}});
    return done(to, node, as_input(to, node, n, y));
}

// The factor of a dimension whose inverse the op has, so that the size of the result, which is rounded down, is that
// of the op; nullopt where there is none.
std::optional<float> factor_of(float inverse, const Dim& from, const Dim& result)
{
    constexpr double unit = 1 << 20; // factors of symbolic sizes are multiples of 2^-20
    const auto near = static_cast<float>(1 / static_cast<double>(inverse));
    const auto simple = static_cast<float>(std::round(static_cast<double>(near) * unit) / unit);
    const float infinity = std::numeric_limits<float>::infinity();
    std::optional<float> best;
    double least = 1e-6; // a few units in the last place
    for (const float factor : {simple, near, std::nextafter(near, infinity), std::nextafter(near, 0.0f)}) {
        const bool known = from.is_constant() && result.is_constant();
        const auto wide = static_cast<double>(factor);
        if (known &&
            std::floor(static_cast<double>(from.value()) * wide) != static_cast<double>(result.value()))
            continue;
        const double away = std::abs(static_cast<double>(static_cast<float>(1 / wide) - inverse)) * wide;
        if (away < least) std::tie(best, least) = std::pair(factor, away);
    }
    return best;
}

// Whether the op takes the positions of a dimension by its sizes, although it has a factor.
bool by_sizes(ops::Resampling how, std::size_t dims, std::int64_t from, std::int64_t result)
{
    return (how == ops::Resampling::linear && from == result) ||
           (how == ops::Resampling::nearest && dims == 2 && (from == result || 2 * from == result));
}

// Factors of symbolic sizes for which by_sizes() may depend on the sizes.
bool may_be_by_sizes(ops::Resampling how, std::size_t dims, float factor)
{
    const bool nearest = how == ops::Resampling::nearest && dims == 2;
    return ((nearest || how == ops::Resampling::linear) && factor > 1 && factor < 1.5f) ||
           (nearest && factor > 2 && factor < 2.5f);
}

// The scales of Resize of all dimensions, which also are those of positions; nullopt where the op has other ones.
std::optional<std::vector<float>> scales_of(const Node& node, ops::Resampling how)
{
    const Numbers inverse = numbers(node, "scales"); // the bits of f32
    const Shape& all = input_shape(node);
    const std::size_t dims = inverse.size();
    std::vector<float> scales(all.size() - dims, 1);
    for (const std::int64_t bits : inverse) {
        const Dim from = all[scales.size()], result = node.outputs[0].shape[scales.size()];
        const bool known = from.is_constant() && result.is_constant();
        const auto factor = factor_of(std::bit_cast<float>(static_cast<std::uint32_t>(bits)), from, result);
        if (known && by_sizes(how, dims, from.value(), result.value()))
            scales.push_back(static_cast<float>(result.value() / from.value()));
        else if (!factor || (!known && may_be_by_sizes(how, dims, *factor))) return std::nullopt;
        else scales.push_back(*factor);
    }
    return scales;
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
    std::vector<std::string> inputs{input(to, node), ""};
    if (numbers(node, "scales").empty()) {
        inputs.insert(inputs.end(), {"", to.sizes(node.outputs[0].shape)});
    } else {
        const auto scales = scales_of(node, how);
        if (!scales) return "no factor in f32 has its sizes and positions";
        inputs.push_back(to.numbers(*scales));
    }
    return done(to, node,
                to.node("Resize", inputs,
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

constexpr std::size_t any = std::numeric_limits<std::size_t>::max();

constexpr ExportRow rows[] = {
    {"amax", amax},
    {"amin", amin},
    {"arange", arange, 0, 0},
    {"argmax", argmax},
    {"cat", cat, 1, any},
    {"contiguous", contiguous},
    {"convolution", convolution, 2, 3},
    {"convolution_input", convolution_input, 2, 2},
    {"cumsum", cumsum},
    {"embedding", embedding, 2, 2},
    {"expand", expand},
    {"flip", flip},
    {"full", full, 0, 0},
    {"layer_norm", layer_norm, 3, 3},
    {"log_softmax", softmax<true>},
    {"matmul", matmul, 2, 3},
    {"matmul_heads", matmul_heads, 2, 2},
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
