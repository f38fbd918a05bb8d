// The network: a decoder of many thin blocks.
#pragma once
#include <reprise/reprise.hpp>

namespace deep_gpt {

namespace rp = reprise;
namespace nn = reprise::nn;

struct Sizes {
    std::int64_t symbols = 0; // of the alphabet
    std::int64_t length = 0;  // of a sequence
    std::int64_t layers = 24;
    std::int64_t features = 64;
    std::int64_t heads() const { return features / 32; }
};

struct Block : nn::Module {
    std::int64_t features, heads;
    nn::LayerNorm ln1, ln2;
    nn::Linear qkv, proj, up, down;

    explicit Block(const Sizes& s)
        : features(s.features), heads(s.heads()), ln1(features), ln2(features), qkv(features, 3 * features),
          proj(features, features), up(features, 4 * features), down(4 * features, features)
    {
        register_module("ln1", ln1);
        register_module("qkv", qkv);
        register_module("proj", proj);
        register_module("ln2", ln2);
        register_module("up", up);
        register_module("down", down);
    }

    rp::Tensor forward(rp::Tensor x) override // [batch, length, features]
    {
        const rp::Dim batch = x.size(0), length = x.size(1);
        const auto in = rp::unbind(
            qkv(ln1(x)).view({batch, length, 3, heads, features / heads}).permute({2, 0, 3, 1, 4}));
        const rp::Tensor a = rp::scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true});
        x = x + proj(a.transpose(1, 2).reshape({batch, length, features}));
        return x + down(rp::gelu(up(ln2(x)), rp::GeluApproximation::tanh));
    }
};

struct Gpt : nn::Module {
    nn::Embedding tok, pos;
    nn::Sequential blocks;
    nn::LayerNorm lnf;
    nn::Linear head;

    explicit Gpt(const Sizes& s)
        : tok(s.symbols, s.features), pos(s.length, s.features), lnf(s.features),
          head(s.features, s.symbols, {.bias = false})
    {
        for (std::int64_t i = 0; i < s.layers; ++i) blocks.push_back(nn::make<Block>(s));
        register_module("tok", tok);
        register_module("pos", pos);
        register_module("blocks", blocks);
        register_module("lnf", lnf);
        register_module("head", head);
    }

    rp::Tensor forward(rp::Tensor x) override // [batch, length] -> logits [batch, length, symbols]
    {
        return head(lnf(blocks(tok(x) + pos.weight.narrow(0, 0, x.size(1)))));
    }
};

} // namespace deep_gpt
