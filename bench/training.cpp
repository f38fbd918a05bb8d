#include "workload.hpp"

namespace bench {

namespace rp = reprise;
namespace nn = reprise::nn;
using rp::Tensor;

namespace {

struct Mlp : nn::Module {
    nn::Linear a{784, 512}, b{512, 512}, c{512, 10};
    Mlp()
    {
        register_module("0", a);
        register_module("2", b);
        register_module("4", c);
    }
    Tensor forward(Tensor x) override { return c(rp::relu(b(rp::relu(a(x))))); }
};

struct Cnn : nn::Module {
    nn::Conv2d c1{1, 32, {.kernel_size = 3, .padding = 1}}, c2{32, 64, {.kernel_size = 3, .padding = 1}};
    nn::Linear f1{3136, 128}, f2{128, 10};
    Cnn()
    {
        register_module("c1", c1);
        register_module("c2", c2);
        register_module("f1", f1);
        register_module("f2", f2);
    }
    Tensor forward(Tensor x) override
    {
        x = rp::max_pool2d(rp::relu(c1(x)), 2);
        x = rp::max_pool2d(rp::relu(c2(x)), 2);
        return f2(rp::relu(f1(rp::flatten(x, 1))));
    }
};

struct Block : nn::Module { // of ResNet-8
    nn::Conv2d c1, c2;
    nn::BatchNorm2d b1, b2;
    std::shared_ptr<nn::Sequential> shortcut; // null: the identity
    Block(std::int64_t in, std::int64_t out, std::int64_t stride)
        : c1(in, out, {.kernel_size = 3, .stride = stride, .padding = 1, .bias = false}),
          c2(out, out, {.kernel_size = 3, .padding = 1, .bias = false}), b1(out), b2(out)
    {
        register_module("c1", c1);
        register_module("b1", b1);
        register_module("c2", c2);
        register_module("b2", b2);
        if (stride == 1 && in == out) return;
        shortcut = nn::make<nn::Sequential>(
            nn::make<nn::Conv2d>(in, out,
                                 nn::Conv2d::Options{.kernel_size = 1, .stride = stride, .bias = false}),
            nn::make<nn::BatchNorm2d>(out));
        register_module("sc", shortcut);
    }
    Tensor forward(Tensor x) override
    {
        const Tensor straight = shortcut ? (*shortcut)(x) : x;
        return rp::relu(b2(c2(rp::relu(b1(c1(x))))) + straight);
    }
};

struct ResNet8 : nn::Module {
    nn::Conv2d c{3, 16, {.kernel_size = 3, .padding = 1, .bias = false}};
    nn::BatchNorm2d b{16};
    Block l0{16, 16, 1}, l1{16, 32, 2}, l2{32, 64, 2};
    nn::Linear f{64, 10};
    ResNet8()
    {
        register_module("c", c);
        register_module("b", b);
        register_module("l0", l0);
        register_module("l1", l1);
        register_module("l2", l2);
        register_module("f", f);
    }
    Tensor forward(Tensor x) override { return f(rp::mean(l2(l1(l0(rp::relu(b(c(x)))))), {2, 3})); }
};

struct Denoise : nn::Module {
    nn::Conv2d a{4, 64, {.kernel_size = 3, .padding = 1}}, b{64, 128, {.kernel_size = 3, .padding = 1}};
    nn::Conv2d c{128, 64, {.kernel_size = 3, .padding = 1}}, d{64, 4, {.kernel_size = 3, .padding = 1}};
    Denoise()
    {
        register_module("0", a);
        register_module("2", b);
        register_module("4", c);
        register_module("6", d);
    }
    Tensor forward(Tensor x) override { return d(rp::relu(c(rp::relu(b(rp::relu(a(x))))))); }
};

// Returns a complete step (forward, backward, update) of a new network.
template <class Net, class Optimizer, class Options, class Loss>
rp::TracedFunction function(const Options& options, Loss loss)
{
    auto net = std::make_shared<Net>();
    const std::shared_ptr<void> exchanges = data_parallel(*net);
    auto optimizer = std::make_shared<Optimizer>(net->parameters(), options);
    return [net, exchanges, optimizer, loss](const std::vector<Tensor>& in) {
        const Tensor l = loss(*net, in);
        optimizer->zero_grad();
        l.backward();
        optimizer->step();
        return std::vector<Tensor>{l};
    };
}

// The same, recorded.
template <class Net, class Optimizer, class Options, class Loss>
Run step(const Options& options, Loss loss, std::vector<Tensor> data)
{
    const auto body = function<Net, Optimizer>(options, loss);
    const rp::Program p = rp::record_function(body, specs_of(data), recording);
    return {p, data, std::make_shared<rp::TracedFunction>(body)};
}

Tensor labels(long long n)
{
    std::vector<std::int32_t> v(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<std::int32_t>(i * 7 % 10);
    return rp::from_vector(v, {n});
}

Tensor classes(nn::Module& net, const std::vector<Tensor>& in)
{
    return rp::cross_entropy(net(in[0]), in[1]);
}

Tensor noise(nn::Module& net, const std::vector<Tensor>& in)
{
    const Tensor &x = in[0], &eps = in[1], &alpha = in[2];
    return rp::mse_loss(net(rp::sqrt(alpha) * x + rp::sqrt(1.0 - alpha) * eps), eps);
}

} // namespace

// The FLOPs are those that PyTorch's counter reports for these steps.
std::vector<Workload> training_workloads()
{
    return {
        {"train_mlp_b128_sgd", 0.413e9, 0,
         [] {
             return step<Mlp, rp::optim::SGD>(rp::optim::SGD::Options{.lr = learning_rate(0.1)}, classes,
                                              {normal({part_of(128), 784}), labels(part_of(128))});
         }},
        {"train_cnn_b128_adam", 3.199e9, 0,
         [] {
             return step<Cnn, rp::optim::Adam>(rp::optim::Adam::Options{.lr = learning_rate(1e-3)}, classes,
                                               {normal({part_of(128), 1, 28, 28}), labels(part_of(128))});
         }},
        {"train_resnet8_b64_sgdm", 0, 0,
         [] {
             return step<ResNet8, rp::optim::SGD>(
                 rp::optim::SGD::Options{.lr = learning_rate(0.1), .momentum = 0.9}, classes,
                 {normal({part_of(64), 3, 32, 32}), labels(part_of(64))});
         }},
        {"train_diffusion_b4_adam", 0, 0,
         [] {
             return step<Denoise, rp::optim::Adam>(rp::optim::Adam::Options{.lr = learning_rate(1e-3)}, noise,
                                                   {normal({part_of(4), 4, 32, 32}),
                                                    normal({part_of(4), 4, 32, 32}),
                                                    rp::rand({part_of(4), 1, 1, 1})});
         }},
    };
}

std::vector<OpenStep> open_training_steps()
{
    const auto images = [](const rp::Shape& example) {
        return [example](const rp::Dim& n) {
            rp::Shape shape{n};
            shape.insert(shape.end(), example.begin(), example.end());
            return std::vector<rp::Spec>{rp::spec(shape), rp::spec({n}, rp::i32)};
        };
    };
    return {{"mlp",
             [] {
                 return function<Mlp, rp::optim::SGD>(rp::optim::SGD::Options{.lr = learning_rate(0.1)},
                                                      classes);
             },
             images({784}), 1, 21},
            {"cnn",
             [] {
                 return function<Cnn, rp::optim::Adam>(rp::optim::Adam::Options{.lr = learning_rate(1e-3)},
                                                       classes);
             },
             images({1, 28, 28}), 1, 21},
            {"resnet8",
             [] {
                 return function<ResNet8, rp::optim::SGD>(
                     rp::optim::SGD::Options{.lr = learning_rate(0.1), .momentum = 0.9}, classes);
             },
             images({3, 32, 32}), 1, 21}};
}

} // namespace bench
