#include <reprise/error.hpp>
#include <reprise/nn/embedding.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/shapes.hpp>

#include "nn/checks.hpp"
#include "nn/repr.hpp"

namespace reprise::nn {

Embedding::Embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, const EmbeddingOptions& options)
    : padding_idx_(options.padding_idx)
{
    check_at_least("Embedding", "number of embeddings", num_embeddings, 1);
    check_at_least("Embedding", "embedding_dim", embedding_dim, 1);
    Tensor rows = randn({num_embeddings, embedding_dim});
    if (padding_idx_) {
        if (*padding_idx_ < -num_embeddings || *padding_idx_ >= num_embeddings)
            detail::fail(ErrorKind::argument, "Embedding", "The padding_idx (", *padding_idx_,
                         ") is none of the (", num_embeddings, ") rows.");
        const std::int64_t row = *padding_idx_ < 0 ? *padding_idx_ + num_embeddings : *padding_idx_;
        rows = masked_fill(rows, unsqueeze(arange(num_embeddings), 1) == static_cast<double>(row), 0);
    }
    weight = register_parameter("weight", Variable(rows));
}

std::string Embedding::extra_repr() const
{
    if (!weight.defined()) return {};
    Repr repr;
    repr.value(weight.size(0).value()).value(weight.size(1).value());
    if (padding_idx_) repr.option("padding_idx", *padding_idx_);
    return repr.text();
}

Tensor Embedding::forward(Tensor indices) { return embedding(indices, weight, padding_idx_); }

} // namespace reprise::nn
