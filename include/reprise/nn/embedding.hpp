// Rows by index.
#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

struct EmbeddingOptions {
    std::optional<std::int64_t> padding_idx = std::nullopt; // of a row of zeros that is not trained
};
// indices (i32) [...] -> [..., embedding_dim].  Weight [num_embeddings, embedding_dim] from N(0, 1).
class Embedding : public Module {
public:
    using Options = EmbeddingOptions;
    using Module::Module;
    Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& = {});
    Tensor forward(Tensor indices) override;
    std::string extra_repr() const override;
    Variable weight;

private:
    std::optional<std::int64_t> padding_idx_;
};

} // namespace reprise::nn
