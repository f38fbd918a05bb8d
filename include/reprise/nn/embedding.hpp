// Embedding: rows of a weight by index.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

// Options of Embedding.
struct EmbeddingOptions {
    // Index of a row that is 0 at first and gets no gradient; negative: counts from the end.
    std::optional<std::int64_t> padding_idx = std::nullopt;
};
// The rows of the weight that the indices (i32 or i64) name: [...] -> [..., embedding_dim].  An index out of
// range gives a row of NaN and no gradient, or throws Error(argument) where set_check_indices() is on; other
// dtypes throw Error(dtype).
class Embedding : public Module {
public:
    using Options = EmbeddingOptions; // for make()
    using Module::Module;
    // The weight is initialised from the standard normal distribution.  Throws Error(argument) for sizes
    // below 1 and a padding_idx out of range.
    Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& = {});
    Tensor forward(Tensor indices) override;
    std::string extra_repr() const override;
    Variable weight; // [num_embeddings, embedding_dim]

private:
    std::optional<std::int64_t> padding_idx_;
};

} // namespace reprise::nn
