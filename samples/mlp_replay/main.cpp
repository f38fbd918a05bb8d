// A training step, recorded once and replayed at three batch sizes.
#include <cstdio>
#include <exception>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;

namespace {

void run()
{
    nn::Sequential net(nn::make<nn::Linear>(16, 64), nn::make<nn::ReLU>(), nn::make<nn::Linear>(64, 2));
    rp::optim::Adam optimizer(net.parameters(), {.lr = 1e-2});

    const rp::Dim batch = rp::symbol("batch");
    const rp::Program step = rp::record(
        [&](rp::Tensor x, rp::Tensor y) {
            rp::Tensor loss = rp::cross_entropy(net(x), y);
            optimizer.zero_grad();
            loss.backward();
            optimizer.step();
            return loss;
        },
        {rp::spec({batch, 16}), rp::spec({batch}, rp::i32)});

    for (const int size : {32, 100, 256}) {
        const rp::Tensor x = rp::randn({size, 16});
        const rp::Tensor y = rp::cast(rp::sum(x, {1}) > 0.0, rp::i32); // is the sum of a row positive?
        const float first = step(x, y).item<float>();
        const auto recordings = rp::stats().recordings;
        rp::Tensor loss;
        for (int i = 0; i < 50; ++i) loss = step(x, y);
        std::printf("batch %3d: loss %.4f, after 50 more steps %.4f; %llu recordings made for them\n", size,
                    first, loss.item<float>(),
                    static_cast<unsigned long long>(rp::stats().recordings - recordings));
    }
}

} // namespace

int main()
{
    try {
        run();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
