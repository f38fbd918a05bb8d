// A deep convolutional GAN: a generator learns to draw images of one bright column among dark ones.
#include <cstdio>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;

constexpr int side = 8, noise = 8;

// Returns all images with one bright column, [side, 1, side, side] in {-1, 1}.
rp::Tensor all_columns()
{
    rp::Tensor which = rp::one_hot(rp::arange(side), side).to(rp::f32); // [image, column]
    return (which * 2 - 1).reshape({side, 1, 1, side}).expand({side, 1, side, side}).contiguous();
}

int main()
{
    rp::manual_seed(3);
    nn::Sequential generator{
        nn::make<nn::ConvTranspose2d>(noise, 32, nn::ConvTranspose2d::Options{.kernel_size = 2}),
        nn::make<nn::BatchNorm2d>(32),
        nn::make<nn::ReLU>(),
        nn::make<nn::ConvTranspose2d>(
            32, 16, nn::ConvTranspose2d::Options{.kernel_size = 4, .stride = 2, .padding = 1}),
        nn::make<nn::BatchNorm2d>(16),
        nn::make<nn::ReLU>(),
        nn::make<nn::ConvTranspose2d>(
            16, 1, nn::ConvTranspose2d::Options{.kernel_size = 4, .stride = 2, .padding = 1}),
        nn::make<nn::Tanh>()};
    nn::Sequential critic{
        nn::make<nn::Conv2d>(1, 16, nn::Conv2d::Options{.kernel_size = 4, .stride = 2, .padding = 1}),
        nn::make<nn::LeakyReLU>(0.2),
        nn::make<nn::Conv2d>(16, 32, nn::Conv2d::Options{.kernel_size = 4, .stride = 2, .padding = 1}),
        nn::make<nn::LeakyReLU>(0.2),
        nn::make<nn::Flatten>(),
        nn::make<nn::Linear>(128, 1)};
    rp::optim::Adam::Options options{.lr = 2e-3, .betas = {0.5, 0.999}};
    rp::optim::Adam generator_optimizer(generator.parameters(), options);
    rp::optim::Adam critic_optimizer(critic.parameters(), options);
    const auto loss_of = [](const rp::Tensor& logits, double label) {
        return rp::bce_with_logits_loss(logits, rp::full_like(logits, label));
    };

    rp::Dim batch = rp::symbol("batch");
    auto step = rp::record(
        [&](rp::Tensor real, rp::Tensor z) {
            rp::Tensor fake = generator(z);
            critic_optimizer.zero_grad();
            rp::Tensor critic_loss = loss_of(critic(real), 0.9) + loss_of(critic(fake.detach()), 0);
            critic_loss.backward();
            critic_optimizer.step();

            generator_optimizer.zero_grad();
            rp::Tensor generator_loss = loss_of(critic(fake), 1);
            generator_loss.backward();
            generator_optimizer.step();
            // The distance of each image from the nearest real one: 0 is a perfect image.
            rp::Tensor differences =
                fake.detach() - all_columns().unsqueeze(1); // [side, batch, 1, side, side]
            rp::Tensor distance = rp::amin(rp::mean(differences * differences, {2, 3, 4}), {0}).mean();
            return std::array{critic_loss, generator_loss, distance};
        },
        {rp::spec({batch, 1, side, side}), rp::spec({batch, noise, 1, 1})});

    const rp::Tensor images = all_columns();
    const float bound = 0.25f;
    float distance = 0;
    for (int i = 1; i <= 240; ++i) {
        rp::Tensor real = rp::index_select(images, 0, rp::randint(side, {32}));
        auto [critic_loss, generator_loss, now] = step(real, rp::randn({32, noise, 1, 1}));
        if (i % 60) continue;
        distance = now.item<float>();
        std::printf("step %d: critic %.3f, generator %.3f, distance from the real images %.3f\n", i,
                    critic_loss.item<float>(), generator_loss.item<float>(), distance);
    }
    if (!(distance < bound)) {
        std::printf("The distance is not below %.2f: it has not learnt.\n", bound);
        return 1;
    }
}
