// Sorting, and results whose size depends on values.
#include "onnx/call.hpp"

namespace reprise::onnx {

namespace {

Values top_k(Call& call)
{
    const Tensor x = call[0];
    const std::int64_t axis = call.axis("axis", -1, x.dim());
    const Dim k = call.has(1) ? call.sizes(1).at(0) : Dim(call.integer("k"));
    auto [values, indices] = topk(x, k, axis, call.flag("largest", true));
    return {Value(values), Value(indices.to(i64))};
}

Value non_zero(Call& call)
{
    const Tensor x = call[0];
    if (x.dim() == 0) return transpose(nonzero(unsqueeze(x, 0)), 0, 1).to(i64);
    return transpose(nonzero(x), 0, 1).to(i64);
}

Value compress(Call& call)
{
    Tensor x = call[0];
    std::int64_t axis = 0;
    if (call.has_attribute("axis")) axis = call.axis("axis", 0, x.dim());
    else x = reshape(x, Shape{-1});
    if (const Integers* known = call.value(1).integers(); known && known->constant()) {
        std::vector<std::int64_t> picked;
        for (std::size_t i = 0; i < known->values.size(); ++i)
            if (known->values[i].value()) picked.push_back(static_cast<std::int64_t>(i));
        return index_select(x, axis, from_vector(picked, Shape{picked.size()}, {.device = call.device}));
    }
    return index_select(x, axis, reshape(nonzero(call[1]), Shape{-1}));
}

// The first position of each distinct value; positions [n] and their values' numbers [n] -> [count].
Tensor first_positions(const Tensor& inverse, const Dim& count)
{
    const Tensor positions = arange(inverse.size(0), {.dtype = i32, .device = inverse.device()});
    const Tensor beyond = full(Shape{count}, static_cast<double>(inverse.size(0).value()),
                               {.dtype = i32, .device = inverse.device()});
    return scatter_reduce(beyond, 0, inverse, positions, "amin");
}

Values unique_of(Call& call)
{
    const Tensor x = call[0];
    const bool flat = !call.has_attribute("axis");
    const std::int64_t axis = flat ? 0 : call.axis("axis", 0, x.dim());
    const Tensor source = flat ? reshape(x, Shape{-1}) : x;
    auto [values, inverse, counts] =
        flat ? unique(source, true, true, true) : unique_dim(source, axis, true, true, true);
    Tensor first = first_positions(inverse, values.size(axis));
    if (!call.flag("sorted", true)) {
        const Tensor order = argsort(first, 0), rank = argsort(order, 0);
        values = index_select(values, axis, order);
        counts = index_select(counts, 0, order);
        first = index_select(first, 0, order);
        inverse = index_select(rank, 0, inverse);
    }
    return {Value(values), Value(first.to(i64)), Value(inverse.to(i64)), Value(counts.to(i64))};
}

// Elements along the last dimension by their indices (ai.onnx.ml).
Value array_feature_extractor(Call& call)
{
    const Tensor x = call[0];
    return index_select(x.dim() == 1 ? unsqueeze(x, 0) : x, -1, reshape(call[1], Shape{-1}));
}

// 1 above the threshold, else 0 (ai.onnx.ml).
Value binarizer(Call& call)
{
    const Tensor x = call[0];
    return gt(x, call.real("threshold", 0)).to(x.dtype());
}

const Operator rows[] = {
    {"ArrayFeatureExtractor", array_feature_extractor, {.domain = "ai.onnx.ml"}},
    {"Binarizer", binarizer, {.domain = "ai.onnx.ml"}},
    {"Compress",
     compress,
     {.typed = Typed::as_input, .limits = "the condition must be constant in a recorded model"}},
    {"NonZero", non_zero, {.limits = "can't be recorded"}},
    {"TopK", top_k, {.typed = Typed::first, .limits = "values are always sorted"}},
    {"Unique", unique_of, {.typed = Typed::first, .limits = "can't be recorded"}},
};

} // namespace

Operators selection_operators() { return rows; }

} // namespace reprise::onnx
