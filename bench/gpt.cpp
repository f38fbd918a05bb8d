// GPT-mini: a training step at one size, and at sequence lengths that change from step to step.
#include <chrono>
#include <cmath>
#include <memory>

#include "workload.hpp"

namespace bench {

namespace rp = reprise;
namespace nn = reprise::nn;
using rp::Dim;
using rp::Tensor;

namespace {

constexpr std::int64_t classes = 96, longest = 128, features = 128, heads = 4, layers = 4, batch = 16;

struct Block : nn::Module {
    nn::LayerNorm ln1{features}, ln2{features};
    nn::Linear qkv{features, 3 * features}, proj{features, features};
    nn::Linear up{features, 4 * features}, down{4 * features, features};
    Block()
    {
        register_module("ln1", ln1);
        register_module("qkv", qkv);
        register_module("proj", proj);
        register_module("ln2", ln2);
        register_module("up", up);
        register_module("down", down);
    }
    Tensor forward(Tensor x) override
    {
        const Dim rows = x.size(0), length = x.size(1);
        const std::vector<Tensor> in =
            rp::unbind(qkv(ln1(x)).view({rows, length, 3, heads, features / heads}).permute({2, 0, 3, 1, 4}));
        const Tensor a = rp::scaled_dot_product_attention(in[0], in[1], in[2], {.is_causal = true});
        x = x + proj(a.transpose(1, 2).reshape({rows, length, features}));
        return x + down(rp::gelu(up(ln2(x)), rp::GeluApproximation::tanh));
    }
};

struct Gpt : nn::Module {
    nn::Embedding tok{classes, features}, pos{longest, features};
    nn::Sequential blocks;
    nn::LayerNorm lnf{features};
    nn::Linear head{features, classes, {.bias = false}};
    Gpt()
    {
        for (std::int64_t i = 0; i < layers; ++i) blocks.push_back(nn::make<Block>());
        register_module("tok", tok);
        register_module("pos", pos);
        register_module("blocks", blocks);
        register_module("lnf", lnf);
        register_module("head", head);
    }
    Tensor forward(Tensor i) override
    {
        return head(lnf(blocks(tok(i) + pos.weight.narrow(0, 0, i.size(1)))));
    }
};

Tensor tokens(std::int64_t length, std::int64_t seed)
{
    std::vector<std::int32_t> v(static_cast<std::size_t>(batch * length));
    for (std::size_t i = 0; i < v.size(); ++i) // looks random, is the same everywhere
        v[i] = static_cast<std::int32_t>((i + 1) * 2654435761u % 4294967291u /
                                         (7u + static_cast<unsigned>(seed)) % classes);
    return rp::from_vector(v, {batch, length});
}

struct Training {
    Gpt net;
    rp::optim::AdamW optimizer{net.parameters(), {.lr = 3e-4}};
    rp::Program step{};
    Tensor run(const std::vector<Tensor>& in)
    {
        const Tensor loss = rp::cross_entropy(net(in[0]).reshape({-1, classes}), in[1].reshape({-1}));
        optimizer.zero_grad();
        loss.backward();
        optimizer.step();
        return loss;
    }
};

std::vector<rp::Spec> specs(const Dim& length)
{
    const rp::Shape sizes{batch, length};
    return {rp::spec(sizes, rp::i32), rp::spec(sizes, rp::i32)};
}

std::shared_ptr<Training> recorded(const Dim& length)
{
    auto training = std::make_shared<Training>();
    training->step = rp::record_function(
        [&t = *training](const std::vector<Tensor>& in) { return std::vector<Tensor>{t.run(in)}; },
        specs(length), recording);
    return training;
}

Cycle lengths_in_turn()
{
    using Clock = std::chrono::steady_clock;
    Cycle cycle;
    for (int i = 0; i < 8; ++i) cycle.lengths.push_back(std::lround(96 + i * 32 / 7.0));
    const Clock::time_point start = Clock::now();
    auto training = recorded(rp::symbol("seq"));
    cycle.record_seconds = std::chrono::duration<double>(Clock::now() - start).count();
    for (const std::int64_t length : cycle.lengths)
        cycle.steps.push_back([training, x = tokens(length, 0), y = tokens(length, 1)] {
            training->step.call({x, y});
        });
    return cycle;
}

} // namespace

std::vector<Workload> gpt_workloads()
{
    return {{.name = "train_gptmini_b16_adamw",
             .flops = 11.4e9,
             .make =
                 [] {
                     auto training = recorded(longest);
                     return Run{training->step, {tokens(longest, 0), tokens(longest, 1)}, training};
                 }},
            {.name = "varshape_gptmini", .cycle = lengths_in_turn}};
}

OpenStep open_gpt_step()
{
    return {"gptmini",
            [] {
                auto training = std::make_shared<Training>();
                return [training](const std::vector<Tensor>& in) {
                    return std::vector<Tensor>{training->run(in)};
                };
            },
            specs, longest - 20, longest};
}

} // namespace bench
