// BERT (Devlin et al., 2018) for the classification of texts, with the parameter names of Hugging Face's
// BertForSequenceClassification, so that its files fit.
#pragma once
#include <reprise/reprise.hpp>

namespace bert {

namespace rp = reprise;
namespace nn = reprise::nn;

inline constexpr std::int32_t padding = 0; // the token after the end of a text, which no token attends to

struct Config { // names and defaults of Hugging Face's config.json
    std::int64_t vocab_size = 30522;
    std::int64_t hidden_size = 768;
    std::int64_t num_hidden_layers = 12;
    std::int64_t num_attention_heads = 12;
    std::int64_t intermediate_size = 3072;
    std::int64_t max_position_embeddings = 512;
    std::int64_t type_vocab_size = 2;
    double hidden_dropout_prob = 0.1;
    double attention_probs_dropout_prob = 0.1;
    double layer_norm_eps = 1e-12;
    std::vector<std::string> labels = {"LABEL_0", "LABEL_1"}; // the classes: id2label
};

struct Embeddings : nn::Module {
    nn::Embedding word_embeddings, position_embeddings, token_type_embeddings;
    nn::LayerNorm norm;
    nn::Dropout dropout;

    explicit Embeddings(const Config& c)
        : word_embeddings(c.vocab_size, c.hidden_size, {.padding_idx = padding}),
          position_embeddings(c.max_position_embeddings, c.hidden_size),
          token_type_embeddings(c.type_vocab_size, c.hidden_size),
          norm(c.hidden_size, {.eps = c.layer_norm_eps}), dropout(c.hidden_dropout_prob)
    {
        register_module("word_embeddings", word_embeddings);
        register_module("position_embeddings", position_embeddings);
        register_module("token_type_embeddings", token_type_embeddings);
        register_module("LayerNorm", norm);
        register_module("dropout", dropout);
    }

    rp::Tensor forward(rp::Tensor tokens) override // [batch, seq] -> [batch, seq, features]
    {
        const rp::Tensor types = rp::zeros({1}, {.dtype = rp::i32}); // all tokens are of one sentence
        return dropout(norm(word_embeddings(tokens) + token_type_embeddings(types) +
                            position_embeddings(rp::arange(tokens.size(1), rp::i32))));
    }
};

struct SelfAttention : nn::ModuleOf<rp::Tensor(rp::Tensor, rp::Tensor)> {
    nn::Linear query, key, value;
    std::int64_t heads, features;
    double dropout;

    explicit SelfAttention(const Config& c)
        : query(c.hidden_size, c.hidden_size), key(c.hidden_size, c.hidden_size),
          value(c.hidden_size, c.hidden_size), heads(c.num_attention_heads), features(c.hidden_size),
          dropout(c.attention_probs_dropout_prob)
    {
        register_module("query", query);
        register_module("key", key);
        register_module("value", value);
    }

    // x: [batch, seq, features]; seen: bool [batch, 1, 1, seq], the tokens that are attended to.
    rp::Tensor forward(rp::Tensor x, rp::Tensor seen) override
    {
        const rp::Dim batch = x.size(0), seq = x.size(1);
        const auto split = [&](const rp::Tensor& y) { // [batch, heads, seq, features of a head]
            return y.view({batch, seq, heads, features / heads}).transpose(1, 2);
        };
        const rp::Tensor y =
            rp::scaled_dot_product_attention(split(query(x)), split(key(x)), split(value(x)),
                                             {.attn_mask = seen, .dropout_p = is_training() ? dropout : 0});
        return y.transpose(1, 2).reshape({batch, seq, features});
    }
};

// A linear layer of y, whose result is added to x, the input of the block, and a norm.
struct Output : nn::ModuleOf<rp::Tensor(rp::Tensor, rp::Tensor)> {
    nn::Linear dense;
    nn::LayerNorm norm;
    nn::Dropout dropout;

    Output(const Config& c, std::int64_t in)
        : dense(in, c.hidden_size), norm(c.hidden_size, {.eps = c.layer_norm_eps}),
          dropout(c.hidden_dropout_prob)
    {
        register_module("dense", dense);
        register_module("LayerNorm", norm);
        register_module("dropout", dropout);
    }
    rp::Tensor forward(rp::Tensor y, rp::Tensor x) override { return norm(dropout(dense(y)) + x); }
};

struct Attention : nn::ModuleOf<rp::Tensor(rp::Tensor, rp::Tensor)> {
    SelfAttention self;
    Output output;

    explicit Attention(const Config& c) : self(c), output(c, c.hidden_size)
    {
        register_module("self", self);
        register_module("output", output);
    }
    rp::Tensor forward(rp::Tensor x, rp::Tensor seen) override
    {
        return output.forward(self.forward(x, seen), x);
    }
};

// A linear layer and an activation.
template <auto activation> struct Dense : nn::Module {
    nn::Linear dense;

    Dense(std::int64_t in, std::int64_t out) : dense(in, out) { register_module("dense", dense); }
    rp::Tensor forward(rp::Tensor x) override { return activation(dense(x)); }
};
inline constexpr auto gelu = [](const rp::Tensor& x) { return rp::gelu(x); };
inline constexpr auto tanh = [](const rp::Tensor& x) { return rp::tanh(x); };

struct Layer : nn::ModuleOf<rp::Tensor(rp::Tensor, rp::Tensor)> {
    Attention attention;
    Dense<gelu> intermediate;
    Output output;

    explicit Layer(const Config& c)
        : attention(c), intermediate(c.hidden_size, c.intermediate_size), output(c, c.intermediate_size)
    {
        register_module("attention", attention);
        register_module("intermediate", intermediate);
        register_module("output", output);
    }
    rp::Tensor forward(rp::Tensor x, rp::Tensor seen) override
    {
        const rp::Tensor y = attention.forward(x, seen);
        return output.forward(intermediate(y), y);
    }
};

struct Encoder : nn::ModuleOf<rp::Tensor(rp::Tensor, rp::Tensor)> {
    nn::ModuleList layer;

    explicit Encoder(const Config& c)
    {
        for (std::int64_t i = 0; i < c.num_hidden_layers; ++i) layer.push_back(nn::make<Layer>(c));
        register_module("layer", layer);
    }
    rp::Tensor forward(rp::Tensor x, rp::Tensor seen) override
    {
        for (std::size_t i = 0; i < layer.size(); ++i)
            x = layer.at<Layer>(static_cast<std::int64_t>(i)).forward(x, seen);
        return x;
    }
};

struct Bert : nn::Module {
    Embeddings embeddings;
    Encoder encoder;
    Dense<tanh> pooler;

    explicit Bert(const Config& c) : embeddings(c), encoder(c), pooler(c.hidden_size, c.hidden_size)
    {
        register_module("embeddings", embeddings);
        register_module("encoder", encoder);
        register_module("pooler", pooler);
    }
    rp::Tensor forward(
        rp::Tensor tokens) override // i32 [batch, seq] -> [batch, features], of the first token
    {
        const rp::Tensor seen = rp::unsqueeze(tokens != padding, 1).unsqueeze(1);
        const rp::Tensor x = encoder.forward(embeddings(tokens), seen);
        return pooler(x.select(1, 0));
    }
};

struct Classifier : nn::Module {
    Bert bert;
    nn::Dropout dropout;
    nn::Linear classifier;

    explicit Classifier(const Config& c)
        : bert(c), dropout(c.hidden_dropout_prob),
          classifier(c.hidden_size, static_cast<std::int64_t>(c.labels.size()))
    {
        register_module("bert", bert);
        register_module("dropout", dropout);
        register_module("classifier", classifier);
        initialise();
    }
    rp::Tensor forward(rp::Tensor tokens) override // i32 [batch, seq] -> logits [batch, labels]
    {
        return classifier(dropout(bert(tokens)));
    }

private:
    void initialise() // as in the paper: weights from the normal distribution, biases 0
    {
        const rp::no_grad guard;
        for (auto& [name, p] : named_parameters()) {
            if (name.find("LayerNorm") != std::string::npos) continue;
            if (p.dim() > 1) nn::init::normal_(p, 0, 0.02);
            else nn::init::zeros_(p);
        }
    }
};

} // namespace bert
