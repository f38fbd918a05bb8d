// Calls as libtorch's users write them: autograd, random numbers and functions, with PyTorch's results.
#include "libtorch.hpp"

namespace {

TEST(LibtorchFunctions, Autograd)
{
    {
        auto x = rp::tensor({2.0}, rp::requires_grad());
        auto y = x * x;
        y.backward();
        CHECK(x.grad().item<float>() == 4);
    }
    {
        auto x = rp::randn({3}, rp::requires_grad(true));
        (x * 2).sum().backward();
        CHECK(rp::allclose(x.grad(), rp::full({3}, 2.0)));
        x.grad().zero_();
        CHECK(x.grad().sum().item<float>() == 0);
    }
    {
        auto x = rp::ones({2, 2}).set_requires_grad(true);
        auto y = x * 3;
        y.backward(rp::tensor({{1.0, 0.0}, {0.0, 2.0}}));
        CHECK(x.grad()[1][1].item<float>() == 6 && x.grad()[0][1].item<float>() == 0);
    }
    {
        rp::Tensor x = rp::ones({2}).requires_grad_();
        auto g = rp::autograd::grad({(x * x).sum()}, {x})[0];
        CHECK(g[0].item<float>() == 2 && !x.grad().defined());
    }
    {
        rp::Variable a(rp::tensor(2.0)), b(rp::tensor(5.0));
        const rp::Tensor y = a * b;
        const std::vector<rp::Tensor> g = rp::grad(y, {a, b}, {.create_graph = true});
        CHECK(g.size() == 2 && g[0].item<float>() == 5 && g[1].item<float>() == 2);
        const std::vector<rp::Tensor> inputs{a, b};
        CHECK(rp::grad(a * a * b, inputs)[0].item<float>() == 20);
        const rp::Tensor one = rp::grad({a * b}, {a}); // single braces: one tensor
        CHECK(one.item<float>() == 5);
        rp::nn::Linear net(2, 1);
        CHECK(rp::grad(net(rp::ones({2})).sum(), net.parameters()).size() == 2);
    }
    {
        rp::Tensor x = rp::tensor(3.0).requires_grad_();
        auto y = x.pow(3);
        auto g = rp::autograd::grad({y}, {x}, /*grad_outputs=*/{}, /*retain_graph=*/true,
                                    /*create_graph=*/true)[0];
        auto h = rp::autograd::grad({g}, {x})[0];
        CHECK(std::abs(g.item<float>() - 27) < 1e-4 && std::abs(h.item<float>() - 18) < 1e-4);
    }
    {
        auto x = rp::randn({4}, rp::requires_grad());
        auto g = rp::autograd::grad({x.sum()}, {x}, {}, rp::nullopt, false, true);
        CHECK(g.size() == 1 && g[0].sum().item<float>() == 4);
    }
    {
        auto x = rp::ones({3}, rp::requires_grad());
        auto g = rp::autograd::grad({x * 2}, {x}, {rp::ones({3})});
        CHECK(g[0][0].item<float>() == 2);
    }
    {
        auto x = rp::tensor({1.0, 2.0}).requires_grad_(true), z = rp::ones({1}).requires_grad_(true);
        auto g = rp::autograd::grad({x.sum()}, {x, z}, {}, std::nullopt, false, /*allow_unused=*/true);
        CHECK(g[0].defined() && !g[1].defined());
    }
    {
        auto x = rp::ones({2}, rp::requires_grad());
        {
            rp::NoGradGuard no_grad;
            auto y = x * 2;
            CHECK(!y.requires_grad());
        }
        CHECK((x * 2).requires_grad());
    }
    {
        auto w = rp::ones({2}, rp::requires_grad());
        (w * w).sum().backward();
        {
            rp::NoGradGuard guard;
            w -= 0.1 * w.grad();
        }
        CHECK(std::abs(w[0].item<float>() - 0.8f) < 1e-6 && w.requires_grad());
    }
    {
        auto w = rp::ones({2}, rp::requires_grad());
        w.mul(3).sum().backward();
        w.data().sub_(w.grad() * 0.1);
        w.mutable_grad() = rp::Tensor();
        CHECK(!w.grad().defined() && std::abs(w[1].item<float>() - 0.7f) < 1e-6);
    }
    {
        rp::GradMode::set_enabled(false);
        auto y = rp::ones({1}, rp::requires_grad()) * 2;
        rp::GradMode::set_enabled(true);
        CHECK(!y.requires_grad());
    }
    {
        rp::InferenceMode guard;
        auto y = rp::ones({2}) * 2;
        CHECK(y.sum().item<float>() == 4);
    }
    {
        rp::AutoGradMode enable(false);
        CHECK(!rp::GradMode::is_enabled());
    }
    {
        auto x = rp::ones({2}, rp::requires_grad());
        auto y = x.detach();
        CHECK(!y.requires_grad());
        auto z = (x * y).sum();
        z.backward();
        CHECK(x.grad()[0].item<float>() == 1);
    }
    {
        auto x = rp::ones({2}, rp::requires_grad());
        auto y = x * 2;
        y.retain_grad();
        (y * 3).sum().backward();
        CHECK(y.grad()[0].item<float>() == 3 && x.grad()[0].item<float>() == 6 && !y.is_leaf());
    }
    {
        auto x = rp::ones({2}, rp::requires_grad());
        auto h = x.register_hook([](rp::Tensor grad) { return grad * 10; });
        x.sum().backward();
        CHECK(x.grad()[0].item<float>() == 10);
        x.remove_hook(h);
    }
    {
        auto x = rp::ones({2}, rp::requires_grad());
        float seen = 0;
        auto y = x * 2;
        y.register_hook([&seen](const rp::Tensor& g) { seen = g.sum().item<float>(); });
        y.sum().backward();
        CHECK(seen == 2);
    }
    {
        struct MyRelu : rp::autograd::Function<MyRelu> {
            static rp::Tensor forward(rp::autograd::AutogradContext* ctx, rp::Tensor x)
            {
                ctx->save_for_backward({x});
                return x.clamp_min(0);
            }
            static rp::autograd::tensor_list backward(rp::autograd::AutogradContext* ctx,
                                                      rp::autograd::tensor_list g)
            {
                auto x = ctx->get_saved_variables()[0];
                return {g[0] * (x > 0)};
            }
        };
        auto x = rp::tensor({-1.0, 2.0}).requires_grad_();
        MyRelu::apply(x).sum().backward();
        CHECK(x.grad()[0].item<float>() == 0 && x.grad()[1].item<float>() == 1);
    }
    {
        struct GradRev : rp::autograd::Function<GradRev> {
            static rp::Tensor forward(rp::autograd::AutogradContext*, const rp::Tensor& x)
            {
                return x.view_as(x);
            }
            static std::vector<rp::Tensor> backward(rp::autograd::AutogradContext*, std::vector<rp::Tensor> g)
            {
                return {g[0].neg()};
            }
        };
        auto x = rp::ones({2}).requires_grad_();
        (GradRev::apply(x) * 2).sum().backward();
        CHECK(x.grad()[0].item<float>() == -2);
    }
    {
        auto x = rp::tensor({1.0, 2.0}).requires_grad_();
        auto loss = x.pow(2).sum();
        loss.backward({}, /*retain_graph=*/true);
        loss.backward();
        CHECK(x.grad()[1].item<float>() == 8);
    }
    {
        auto x = rp::tensor({1.0, 2.0}, rp::requires_grad());
        auto loss = x.pow(3).sum();
        loss.backward(rp::Tensor(), true, /*create_graph=*/true);
        CHECK(x.grad()[1].item<float>() == 12 && x.grad().requires_grad());
    }
    {
        auto a = rp::ones({1}).requires_grad_(), b = rp::ones({1}).requires_grad_();
        rp::autograd::backward({a * 2, b * 3});
        CHECK(a.grad().item<float>() == 2 && b.grad().item<float>() == 3);
    }
    {
        auto x = rp::randn({5, 3}, rp::requires_grad());
        auto d = rp::linalg_vector_norm(rp::autograd::grad({x.tanh().sum()}, {x}, {}, true, true)[0], 2, {1});
        auto gp = (d - 1).pow(2).mean();
        gp.backward();
        CHECK(x.grad().defined() && x.grad().sizes() == x.sizes());
    }
    {
        auto x = rp::ones({2}, rp::requires_grad());
        auto y = x.detach().clone().requires_grad_(true);
        y.sum().backward();
        CHECK(!x.grad().defined() && y.grad().defined() && y.grad_fn() == nullptr &&
              (y * 2).grad_fn() != nullptr);
    }
    {
        auto w = rp::ones({3}, rp::requires_grad());
        (w * 2).sum().backward();
        (w * 2).sum().backward();
        CHECK(w.grad()[0].item<float>() == 4);
        w.mutable_grad().reset();
        CHECK(!w.grad().defined());
    }
}

TEST(LibtorchFunctions, RandomNumbers)
{
    {
        rp::manual_seed(42);
        auto a = rp::randn({3});
        rp::manual_seed(42);
        CHECK(rp::equal(a, rp::randn({3})));
    }
    {
        auto r = rp::randint(0, 2, {8}, rp::kFloat32);
        auto s = rp::randint(/*high=*/5, {4}, rp::TensorOptions().dtype(rp::kInt32));
        CHECK(r.dtype() == rp::kFloat32 && s.dtype() == rp::kInt);
    }
    {
        auto p = rp::randperm(10, rp::kInt64);
        CHECK(p.sum().item<int64_t>() == 45 && rp::randperm(5).numel() == 5);
    }
    {
        auto x = rp::empty({1000}).uniform_(-1, 1), y = rp::empty({1000}).normal_(0, 0.02);
        CHECK(x.min().item<float>() >= -1 && x.max().item<float>() <= 1 &&
              y.abs().max().item<float>() < 0.2f);
    }
    {
        auto b = rp::bernoulli(rp::full({100}, 0.5)), n = rp::normal(0.0, 1.0, {10});
        CHECK(b.max().item<float>() <= 1 && n.numel() == 10 && rp::randn_like(n).sizes() == n.sizes());
    }
    {
        auto probs = rp::tensor({0.0, 1.0, 0.0});
        auto s = rp::multinomial(probs, 1);
        CHECK(s.item<int64_t>() == 1 && probs.multinomial(5, /*replacement=*/true).size(0) == 5);
    }
}

TEST(LibtorchFunctions, Functional)
{
    {
        auto x = rp::randn({1, 1, 5, 5}), w = rp::randn({2, 1, 3, 3});
        auto y = F::conv2d(x, w, F::Conv2dFuncOptions().stride(1).padding(1));
        CHECK(y.sizes() == rp::IntArrayRef({1, 2, 5, 5}) && F::conv2d(x, w).size(2) == 3);
    }
    {
        auto x = rp::randn({1, 2, 6, 6}), w = rp::randn({4, 1, 3, 3});
        auto y = rp::conv2d(x, w, {}, /*stride=*/2, /*padding=*/1, /*dilation=*/1, /*groups=*/2);
        CHECK(y.size(1) == 4 && y.size(3) == 3);
    }
    {
        auto x = rp::randn({1, 3, 4, 4});
        auto y = F::interpolate(
            x, F::InterpolateFuncOptions().scale_factor(std::vector<double>({2, 2})).mode(rp::kNearest));
        auto z = F::interpolate(x, F::InterpolateFuncOptions()
                                       .size(std::vector<int64_t>({8, 8}))
                                       .mode(rp::kBilinear)
                                       .align_corners(false));
        CHECK(y.size(2) == 8 && z.sizes() == y.sizes() &&
              y[0][0][1][1].item<float>() == x[0][0][0][0].item<float>());
    }
    {
        auto x = rp::ones({1, 1, 2, 2});
        auto y = F::pad(x, F::PadFuncOptions({1, 1, 2, 0}).mode(rp::kConstant).value(5));
        CHECK(y.size(2) == 4 && y.size(3) == 4 && y[0][0][0][0].item<float>() == 5);
        auto r = F::pad(rp::randn({1, 1, 3, 3}), F::PadFuncOptions({1, 1, 1, 1}).mode(rp::kReflect));
        CHECK(r.size(3) == 5 && rp::constant_pad_nd(x, {1, 1}, 0).size(3) == 4);
    }
    {
        auto x = rp::randn({2, 5});
        CHECK(rp::allclose(rp::softmax(x, 1).sum(1), rp::ones({2}), 1e-5) &&
              rp::allclose(F::softmax(x, F::SoftmaxFuncOptions(1)), x.softmax(-1)) &&
              rp::allclose(F::log_softmax(x, 1), x.log_softmax(1)));
    }
    {
        auto logits = rp::zeros({2, 4});
        auto target = rp::tensor({1, 3});
        CHECK(std::abs(F::cross_entropy(logits, target).item<float>() - std::log(4.f)) < 1e-5 &&
              F::cross_entropy(logits, target, F::CrossEntropyFuncOptions().reduction(rp::kNone)).size(0) ==
                  2 &&
              F::cross_entropy(
                  logits, target,
                  F::CrossEntropyFuncOptions().label_smoothing(0.1).ignore_index(-100).reduction(rp::kSum))
                      .dim() == 0);
    }
    {
        auto a = rp::tensor({1.0, 2.0}), b = rp::tensor({1.0, 4.0});
        CHECK(F::mse_loss(a, b).item<float>() == 2 &&
              rp::mse_loss(a, b, rp::Reduction::Sum).item<float>() == 4 &&
              F::mse_loss(a, b, F::MSELossFuncOptions(rp::kSum)).item<float>() == 4 &&
              F::l1_loss(a, b).item<float>() == 1 && F::smooth_l1_loss(a, b).item<float>() == 0.75f);
    }
    {
        auto p = rp::tensor({0.0, 0.0}), y = rp::tensor({1.0, 0.0});
        CHECK(std::abs(F::binary_cross_entropy_with_logits(p, y).item<float>() - 0.6931472f) < 1e-6 &&
              std::abs(rp::binary_cross_entropy(rp::sigmoid(p), y).item<float>() - 0.6931472f) < 1e-6 &&
              F::binary_cross_entropy_with_logits(p, y,
                                                  F::BinaryCrossEntropyWithLogitsFuncOptions()
                                                      .pos_weight(rp::tensor({2.0, 2.0}))
                                                      .reduction(rp::kMean))
                      .item<float>() > 1.0f);
    }
    {
        auto out = rp::log_softmax(rp::zeros({2, 3}), /*dim=*/1);
        auto loss = rp::nll_loss(out, rp::tensor({0, 2}));
        CHECK(std::abs(loss.item<float>() - std::log(3.f)) < 1e-5 &&
              std::abs(F::nll_loss(out, rp::tensor({0, 2}), F::NLLLossFuncOptions().reduction(rp::kSum))
                           .item<float>() -
                       2 * std::log(3.f)) < 1e-5);
    }
    {
        auto p = rp::log_softmax(rp::randn({2, 3}), -1), q = rp::softmax(rp::randn({2, 3}), -1);
        CHECK(F::kl_div(p, q, F::KLDivFuncOptions().reduction(rp::kBatchMean)).dim() == 0 &&
              F::huber_loss(p, q).dim() == 0 && F::cosine_embedding_loss(p, q, rp::ones({2})).dim() == 0 &&
              F::triplet_margin_loss(p, q, p).dim() == 0);
    }
    {
        auto x = rp::randn({1, 1, 4, 4});
        CHECK(F::max_pool2d(x, F::MaxPool2dFuncOptions(2)).size(2) == 2 &&
              rp::max_pool2d(x, {2, 2}, {2, 2}).size(3) == 2 &&
              F::avg_pool2d(x, F::AvgPool2dFuncOptions(3).stride(1).padding(1)).size(2) == 4 &&
              F::adaptive_avg_pool2d(x, F::AdaptiveAvgPool2dFuncOptions({1, 1})).numel() == 1 &&
              rp::adaptive_avg_pool2d(x, {2, 2}).numel() == 4);
    }
    {
        auto x = rp::randn({2, 8});
        CHECK(F::relu(x).min().item<float>() >= 0 && F::gelu(x).numel() == 16 &&
              F::leaky_relu(x, F::LeakyReLUFuncOptions().negative_slope(0.2)).numel() == 16 &&
              rp::leaky_relu(x, 0.1).numel() == 16 && F::elu(x).numel() == 16 && F::silu(x).numel() == 16 &&
              F::softplus(x).min().item<float>() > 0 &&
              F::normalize(x, F::NormalizeFuncOptions().p(2).dim(1)).norm(2, 1).sum().item<float>() > 1.99f);
    }
    {
        auto x = rp::randn({2, 8});
        CHECK(F::layer_norm(x, F::LayerNormFuncOptions({8})).mean().abs().item<float>() < 1e-5 &&
              rp::layer_norm(x, {8}, rp::ones({8}), rp::zeros({8})).numel() == 16 &&
              F::dropout(x, F::DropoutFuncOptions().p(0.5).training(false)).equal(x) &&
              rp::dropout(x, 0.3, /*train=*/true).numel() == 16 &&
              F::linear(x, rp::ones({3, 8})).size(1) == 3 &&
              F::embedding(rp::tensor({1, 0}), rp::eye(3))[0][1].item<float>() == 1);
    }
    {
        auto q = rp::randn({1, 2, 4, 8}), k = rp::randn({1, 2, 4, 8}), v = rp::randn({1, 2, 4, 8});
        auto y = rp::scaled_dot_product_attention(q, k, v, /*attn_mask=*/{}, /*dropout_p=*/0.0,
                                                  /*is_causal=*/true);
        CHECK(y.sizes() == q.sizes() && rp::allclose(y.select(2, 0), v.select(2, 0), 1e-4, 1e-5));
    }
    {
        auto x = rp::randn({1, 1, 5, 5}), w = rp::randn({2, 1, 3, 3});
        auto y = F::conv2d(x, w, {.stride = 1, .padding = 1});
        CHECK(y.sizes() == rp::IntArrayRef({1, 2, 5, 5}));
    }
    {
        auto x = rp::randn({1, 1, 5, 5}), w = rp::randn({2, 1, 3, 3});
        auto y = rp::conv2d(x, w, {}, {.stride = 2, .padding = 1});
        CHECK(y.size(2) == 3);
    }
    {
        auto x = rp::ones({1, 1, 2, 2});
        auto y = F::interpolate(x, {.scale_factor = {{2.0, 2.0}}, .mode = "nearest"});
        CHECK(y.size(3) == 4);
    }
    {
        auto x = rp::ones({1, 1, 2, 2});
        auto y = F::pad(x, {1, 1});
        CHECK(y.size(3) == 4 && y.sum().item<float>() == 4);
    }
    {
        auto logits = rp::zeros({2, 4});
        auto loss = F::cross_entropy(logits, rp::tensor({1, 3}), {.label_smoothing = 0.1});
        CHECK(std::abs(loss.item<float>() - std::log(4.f)) < 1e-5);
    }
}

TEST(LibtorchFunctions, OptionsInBraces)
{
    {
        auto x = rp::ones({2, 3}, {.dtype = rp::kInt64});
        CHECK(x.dtype() == rp::kLong);
    }
    {
        auto w = rp::randn({2, 3}, {.requires_grad = true});
        CHECK(w.requires_grad());
    }
    {
        const auto f = rp::record([](rp::Tensor x) { return x * 2 + 1; }, {rp::spec({rp::symbol("n")})});
        CHECK(f(rp::ones({3})).sum().item<float>() == 9 && f(rp::ones({5})).size(0) == 5);
    }
    {
        auto x = rp::tensor({1.0, 2.0}).requires_grad_();
        auto y = rp::checkpoint([](rp::Tensor t) { return t.tanh().exp(); }, x);
        y.sum().backward();
        CHECK(x.grad().defined());
    }
    {
        const rp::Dim n = rp::symbol("n");
        auto w = rp::ones({4}, rp::requires_grad());
        const rp::Program p = rp::record(
            [&](rp::Tensor x) { return rp::autograd::grad({(x * w).sum()}, {w})[0]; }, {rp::spec({n, 4})});
        CHECK(p(rp::ones({3, 4}))[0].item<float>() == 3);
    }
}

TEST(LibtorchFunctions, Miscellaneous)
{
    {
        auto x = rp::randn({2, 3});
        auto [rows, cols] = std::make_pair(x.size(0), x.size(1));
        CHECK(rows * cols == 6 && x.sizes()[0] == 2 && x.sizes().size() == 2 && x.sizes().back() == 3);
    }
    {
        auto x = rp::randn({4, 3});
        for (int64_t i = 0; i < x.size(0); ++i) x[i] = i;
        CHECK(x.sum().item<double>() == 18);
    }
    {
        rp::Tensor total = rp::zeros({});
        for (int i = 1; i <= 3; i++) total += i;
        CHECK(total.item<float>() == 6);
    }
    {
        auto x = rp::tensor({1.0, 2.0, 3.0});
        auto v = x[2].item<double>() + x.index({0}).item().toDouble();
        CHECK(v == 4);
    }
    {
        double running = 0;
        auto loss = rp::tensor(0.5, rp::requires_grad());
        running += loss.item<double>() * 4;
        CHECK(running == 2);
    }
    {
        auto img = rp::randint(0, 256, {4, 5, 3}).to(rp::kU8).to(rp::kFloat).div_(255.0).sub_(0.5).div_(0.5);
        CHECK(img.max().item<float>() <= 1.0f);
    }
    {
        auto mean = rp::tensor({0.5, 0.5, 0.5}).view({1, 3, 1, 1});
        auto x = (rp::ones({2, 3, 4, 4}) - mean) / mean;
        CHECK(x.sum().item<float>() == 96);
    }
    {
        auto scores = rp::randn({2, 4, 4});
        auto mask = rp::tril(rp::ones({4, 4}, rp::kBool));
        auto att = rp::softmax(scores.masked_fill(~mask, -1e9), -1);
        CHECK(att[0][0][0].item<float>() == 1 && att[1][0][3].item<float>() == 0);
    }
    {
        auto a = rp::tensor({1, 2, 3}, rp::kInt32), b = rp::tensor({3, 2, 1}, rp::kInt32);
        CHECK(((a & 1) == 1).sum().item<int>() == 2 && (a ^ b)[0].item<int>() == 2 &&
              (a << 1)[2].item<int>() == 6 && (a | b)[1].item<int>() == 2);
    }
    {
        auto x = rp::tensor({0.5, 2.0});
        x.log_().neg_().exp_().clamp_(0, 1.5).sqrt_().round_();
        CHECK(x[0].item<float>() == 1);
    }
    {
        auto x = rp::tensor({1.0, -2.0});
        x.relu_().sigmoid_().pow_(2);
        rp::relu_(x);
        CHECK(std::abs(x[1].item<float>() - 0.25f) < 1e-6);
    }
    {
        auto p1 = rp::ones({2}).requires_grad_(), p2 = rp::ones({3}).requires_grad_();
        (p1.sum() * 3 + p2.sum() * 4).backward();
        double norm = nn::utils::clip_grad_norm_({p1, p2}, 1.0);
        CHECK(norm > 8 && std::abs(rp::cat({p1.grad(), p2.grad()}).norm().item<float>() - 1) < 1e-3);
    }
    {
        auto w = rp::empty({20, 30});
        nn::init::xavier_uniform_(w);
        nn::init::kaiming_normal_(w, 0.0, rp::kFanIn, rp::kReLU);
        nn::init::constant_(w, 0.5);
        CHECK(w.mean().item<float>() == 0.5f);
    }
    {
        auto w = rp::ones({2, 2}, rp::requires_grad());
        auto hess = [&] {
            auto g = rp::autograd::grad({w.pow(3).sum()}, {w}, {}, true, true);
            return rp::autograd::grad({g[0].sum()},
                                      g.empty() ? std::vector<rp::Tensor>{} : std::vector<rp::Tensor>{w});
        }();
        CHECK(hess[0][0][0].item<float>() == 6);
    }
    {
        rp::Tensor x = rp::randn({3, 4});
        std::tuple<rp::Tensor, rp::Tensor> res = rp::max(x, 0);
        rp::Tensor best = std::get<0>(res);
        CHECK(best.size(0) == 4);
    }
    {
        auto x = rp::tensor({1.0, 2.0, 2.0, 5.0});
        CHECK(rp::histc(x, 5, 0, 5).sum().item<float>() == 4 &&
              rp::searchsorted(x, rp::tensor({2.0})).item<int64_t>() == 1 &&
              rp::bucketize(rp::tensor({3.0}), x).item<int64_t>() == 3 &&
              rp::quantile(x, 0.5).item<float>() == 2);
    }
    {
        auto x = rp::randn({2, 6});
        CHECK(rp::allclose(F::glu(x, F::GLUFuncOptions(1)), x.narrow(1, 0, 3) * x.narrow(1, 3, 3).sigmoid(),
                           1e-4, 1e-6) &&
              rp::diff(x).size(1) == 5 && rp::pixel_shuffle(rp::randn({1, 4, 2, 2}), 2).size(3) == 4);
    }
    {
        auto x = rp::randn({1, 2, 8}), w = rp::randn({4, 2, 3});
        CHECK(F::conv1d(x, w).size(2) == 6 && rp::conv1d(x, w, {}, 1, 1).size(2) == 8 &&
              F::conv_transpose2d(rp::randn({1, 2, 4, 4}), rp::randn({2, 3, 2, 2}),
                                  F::ConvTranspose2dFuncOptions().stride(2))
                      .size(2) == 8 &&
              F::unfold(rp::randn({1, 2, 4, 4}), F::UnfoldFuncOptions({2, 2})).size(1) == 8);
    }
    {
        rp::Tensor x = rp::randn({2, 2}, rp::kFloat),
                   y = rp::randn({2, 2}).to(rp::kFloat, /*non_blocking=*/true);
        std::swap(x, y);
        std::vector<rp::Tensor> list = {x, y};
        CHECK(rp::stack(list, 0).sizes() == rp::IntArrayRef({2, 2, 2}) && rp::TensorList(list).size() == 2);
    }
    {
        try {
            rp::mm(rp::ones({2, 3}), rp::ones({2, 3}));
            CHECK(false);
        } catch (const rp::Error& e) {
            CHECK(std::string(e.what()).find("shape") != std::string::npos);
        }
    }
}

} // namespace
