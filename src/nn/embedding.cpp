#include <algorithm>
#include <limits>
#include <vector>

#include <reprise/error.hpp>
#include <reprise/nn/embedding.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/sorting.hpp>
#include <reprise/program.hpp>

#include "nn/checks.hpp"
#include "nn/quantized_weight.hpp"
#include "nn/repr.hpp"

namespace reprise::nn {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

std::int64_t checked_row(const char* op, std::int64_t row, std::int64_t rows)
{
    if (row < -rows || row >= rows)
        detail::fail(ErrorKind::argument, op, "The padding_idx (", row, ") is none of the (", rows,
                     ") rows.");
    return row < 0 ? row + rows : row;
}

// Draws [count, size] from the standard normal distribution, with zeros in the row of padding_idx.
Variable initial_weight(const char* op, std::int64_t count, std::int64_t size,
                        std::optional<std::int64_t> padding)
{
    check_at_least(op, "number of embeddings", count, 1);
    check_at_least(op, "embedding_dim", size, 1);
    Tensor rows = randn({count, size});
    if (padding)
        rows = masked_fill(
            rows, unsqueeze(arange(count), 1) == static_cast<double>(checked_row(op, *padding, count)), 0);
    return Variable(rows);
}

} // namespace

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim,
                     const EmbeddingSettings& options)
    : padding_idx_(options.padding_idx)
{
    weight = register_parameter("weight",
                                initial_weight("Embedding", num_embeddings, embedding_dim, padding_idx_));
}

Embedding::Embedding(const Variable& rows, std::optional<std::int64_t> padding_idx)
    : padding_idx_(padding_idx)
{
    weight = register_parameter("weight", rows);
}

Embedding Embedding::from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedSettings& options)
{
    constexpr const char* op = "Embedding::from_pretrained";
    if (embeddings.dim() != 2)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(embeddings.shape()),
                     ") is not [num_embeddings, embedding_dim].");
    if (options.padding_idx) checked_row(op, *options.padding_idx, embeddings.size(0).value());
    return {Variable(embeddings, !options.freeze), options.padding_idx};
}

std::string Embedding::extra_repr() const
{
    if (!weight.defined() && !quantized_weight.defined()) return {};
    const Shape sizes = weight.defined() ? weight.shape() : quantized_weight.shape();
    Repr repr;
    repr.value(sizes[0].value()).value(sizes[1].value());
    if (padding_idx_) repr.option("padding_idx", *padding_idx_);
    if (quantized_weight.defined()) repr.option("format", name_of(quantized_weight.format()));
    return repr.text();
}

Tensor Embedding::forward(Tensor indices)
{
    return quantized_weight.defined() ? embedding(indices, quantized_weight)
                                      : embedding(indices, weight, padding_idx_);
}

void Embedding::quantize(QuantizedFormat format) { quantize(rounded(weight, format)); }

void Embedding::quantize(const QuantizedTensor& q, bool shared)
{
    const QuantizedTensor here = replacement(weight, quantized_weight, q, shared);
    quantized_weight = {replace_parameter("weight", name_of(q.format()), here.bytes()), q.format()};
    weight = Variable();
}

EmbeddingBag::EmbeddingBag(std::int64_t num_embeddings, std::int64_t embedding_dim,
                           const EmbeddingBagSettings& options)
    : options_(options)
{
    weight = register_parameter(
        "weight", initial_weight("EmbeddingBag", num_embeddings, embedding_dim, options.padding_idx));
    if (options_.padding_idx)
        options_.padding_idx = checked_row("EmbeddingBag", *options_.padding_idx, num_embeddings);
}

std::string EmbeddingBag::extra_repr() const
{
    if (!weight.defined()) return {};
    Repr repr;
    repr.value(weight.size(0).value()).value(weight.size(1).value());
    for (const auto& [name, mode] : names_of_choices(EmbeddingBagMode()))
        if (mode == options_.mode) repr.option("mode", name.data());
    if (options_.padding_idx) repr.option("padding_idx", *options_.padding_idx);
    return repr.text();
}

namespace {

// Checks dtype and shape of the offsets. With index checks on, also checks that the first is 0, as earlier rows would
// be in no bag, and that they are sorted, for searchsorted(). While recording, the former is left to index_add().
void check_offsets(const char* op, const Tensor& offsets)
{
    if (offsets.dtype() != i32 && offsets.dtype() != i64)
        detail::fail(ErrorKind::dtype, op, "The dtype of the offsets is (", name_of(offsets.dtype()),
                     "), it must be i32 or i64: cast with to(i32).");
    if (offsets.dim() != 1)
        detail::fail(ErrorKind::shape, op, "The offsets' shape (", to_string(offsets.shape()),
                     ") is not a vector's.");
    if (!checks_indices() || is_recording()) return;
    const std::vector<std::int64_t> all = cast(offsets, i64).to_vector<std::int64_t>();
    if (!all.empty() && all[0] != 0)
        detail::fail(ErrorKind::argument, op, "The first offset (", all[0],
                     ") must be 0: the first bag begins at the first index.");
    if (const auto low = std::is_sorted_until(all.begin(), all.end()); low != all.end())
        detail::fail(ErrorKind::argument, op, "The offset (", *low, ") at element (", low - all.begin(),
                     ") is below the one before (", low[-1], "): bags stand in the indices' order.");
}

} // namespace

// Adds up the rows of each bag, or takes their maximum. The bag of an index is the last one with an offset of at most
// the position of the index.
Tensor EmbeddingBag::forward(Tensor indices, Tensor offsets, Tensor per_sample_weights)
{
    constexpr const char* op = "EmbeddingBag";
    if (indices.dim() != (offsets.defined() ? 1 : 2))
        detail::fail(ErrorKind::shape, op, "The indices have the shape (", to_string(indices.shape()),
                     "): give [B, L], or [L] with offsets.");
    const bool weighed = per_sample_weights.defined();
    if (weighed && options_.mode != EmbeddingBagMode::sum)
        detail::fail(ErrorKind::argument, op, "per_sample_weights are for the mode (sum) only.");
    if (weighed && !same(per_sample_weights.shape(), indices.shape()))
        detail::fail(ErrorKind::shape, op, "The per_sample_weights have the shape (",
                     to_string(per_sample_weights.shape()), ") where (", to_string(indices.shape()),
                     ") is needed, that of the indices.");
    const CreationOptions integers{.dtype = i32, .device = indices.device()};
    Dim bags = indices.size(0);
    Tensor bag;
    if (offsets.defined()) {
        if (options_.include_last_offset) offsets = narrow(offsets, 0, 0, offsets.size(0) - 1);
        bags = offsets.size(0);
        check_offsets(op, offsets);
        const Tensor positions =
            arange(indices.size(0), {.dtype = offsets.dtype(), .device = indices.device()});
        bag = searchsorted(offsets, positions, true) - 1;
    } else {
        bag = reshape(expand(unsqueeze(arange(bags, integers), 1), indices.shape()), {-1});
    }
    const Tensor flat = reshape(indices, {-1});
    Tensor rows = embedding(flat, weight, options_.padding_idx);
    if (weighed) rows = rows * unsqueeze(reshape(per_sample_weights, {-1}), 1);
    const Tensor empty = zeros({bags, weight.size(1)}, {.dtype = weight.dtype(), .device = weight.device()});
    Tensor taken = ones({flat.size(0), 1}, {.dtype = weight.dtype(), .device = weight.device()});
    if (options_.padding_idx) {
        const Tensor padding = unsqueeze(flat == static_cast<double>(*options_.padding_idx), 1);
        rows = masked_fill(rows, padding, options_.mode == EmbeddingBagMode::max ? -infinity : 0);
        taken = masked_fill(taken, padding, 0);
    }
    if (options_.mode == EmbeddingBagMode::sum) return index_add(empty, 0, bag, rows);
    const Tensor counts = index_add(narrow(empty, 1, 0, 1), 0, bag, taken);
    if (options_.mode == EmbeddingBagMode::mean) return index_add(empty, 0, bag, rows) / clamp_min(counts, 1);
    return masked_fill(index_reduce(empty, 0, bag, rows, "amax", false), counts == 0, 0);
}

} // namespace reprise::nn
