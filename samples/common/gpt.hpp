// A small decoder-only transformer over symbols, in the architecture of GPT-2.
#pragma once
#include <reprise/reprise.hpp>

namespace gpt {

namespace rp = reprise;
namespace nn = reprise::nn;

struct Sizes {
    std::int64_t symbols = 0; // size of the vocabulary
    std::int64_t longest = 0; // length of the longest sequence
    std::int64_t features = 128;
    std::int64_t layers = 4;
    double dropout = 0;
    std::int64_t heads() const { return features / 32; }
};

struct Block : nn::Module {
    std::int64_t features, heads;
    nn::LayerNorm ln1, ln2;
    nn::Linear qkv, proj, up, down;
    nn::Dropout drop;

    explicit Block(const Sizes& s)
        : features(s.features), heads(s.heads()), ln1(features), ln2(features), qkv(features, 3 * features),
          proj(features, features), up(features, 4 * features), down(4 * features, features), drop(s.dropout)
    {
        register_module("ln1", ln1);
        register_module("qkv", qkv);
        register_module("proj", proj);
        register_module("ln2", ln2);
        register_module("up", up);
        register_module("down", down);
        register_module("drop", drop);
    }

    rp::Tensor forward(rp::Tensor x) override // [batch, seq, features]
    {
        const rp::Dim batch = x.size(0), seq = x.size(1);
        const auto in =
            rp::unbind(qkv(ln1(x)).view({batch, seq, 3, heads, features / heads}).permute({2, 0, 3, 1, 4}));
        const rp::Tensor a = rp::scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true});
        x = x + drop(proj(a.transpose(1, 2).reshape({batch, seq, features})));
        return x + drop(down(rp::gelu(up(ln2(x)), rp::GeluApproximation::tanh)));
    }
};

struct Gpt : nn::Module {
    nn::Embedding tok, pos;
    nn::Sequential blocks;
    nn::LayerNorm lnf;
    nn::Linear head;

    explicit Gpt(const Sizes& s)
        : tok(s.symbols, s.features), pos(s.longest, s.features), lnf(s.features),
          head(s.features, s.symbols, {.bias = false})
    {
        for (std::int64_t i = 0; i < s.layers; ++i) blocks.push_back(nn::make<Block>(s));
        register_module("tok", tok);
        register_module("pos", pos);
        register_module("blocks", blocks);
        register_module("lnf", lnf);
        register_module("head", head);
    }

    rp::Tensor forward(rp::Tensor x) override // [batch, seq] -> logits [batch, seq, symbols]
    {
        return head(lnf(blocks(tok(x) + pos.weight.narrow(0, 0, x.size(1)))));
    }
};

} // namespace gpt
