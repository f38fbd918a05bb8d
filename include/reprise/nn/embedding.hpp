// Embeddings: rows of a weight by index, and their sums, means and maxima by bags.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include <reprise/choice.hpp>
#include <reprise/nn/module.hpp>
#include <reprise/quantized.hpp>

namespace reprise::nn {

// Options of Embedding.
struct EmbeddingSettings {
    // Index of a row that is 0 at first and gets no gradient; negative: counts from the end.
    std::optional<std::int64_t> padding_idx = std::nullopt;
};
// Options of Embedding::from_pretrained().
struct EmbeddingFromPretrainedSettings {
    bool freeze = true;                                     // whether the weight is not trained
    std::optional<std::int64_t> padding_idx = std::nullopt; // index of a row that gets no gradient
};
// Looks up the rows of the weight at the indices (i32 or i64): [...] -> [..., embedding_dim].  An index out
// of range returns a row of NaN and gets no gradient, or throws Error(argument) if set_check_indices() is on;
// other dtypes throw Error(dtype).
class Embedding : public Module {
public:
    REPRISE_LAYER(Embedding)
    using Options = EmbeddingSettings; // for make()
    using Module::Module;
    // The weight is initialised from the standard normal distribution.  Throws Error(argument) for sizes
    // below 1 and a padding_idx out of range.
    Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingSettings& = {});
    // Returns an Embedding with this weight, [num_embeddings, embedding_dim].  Throws Error(shape) for
    // another number of dimensions, and Error(argument) as the constructor.
    static Embedding from_pretrained(const Tensor& embeddings, const EmbeddingFromPretrainedSettings& = {});
    // The same with `freeze` alone.
    static Embedding from_pretrained(const Tensor& embeddings, bool freeze)
    {
        return from_pretrained(embeddings, EmbeddingFromPretrainedSettings{.freeze = freeze});
    }
    Tensor forward(Tensor indices) override;
    std::string extra_repr() const override;                          // the options for printing
    Options options() const { return {.padding_idx = padding_idx_}; } // as given to the constructor

    // Freezes the weight in few bits, as quantize() of Linear does; rows are f32 then.  Throws Error(shape) where
    // embedding_dim is no multiple of block_size(), and Error(state) where the layer is quantised already or a
    // program is recorded.
    void quantize(QuantizedFormat);
    // The same with a given matrix [num_embeddings, embedding_dim]; `shared` as in Linear::quantize().  Throws
    // Error(shape) where the matrix has another shape.
    void quantize(const QuantizedTensor&, bool shared = false);

    Variable weight;                  // [num_embeddings, embedding_dim]; undefined once it is quantised
    QuantizedTensor quantized_weight; // the same; undefined unless quantize() was called

private:
    Embedding(const Variable& rows, std::optional<std::int64_t> padding_idx);
    std::optional<std::int64_t> padding_idx_;
};

// The reduction of EmbeddingBag over the rows of a bag.
enum class EmbeddingBagMode { sum, mean, max };
// PyTorch's names of them, for Choice.
inline constexpr ChoiceNames<EmbeddingBagMode, 3> names_of_choices(EmbeddingBagMode)
{
    using enum EmbeddingBagMode;
    return {{{"sum", sum}, {"mean", mean}, {"max", max}}};
}
// Options of EmbeddingBag.
struct EmbeddingBagSettings {
    Choice<EmbeddingBagMode> mode = EmbeddingBagMode::mean; // the reduction over the rows of a bag
    bool include_last_offset = false; // the offsets have one more at their end, the number of indices
    // Index of a row that is 0 at first and is ignored in all bags; negative: counts from the end.
    std::optional<std::int64_t> padding_idx = std::nullopt;
};
// Computes the sum, mean or maximum of the rows of the weight at the indices (i32 or i64) of each bag.  Indices [B, L]
// are B bags: bag(indices) -> [B, embedding_dim].  Indices [L] with offsets [B], where bag b begins, the first one at 0
// and the others in order: bag(indices, offsets) -> [B, embedding_dim].  set_check_indices() turns on a check of that.
// The result of an empty bag is 0.  In mode sum, per_sample_weights of the indices' shape are factors of the rows.
// Throws Error(shape) and Error(argument) where these do not fit.
class EmbeddingBag : public ModuleOf<Tensor(Tensor, Tensor, Tensor)> {
public:
    REPRISE_LAYER(EmbeddingBag)
    using Options = EmbeddingBagSettings; // for make()
    using ModuleOf::ModuleOf;
    // The weight is initialised as that of Embedding.  Throws Error(argument) as Embedding.
    EmbeddingBag(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingBagSettings& = {});
    // Calls forward(indices, offsets, per_sample_weights) with the module's hooks; undefined: none.
    Tensor operator()(Tensor indices, Tensor offsets = {}, Tensor per_sample_weights = {},
                      Place where = Place(std::source_location::current()))
    {
        return ModuleOf::operator()(std::move(indices), std::move(offsets), std::move(per_sample_weights),
                                    where);
    }
    // For indices [B, L].
    Tensor forward(Tensor indices) override { return forward(std::move(indices), Tensor(), Tensor()); }
    // For indices [L] of bags that begin at the offsets.
    Tensor forward(Tensor indices, Tensor offsets) { return forward(indices, offsets, Tensor()); }
    // Returns the result for all arguments, without hooks.
    Tensor forward(Tensor indices, Tensor offsets, Tensor per_sample_weights) override;
    std::string extra_repr() const override; // the options for printing
    Variable weight;                         // [num_embeddings, embedding_dim]

private:
    EmbeddingBagSettings options_;
};

} // namespace reprise::nn
