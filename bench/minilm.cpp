// A training step of a small sentence encoder with the sizes of MiniLM-L6: 6 layers, 384 features, 12 heads, 30,522
// words.
#include <memory>

#include "workload.hpp"

namespace bench {

namespace rp = reprise;
namespace nn = reprise::nn;
using rp::Tensor;

namespace {

constexpr std::int64_t words = 30522, longest = 128, features = 384;

struct Encoder : nn::Module {
    nn::Embedding tok{words, features}, pos{longest, features};
    nn::LayerNorm norm{features};
    nn::Sequential layers;
    nn::Linear head{features, 2};

    Encoder()
    {
        for (int i = 0; i < 6; ++i)
            layers.push_back(nn::make<nn::TransformerEncoderLayer>(
                features, 12,
                nn::TransformerEncoderLayerSettings{.dim_feedforward = 4 * features,
                                                    .dropout = 0,
                                                    .activation = nn::TransformerActivation::gelu,
                                                    .batch_first = true}));
        register_module("tok", tok);
        register_module("pos", pos);
        register_module("norm", norm);
        register_module("layers", layers);
        register_module("head", head);
    }
    Tensor forward(Tensor x) override // [batch, length] -> logits [batch, 2] of the mean over the words
    {
        return head(rp::mean(layers(norm(tok(x) + pos.weight)), {1}));
    }
};

struct Training {
    Encoder net;
    std::shared_ptr<void> exchanges = data_parallel(net);
    rp::optim::AdamW optimizer{net.parameters(), {.lr = learning_rate(1e-4)}};
    rp::Program step{};
};

Tensor indices(const rp::Shape& shape, std::uint32_t below)
{
    std::int64_t count = 1;
    for (const rp::Dim& d : shape) count *= d.value();
    std::vector<std::int32_t> v(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < v.size(); ++i)
        v[i] = static_cast<std::int32_t>((static_cast<std::uint32_t>(i) + 1) * 2654435761u % 4294967291u %
                                         below);
    return rp::from_vector(v, shape);
}

} // namespace

std::vector<Workload> minilm_workloads()
{
    return {{.name = "train_minilm_b8_adamw", .flops = 65e9, .make = [] {
                 auto training = std::make_shared<Training>();
                 const std::int64_t batch = part_of(8);
                 const Tensor x = indices({batch, longest}, words), y = indices({batch}, 2);
                 training->step = rp::record_function(
                     [&t = *training](const std::vector<Tensor>& in) {
                         const Tensor loss = rp::cross_entropy(t.net(in[0]), in[1]);
                         t.optimizer.zero_grad();
                         loss.backward();
                         t.optimizer.step();
                         return std::vector{loss};
                     },
                     {rp::spec(x.shape(), rp::i32), rp::spec(y.shape(), rp::i32)}, recording);
                 return Run{training->step, {x, y}, training};
             }}};
}

} // namespace bench
