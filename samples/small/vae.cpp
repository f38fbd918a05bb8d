// A variational autoencoder (VAE): encodes images of one bright spot as two numbers and decodes them.
#include <cstdio>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;

constexpr int side = 8, pixels = side * side;

// Returns images [n, pixels] in [0, 1], each with a spot at a random position.
rp::Tensor spots(int n)
{
    rp::Tensor at = rp::rand({n, 2}) * 5 + 1;
    rp::Tensor axis = rp::arange(side).to(rp::f32);
    rp::Tensor rows = axis - at.narrow(1, 0, 1), columns = axis - at.narrow(1, 1, 1); // [n, side]
    rp::Tensor squares = (rows * rows).unsqueeze(2) + (columns * columns).unsqueeze(1);
    return rp::exp(squares * -0.5).reshape({n, pixels});
}

struct Vae : nn::Module {
    nn::Linear encoder{pixels, 64}, mean{64, 2}, log_variance{64, 2}, decoder{2, 64}, image{64, pixels};
    Vae()
    {
        register_module("encoder", encoder);
        register_module("mean", mean);
        register_module("log_variance", log_variance);
        register_module("decoder", decoder);
        register_module("image", image);
    }
    // Returns the negative evidence lower bound (ELBO), in nats per image.
    rp::Tensor loss(const rp::Tensor& x)
    {
        rp::Tensor h = rp::relu(encoder(x));
        rp::Tensor mu = mean(h), log_var = log_variance(h);
        rp::Tensor z = mu + rp::exp(log_var * 0.5) * rp::randn_like(mu); // the reparametrisation trick
        rp::Tensor logits = image(rp::relu(decoder(z)));
        rp::Tensor reconstruction = rp::bce_with_logits_loss(logits, x, rp::Reduction::none).sum({1});
        rp::Tensor divergence = (mu * mu + rp::exp(log_var) - log_var - 1).sum({1}) * 0.5;
        return (reconstruction + divergence).mean();
    }
};

int main()
{
    Vae vae;
    rp::optim::Adam optimizer(vae.parameters(), {.lr = 4e-3});
    rp::Dim batch = rp::symbol("batch");
    auto step = rp::record(
        [&](rp::Tensor x) {
            rp::Tensor loss = vae.loss(x);
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            return loss;
        },
        {rp::spec({batch, pixels})});

    const float bound = 16;
    float loss = 0;
    for (int i = 1; i <= 240; ++i) {
        rp::Tensor now = step(spots(i % 2 ? 64 : 48));
        if (i % 60 == 0) std::printf("step %d: loss %.2f nats an image\n", i, loss = now.item<float>());
    }
    if (!(loss < bound)) {
        std::printf("The loss is not below %.2f: it has not learnt.\n", bound);
        return 1;
    }
}
