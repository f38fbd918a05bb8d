// A small vision transformer (ViT): classifies noisy images of rows, columns and squares.
#include <cstdio>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;

constexpr int side = 8, patch = 2, tokens = (side / patch) * (side / patch), features = 32, classes = 3;

// Returns images [n, 1, side, side] and their classes [n]: stripes along rows or columns, or both, at random phases.
std::pair<rp::Tensor, rp::Tensor> images(int n)
{
    rp::Tensor kind = rp::randint(classes, {n});
    rp::Tensor angle = rp::arange(side).to(rp::f32) * 1.5707963;
    rp::Tensor waves = rp::sin(angle + rp::rand({n, 1}) * 6.2831853);   // [n, side]
    rp::Tensor rows = waves.unsqueeze(2), columns = waves.unsqueeze(1); // [n, side, 1], [n, 1, side]
    rp::Tensor which = kind.reshape({n, 1, 1});
    rp::Tensor image =
        rp::where(which == 0.0, rows.expand({n, side, side}),
                  rp::where(which == 1.0, columns.expand({n, side, side}), rows * columns * 1.4));
    return {(image + rp::randn({n, side, side}) * 0.5).unsqueeze(1), kind};
}

struct Vit : nn::Module {
    nn::Conv2d patches{1, features, {.kernel_size = patch, .stride = patch}};
    rp::Variable positions{rp::randn({1, tokens + 1, features}) * 0.02};
    rp::Variable class_token{rp::zeros({1, 1, features})};
    nn::TransformerEncoderLayer first{
        features, 4, {.dim_feedforward = 64, .dropout = 0, .batch_first = true}};
    nn::TransformerEncoderLayer second{
        features, 4, {.dim_feedforward = 64, .dropout = 0, .batch_first = true}};
    nn::LayerNorm norm{features};
    nn::Linear head{features, classes};
    Vit()
    {
        register_module("patches", patches);
        register_parameter("positions", positions);
        register_parameter("class_token", class_token);
        register_module("first", first);
        register_module("second", second);
        register_module("norm", norm);
        register_module("head", head);
    }
    rp::Tensor forward(rp::Tensor x) override // [n, 1, side, side] to logits [n, classes]
    {
        rp::Tensor t = patches(x).flatten(2).transpose(1, 2); // [n, tokens, features]
        t = rp::cat({class_token.expand({x.size(0), 1, features}), t}, 1) + positions;
        t = norm(second(first(t)));
        return head(t.narrow(1, 0, 1).squeeze(1)); // of the class token
    }
};

int main()
{
    Vit net;
    rp::optim::AdamW optimizer(net.parameters(), {.lr = 3e-3});
    rp::Dim batch = rp::symbol("batch");
    auto step = rp::record(
        [&](rp::Tensor x, rp::Tensor y) {
            rp::Tensor logits = net(x);
            rp::Tensor loss = rp::cross_entropy(logits, y);
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            return std::pair(loss, (rp::argmax(logits, 1) == y).to(rp::f32).mean());
        },
        {rp::spec({batch, 1, side, side}), rp::spec({batch}, rp::i32)});

    const float bound = 0.3f;
    float mean = 0;
    for (int i = 1; i <= 120; ++i) {
        auto [x, y] = images(32);
        auto [loss, right] = step(x, y);
        mean += loss.item<float>() / 30;
        if (i % 30) continue;
        std::printf("step %d: mean loss %.3f, %.0f %% right in the last batch\n", i, mean,
                    100 * right.item<float>());
        if (i < 120) mean = 0;
    }
    if (!(mean < bound)) {
        std::printf("The loss is not below %.2f: it has not learnt.\n", bound);
        return 1;
    }
}
