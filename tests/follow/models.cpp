// The models of more kinds of training.
#include "follow/follow.hpp"

namespace reprise::follow {

namespace {

struct Residual : nn::Module {
    nn::Conv2d c1, c2;
    nn::BatchNorm2d n1, n2;
    std::shared_ptr<nn::Conv2d> shortcut; // where the size changes
    Residual(std::int64_t in, std::int64_t out, std::int64_t stride)
        : c1(in, out, {.kernel_size = 3, .stride = stride, .padding = 1, .bias = false}),
          c2(out, out, {.kernel_size = 3, .padding = 1, .bias = false}), n1(out), n2(out)
    {
        register_module("c1", c1);
        register_module("n1", n1);
        register_module("c2", c2);
        register_module("n2", n2);
        if (stride == 1) return;
        shortcut = nn::make<nn::Conv2d>(
            in, out, nn::Conv2d::Options{.kernel_size = 1, .stride = stride, .bias = false});
        register_module("short", *shortcut);
    }
    Tensor forward(Tensor x) override
    {
        const Tensor y = n2(c2(relu(n1(c1(x)))));
        return relu(y + (shortcut ? (*shortcut)(x) : x));
    }
};

} // namespace

ResNet8::ResNet8()
{
    blocks.push_back(nn::make<Residual>(8, 8, 1));
    blocks.push_back(nn::make<Residual>(8, 16, 2));
    blocks.push_back(nn::make<Residual>(16, 32, 2));
    register_module("stem", stem);
    register_module("norm", norm);
    register_module("blocks", blocks);
    register_module("head", head);
    set_weights(*this);
}

Tensor ResNet8::forward(Tensor x) { return head(mean(blocks(relu(norm(stem(x)))), {2, 3})); }

Bert::Bert()
    : net({.vocab_size = 17,
           .hidden_size = 32,
           .num_hidden_layers = 2,
           .num_attention_heads = 4,
           .intermediate_size = 96,
           .max_position_embeddings = 60,
           .hidden_dropout_prob = 0,
           .attention_probs_dropout_prob = 0,
           .labels = std::vector<std::string>(10)})
{
    register_module("net", net);
    set_weights(*this);
    for (auto& [name, p] : named_parameters())
        if (name.ends_with("LayerNorm.weight")) Variable(p).assign(p + 1);
}

Tensor Bert::forward(Tensor x)
{
    const Tensor tokens = cast(round(narrow(x, 2, 13, 2) * 15), i32).flatten(1) + 1;
    const Tensor lengths = tokens.narrow(1, 40, 1) * 2 + 18; // 20 to 50
    return net(tokens * cast(arange(56, i32) < lengths, i32));
}

Lstm::Lstm()
{
    register_module("input", input);
    register_module("state", state);
    register_module("head", head);
    set_weights(*this);
}

Tensor Lstm::forward(Tensor x)
{
    Tensor h = zeros({x.size(0), 16}), c = h;
    for (const Tensor& row : unbind(narrow(select(x, 1, 0), 1, 7, 14), 1)) {
        const std::vector<Tensor> gates = chunk(input(row) + state(h), 4, 1);
        c = sigmoid(gates[1]) * c + sigmoid(gates[0]) * tanh(gates[2]);
        h = sigmoid(gates[3]) * tanh(c);
    }
    return head(h);
}

VideoNet::VideoNet()
{
    register_module("c1", c1);
    register_module("n1", n1);
    register_module("c2", c2);
    register_module("c3", c3);
    register_module("head", head);
    set_weights(*this);
}

Tensor VideoNet::forward(Tensor x)
{
    std::vector<Tensor> frames;
    for (std::int64_t t = 0; t < 5; ++t) frames.push_back(narrow(narrow(x, 2, t, 20), 3, 2 * t, 20));
    x = silu(n1(c1(stack(frames, 2))));
    return head(mean(silu(c3(silu(c2(x)))), {2, 3, 4}));
}

std::vector<Spec> Diffusion::specs(const Dim& batch) const
{
    return {spec({batch, 4, size, size}), spec({batch, 4, size, size})};
}

// Latents and noise.
std::vector<Tensor> Diffusion::batch(const Fixture&, std::size_t step) const
{
    constexpr std::int64_t count = 4;
    std::vector<Tensor> out;
    for (const std::uint32_t stream : {100u, 150u})
        out.push_back(from_vector(numbers(stream + static_cast<std::uint32_t>(step),
                                          static_cast<std::size_t>(count * 4 * size * size)),
                                  {count, 4, size, size}));
    return out;
}

Denoiser::Denoiser(const std::vector<std::int64_t>& channels, std::int64_t size_of_latents)
    : Diffusion(size_of_latents)
{
    for (std::size_t i = 0; i + 1 < channels.size(); ++i)
        layers.push_back(nn::make<nn::Conv2d>(channels[i], channels[i + 1],
                                              nn::Conv2d::Options{.kernel_size = 3, .padding = 1}));
    register_module("layers", layers);
    set_weights(*this);
}

Tensor Denoiser::forward(Tensor x)
{
    for (std::size_t i = 0; i + 1 < layers.size(); ++i) x = silu(layers.at(i)(x));
    return layers.at(layers.size() - 1)(x);
}

Tensor Denoiser::loss(const std::vector<Tensor>& batch)
{
    return mse_loss((*this)(batch[0] * 0.75 + batch[1] * 0.5), batch[1]);
}

TimedDenoiser::TimedDenoiser() : Diffusion(16)
{
    register_module("time", time);
    register_module("a", a);
    register_module("b", b);
    set_weights(*this);
}

Tensor TimedDenoiser::forward(Tensor x) { return at(x, zeros({x.size(0)}, {.dtype = i32})); }

Tensor TimedDenoiser::at(const Tensor& x, const Tensor& t)
{
    return b(silu(a(x) + unsqueeze(unsqueeze(time(t), -1), -1)));
}

Tensor TimedDenoiser::loss(const std::vector<Tensor>& batch)
{
    const Tensor t = randint(50, {batch[0].size(0)});
    const Tensor share = reshape(cast(t, f32) / 50, {-1, 1, 1, 1});
    return mse_loss(at(batch[0] * (1 - share) + batch[1] * share, t), batch[1]);
}

} // namespace reprise::follow
