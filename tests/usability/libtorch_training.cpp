// Training as libtorch's users write it: optimizers, schedules, data, loops and recorded programs.
#include "libtorch.hpp"

namespace {

TEST(LibtorchTraining, Optimizers)
{
    // SGD plain.
    {
        rp::Tensor w = rp::ones({2}, rp::requires_grad());
        rp::optim::SGD opt({w}, /*lr=*/0.1);
        (w * w).sum().backward();
        opt.step();
        CHECK(near(w[0].item<float>(), 0.8));
    }
    // SGD options builder.
    {
        rp::Tensor w = rp::ones({1}).requires_grad_();
        rp::optim::SGD opt({w}, rp::optim::SGDOptions(0.1).momentum(0.9).weight_decay(0).nesterov(false));
        for (int i = 0; i < 2; ++i) {
            opt.zero_grad();
            w.sum().backward();
            opt.step();
        }
        CHECK(near(w.item<float>(), 1 - 0.1 - 0.19));
    }
    // SGD README style.
    {
        nn::Linear net(2, 1);
        rp::optim::SGD opt(
            net.parameters(),
            {.lr = 0.1, .momentum = 0.9, .dampening = 0, .weight_decay = 1e-4, .nesterov = true});
        net(rp::ones({1, 2})).sum().backward();
        opt.step();
        CHECK(opt.param_groups().size() == 1);
    }
    // Adam first step.
    {
        rp::Tensor w = rp::zeros({3}).requires_grad_(true);
        rp::optim::Adam opt({w}, rp::optim::AdamOptions(0.01).betas({0.9, 0.999}).eps(1e-8));
        (w * 5).sum().backward();
        opt.step();
        CHECK(near(w[0].item<float>(), -0.01));
    }
    // Adam betas via make_tuple, amsgrad.
    {
        nn::Linear net(2, 1);
        rp::optim::Adam opt(
            net.parameters(),
            rp::optim::AdamOptions().lr(2e-4).betas(std::make_tuple(0.5, 0.999)).amsgrad(true));
        net(rp::ones({1, 2})).sum().backward();
        opt.step();
        CHECK(near(net.parameters()[0].grad().sum().item<float>(), 2.0));
    }
    // AdamW README style.
    {
        rp::Tensor w = rp::ones({1}).requires_grad_();
        rp::optim::AdamW opt({w}, {.lr = 0.1, .betas = {0.9, 0.95}, .eps = 1e-8, .weight_decay = 0.5});
        (w * 0).sum().backward();
        opt.step();
        CHECK(near(w.item<float>(), 0.95));
    }
    // RMSprop, Adagrad.
    {
        rp::Tensor w = rp::ones({1}).requires_grad_();
        rp::optim::RMSprop r(
            {w}, rp::optim::RMSpropOptions(0.01).alpha(0.99).eps(1e-8).momentum(0).centered(false));
        rp::optim::Adagrad a({w}, rp::optim::AdagradOptions(0.1).lr_decay(0).initial_accumulator_value(0));
        w.sum().backward();
        r.step();
        CHECK(near(w.item<float>(), 0.9));
        a.step();
        CHECK(near(w.item<float>(), 0.8));
    }
    // LBFGS with closure.
    {
        rp::Tensor w = rp::full({2}, 3.0).requires_grad_();
        rp::optim::LBFGS opt({w}, rp::optim::LBFGSOptions(1).max_iter(20));
        auto closure = [&]() {
            opt.zero_grad();
            auto loss = ((w - 1) * (w - 1)).sum();
            loss.backward();
            return loss;
        };
        for (int i = 0; i < 3; ++i) opt.step(closure);
        CHECK(near(w[0].item<float>(), 1.0, 1e-3));
    }
    // LBFGS line search.
    {
        rp::Tensor w = rp::full({1}, -2.0).requires_grad_();
        rp::optim::LBFGS opt({w},
                             {.lr = 1, .max_iter = 10, .history_size = 5, .line_search_fn = "strong_wolfe"});
        opt.step([&] {
            opt.zero_grad();
            auto l = (w - 4).pow(2).sum();
            l.backward();
            return l;
        });
        CHECK(near(w.item<float>(), 4.0, 1e-3));
    }
    // Step with closure for SGD.
    {
        rp::Tensor w = rp::ones({1}).requires_grad_();
        rp::optim::SGD opt({w}, 0.5);
        rp::Tensor loss = opt.step([&]() -> rp::Tensor {
            opt.zero_grad();
            auto l = w.pow(2).sum();
            l.backward();
            return l;
        });
        CHECK(loss.item<float>() == 1.f && near(w.item<float>(), 0.0));
    }
    // Set lr via options.
    {
        nn::Linear net(2, 1);
        rp::optim::Adam opt(net.parameters(), 1e-3);
        for (auto& group : opt.param_groups()) static_cast<rp::optim::AdamOptions&>(group.options()).lr(1e-4);
        CHECK(near(opt.param_groups()[0].options().get_lr(), 1e-4, 1e-9));
    }
    // Set_lr.
    {
        nn::Linear net(2, 1);
        rp::optim::SGD opt(net.parameters(), 0.1);
        for (auto& g : opt.param_groups()) g.options().set_lr(g.options().get_lr() * 0.5);
        CHECK(near(opt.param_groups().front().options().get_lr(), 0.05, 1e-9));
    }
    // Opt.defaults / options.
    {
        nn::Linear net(2, 1);
        rp::optim::SGD opt(net.parameters(), rp::optim::SGDOptions(0.1));
        static_cast<rp::optim::SGDOptions&>(opt.defaults()).lr(0.2);
        CHECK(static_cast<rp::optim::SGDOptions&>(opt.defaults()).lr() == 0.2);
    }
    // Param groups libtorch style.
    {
        nn::Linear a(2, 2), b(2, 1);
        std::vector<rp::optim::OptimizerParamGroup> groups;
        groups.emplace_back(a.parameters(), std::make_unique<rp::optim::AdamWOptions>(1e-5));
        groups.emplace_back(b.parameters(), std::make_unique<rp::optim::AdamWOptions>(1e-3));
        rp::optim::AdamW opt(groups, rp::optim::AdamWOptions(1e-4));
        CHECK(opt.param_groups().size() == 2 && opt.param_groups()[0].params().size() == 2);
    }
    // Add_param_group.
    {
        nn::Linear a(2, 2), b(2, 1);
        rp::optim::SGD opt(a.parameters(), 0.1);
        opt.add_param_group(rp::optim::OptimizerParamGroup(b.parameters()));
        CHECK(opt.param_groups().size() == 2 && opt.parameters().size() == 4);
    }
    // Decay / no-decay groups README style.
    {
        nn::Sequential net(nn::Linear(2, 2), nn::LayerNorm(2));
        std::vector<rp::Tensor> decay, no_decay;
        for (auto& p : net.parameters()) (p.dim() >= 2 ? decay : no_decay).push_back(p);
        rp::optim::AdamW opt(
            {{decay, {.lr = 1e-3, .weight_decay = 0.1}}, {no_decay, {.lr = 1e-3, .weight_decay = 0.0}}});
        CHECK(opt.param_groups()[1].params().size() == 3);
    }
    // Generic optimizer through a pointer.
    {
        nn::Linear net(2, 1);
        std::unique_ptr<rp::optim::Optimizer> opt =
            std::make_unique<rp::optim::Adam>(net.parameters(), rp::optim::AdamOptions(1e-3));
        opt->zero_grad();
        net(rp::ones({1, 2})).sum().backward();
        opt->step();
        CHECK(opt->param_groups()[0].params().size() == 2);
    }
    // Zero_grad set_to_none.
    {
        nn::Linear net(2, 1);
        rp::optim::SGD opt(net.parameters(), rp::optim::SGDOptions(0.1));
        net(rp::ones({1, 2})).sum().backward();
        opt.zero_grad(/*set_to_none=*/true);
        CHECK(!net.weight.grad().defined());
    }
}

TEST(LibtorchTraining, Schedules)
{
    // StepLR.
    {
        nn::Linear net(2, 1);
        rp::optim::SGD opt(net.parameters(), 1.0);
        rp::optim::StepLR sched(opt, /*step_size=*/2, /*gamma=*/0.1);
        for (int e = 0; e < 4; ++e) {
            opt.step();
            sched.step();
        }
        CHECK(near(opt.param_groups()[0].options().get_lr(), 0.01, 1e-6));
    }
    // ReduceLROnPlateau.
    {
        nn::Linear net(2, 1);
        rp::optim::SGD opt(net.parameters(), 1.0);
        rp::optim::ReduceLROnPlateauScheduler sched(opt, rp::optim::ReduceLROnPlateauScheduler::min, 0.5,
                                                    /*patience=*/1);
        for (float l : {1.0f, 1.0f, 1.0f, 1.0f}) sched.step(l);
        CHECK(near(opt.param_groups()[0].options().get_lr(), 0.5));
    }
    // CosineAnnealingLR.
    {
        nn::Linear net(2, 1);
        rp::optim::SGD opt(net.parameters(), 1.0);
        rp::optim::CosineAnnealingLR sched(opt, /*T_max=*/10, /*eta_min=*/0.0);
        for (int i = 0; i < 5; ++i) sched.step();
        CHECK(near(sched.get_last_lr()[0], 0.5));
    }
    // LambdaLR warmup.
    {
        nn::Linear net(2, 1);
        rp::optim::SGD opt(net.parameters(), 1.0);
        rp::optim::LambdaLR sched(opt, [](int step) { return std::min(1.0, (step + 1) / 10.0); });
        sched.step();
        CHECK(near(opt.param_groups()[0].options().get_lr(), 0.2));
    }
}

TEST(LibtorchTraining, ClippingAndStates)
{
    // Clip_grad_norm_.
    {
        rp::Tensor w = rp::ones({4}).requires_grad_();
        (w * 3).sum().backward();
        double norm = nn::utils::clip_grad_norm_({w}, 1.0);
        CHECK(near(norm, 6.0) && near(w.grad().norm().item<float>(), 1.0, 1e-3));
    }
    // Clip of a module's parameters, with norm type, and value clip.
    {
        nn::Linear net(4, 1);
        (net(rp::ones({1, 4})) * 10).sum().backward();
        nn::utils::clip_grad_norm_(net.parameters(), /*max_norm=*/0.5, /*norm_type=*/2.0);
        nn::utils::clip_grad_value_(net.parameters(), 0.1);
        CHECK(net.weight.grad().abs().max().item<float>() <= 0.1001f);
    }
    // Parameters_to_vector.
    {
        nn::Linear a(2, 2), b(2, 2);
        auto v = nn::utils::parameters_to_vector(a.parameters());
        nn::utils::vector_to_parameters(v, b.parameters());
        CHECK(v.numel() == 6 && rp::equal(a.bias, b.bias));
    }
    // Optimizer state_dict.
    {
        nn::Linear net(2, 1);
        rp::optim::Adam opt(net.parameters(), {.lr = 1e-3}), opt2(net.parameters(), {.lr = 1e-3});
        net(rp::ones({1, 2})).sum().backward();
        opt.step();
        opt2.load_state_dict(opt.state_dict());
        CHECK(opt2.state_dict().size() == opt.state_dict().size());
    }
    // Vector of tensors, stringstream.
    {
        std::vector<rp::Tensor> ts{rp::ones({2}), rp::zeros({3})}, us;
        std::stringstream ss;
        rp::save(ts, ss);
        rp::load(us, ss);
        CHECK(us.size() == 2 && us[0].sum().item<float>() == 2.f);
    }
}

TEST(LibtorchTraining, Data)
{
    // Own Dataset, libtorch style.
    {
        struct Squares : rp::data::Dataset<Squares> {
            rp::data::Example<> get(size_t i) override
            {
                return {rp::full({1}, double(i)), rp::full({1}, double(i * i))};
            }
            std::optional<size_t> size() const override { return 10; }
        };
        auto loader = rp::data::make_data_loader(Squares().map(rp::data::transforms::Stack<>()),
                                                 rp::data::DataLoaderOptions().batch_size(4));
        size_t n = 0;
        for (auto& batch : *loader) n += batch.data.size(0);
        CHECK(n == 10);
    }
    // Examples, batches and transforms by hand.
    {
        struct Squares : rp::data::datasets::Dataset<Squares> {
            explicit Squares(size_t count) : n(count) {}
            size_t n;
            rp::data::Example<> get(size_t i) override
            {
                auto v = static_cast<float>(i);
                return {rp::full({1, 1, 1}, v), rp::tensor(v * v)};
            }
            std::optional<size_t> size() const override { return n; }
        };
        Squares ds(5);
        auto example = ds.get(3);
        CHECK(example.target.item<float>() == 9.0f && example.target.item<int64_t>() == 9);
        CHECK(ds.get(1).data[0].item<float>() == 1.0f && ds.get(2).data[-1].item().toFloat() == 2.0f);
        auto dataset =
            Squares(2).map(rp::data::transforms::Normalize<>(0.5, 0.5)).map(rp::data::transforms::Stack<>());
        auto batch = dataset.get_batch({0, 1});
        CHECK(batch.data.sizes() == rp::IntArrayRef({2, 1, 1, 1}));
        CHECK(batch.data[1].item<float>() == 1.0f && ds.get_batch({4}).target.item<float>() == 16.0f);
        auto twice = rp::data::transforms::Lambda<rp::data::Example<>>([](rp::data::Example<> e) {
            rp::data::Example<> out{e.data * 2, e.target};
            return out;
        });
        auto loader =
            rp::data::make_data_loader(Squares(4).map(twice).map(rp::data::transforms::Stack<>()), 4);
        auto doubled = *loader->begin();
        CHECK(doubled.data.sum().item<float>() == 12.0f);
    }
    // The order is random, and manual_seed() decides it.
    {
        rp::data::TensorDataset ds(rp::arange(64, rp::kFloat));
        const auto of_loader = [&](uint64_t seed) {
            rp::manual_seed(seed);
            auto loader = rp::data::make_data_loader(ds, 64);
            std::vector<float> all;
            for (auto& batch : *loader) all = batch.data.to_vector<float>();
            return all;
        };
        CHECK(of_loader(1) == of_loader(1) && of_loader(1) != of_loader(2));
        const std::vector<float> shuffled = of_loader(1);
        CHECK(shuffled.size() == 64 && !std::is_sorted(shuffled.begin(), shuffled.end()));
        const auto of_split = [&](uint64_t seed) {
            rp::manual_seed(seed);
            return rp::data::random_split(ds, {32, 32})[0].indices();
        };
        CHECK(of_split(1) == of_split(1) && of_split(1) != of_split(2));
        const auto of_sampler = [&](uint64_t seed) {
            rp::manual_seed(seed);
            return *rp::data::samplers::RandomSampler(64).next(64);
        };
        CHECK(of_sampler(1) == of_sampler(1) && of_sampler(1) != of_sampler(2));
        std::vector<float> plain;
        rp::data::DataLoader in_order(ds, 64);
        for (auto& batch : in_order) plain = batch.data.to_vector<float>();
        CHECK(std::is_sorted(plain.begin(), plain.end()));
    }
    // TensorDataset.
    {
        rp::data::TensorDataset ds(rp::arange(10, rp::kFloat).view({10, 1}), rp::zeros({10}, rp::kInt));
        rp::data::DataLoader loader(ds, {.batch_size = 3});
        std::vector<int64_t> sizes;
        for (auto [x, y] : loader) sizes.push_back(x.size(0));
        CHECK(sizes == std::vector<int64_t>{3, 3, 3, 1});
    }
    // TensorDataset libtorch.
    {
        auto ds = rp::data::datasets::TensorDataset(rp::randn({8, 3}))
                      .map(rp::data::transforms::Stack<rp::data::TensorExample>());
        auto loader = rp::data::make_data_loader<rp::data::samplers::SequentialSampler>(std::move(ds), 4);
        for (auto& b : *loader) CHECK(b.data.size(0) == 4);
    }
    // Random_split, Subset.
    {
        rp::data::TensorDataset ds(rp::ones({10, 2}), rp::zeros({10}));
        auto [train, val] = rp::data::random_split(ds, {8, 2});
        CHECK(train.size() == 8 && val.size() == 2);
    }
    // Samplers.
    {
        rp::data::samplers::RandomSampler s(10);
        auto idx = s.next(4);
        CHECK(idx.has_value() && idx->size() == 4);
        rp::data::samplers::SequentialSampler q(3);
        CHECK(q.next(5)->size() == 3);
    }
    // Loader length, several epochs.
    {
        rp::data::DataLoader loader(rp::data::TensorDataset(rp::randn({10, 2}), rp::randn({10})),
                                    {.batch_size = 4, .shuffle = true});
        int batches = 0;
        for (int epoch = 0; epoch < 2; ++epoch)
            for (const auto& batch : loader) {
                batches += batch.data.size(0) > 0;
            }
        CHECK(batches == 6 && loader.size() == 3);
    }
}

TEST(LibtorchTraining, Loops)
{
    // Whole training loop, regression.
    {
        rp::manual_seed(0);
        nn::Sequential net(nn::Linear(1, 16), nn::Tanh(), nn::Linear(16, 1));
        rp::optim::Adam opt(net.parameters(), rp::optim::AdamOptions(1e-2));
        auto x = rp::linspace(-1, 1, 32).unsqueeze(1), y = x.pow(2);
        float first = 0, last = 0;
        for (int i = 0; i < 100; ++i) {
            opt.zero_grad();
            auto loss = rp::mse_loss(net(x), y);
            loss.backward();
            opt.step();
            (i == 0 ? first : last) = loss.item<float>();
        }
        CHECK(last < first * 0.5f);
    }
    // GAN with two optimizers.
    {
        nn::Sequential G(nn::Linear(2, 8), nn::ReLU(), nn::Linear(8, 2)),
            D(nn::Linear(2, 8), nn::LeakyReLU(0.2), nn::Linear(8, 1), nn::Sigmoid());
        rp::optim::Adam optG(G.parameters(), rp::optim::AdamOptions(2e-4).betas({0.5, 0.999})),
            optD(D.parameters(), rp::optim::AdamOptions(2e-4).betas({0.5, 0.999}));
        D.zero_grad();
        auto real = D(rp::randn({4, 2}));
        auto d_real = rp::binary_cross_entropy(real, rp::empty({4, 1}).uniform_(0.8, 1.0));
        d_real.backward();
        auto fake = G(rp::randn({4, 2}));
        auto d_fake = rp::binary_cross_entropy(D(fake.detach()), rp::zeros({4, 1}));
        d_fake.backward();
        optD.step();
        G.zero_grad();
        auto g = rp::binary_cross_entropy(D(fake), rp::full({4, 1}, 1.0));
        g.backward();
        optG.step();
        CHECK((d_real + d_fake).item<float>() > 0);
    }
    // Gradient accumulation.
    {
        nn::Linear net(2, 1);
        rp::optim::SGD opt(net.parameters(), 0.1);
        const int accum = 4;
        for (int i = 0; i < 8; ++i) {
            (net(rp::ones({1, 2})).mean() / accum).backward();
            if ((i + 1) % accum == 0) {
                CHECK(near(net.bias.grad().item<float>(), 1.0));
                opt.step();
                opt.zero_grad();
            }
        }
    }
    // EMA of weights.
    {
        nn::Linear net(2, 1), ema(2, 1);
        rp::NoGradGuard no_grad;
        for (auto& p : ema.parameters()) p.zero_();
        auto ps = net.parameters(), es = ema.parameters();
        for (size_t i = 0; i < ps.size(); ++i) es[i].mul_(0.9).add_(ps[i], 0.1);
        CHECK(rp::allclose(ema.weight, net.weight * 0.1));
    }
    // EMA with lerp_.
    {
        nn::Linear net(2, 1), ema(2, 1);
        {
            rp::NoGradGuard g;
            for (size_t i = 0; i < net.parameters().size(); ++i)
                ema.parameters()[i].lerp_(net.parameters()[i], 1.0);
        }
        CHECK(rp::allclose(ema.weight, net.weight) && ema.weight.requires_grad());
    }
    // Evaluation with accuracy.
    {
        nn::Sequential net(nn::Linear(4, 3));
        net.eval();
        rp::NoGradGuard no_grad;
        auto x = rp::randn({10, 4}), y = rp::randint(0, 3, {10}, rp::kLong);
        auto pred = net(x).argmax(1);
        int64_t correct = pred.eq(y).sum().item<int64_t>();
        double acc = static_cast<double>(correct) / x.size(0);
        CHECK(acc >= 0 && acc <= 1);
    }
    // Early stopping on best state.
    {
        nn::Linear net(1, 1);
        auto best = net.state_dict();
        float best_loss = INFINITY;
        int patience = 0;
        for (float l : {0.5f, 0.4f, 0.6f, 0.7f}) {
            if (l < best_loss) {
                best_loss = l;
                best = net.state_dict();
                patience = 0;
            } else if (++patience >= 2) break;
        }
        net.load_state_dict(best);
        CHECK(patience == 2);
    }
}

TEST(LibtorchTraining, Programs)
{
    // Recorded eval function with one symbol.
    {
        nn::Linear net(3, 2);
        const rp::Dim n = rp::symbol("n");
        const rp::Program f = rp::record([&](rp::Tensor x) { return net(x); }, {rp::spec({n, 3})});
        auto x = rp::randn({5, 3});
        CHECK(rp::equal(f(x), net(x)) && f(rp::randn({7, 3})).size(0) == 7);
    }
    // Several outputs.
    {
        rp::Dim n = rp::symbol("n"), d = rp::symbol("d");
        auto f = rp::record([](rp::Tensor a, rp::Tensor b) { return std::make_tuple(a + b, a * b); },
                            {rp::spec({n, d}), rp::spec({n, d}, rp::f32)});
        auto [s, p] = f(rp::ones({2, 3}), rp::ones({2, 3}) * 2);
        CHECK(s.sum().item<float>() == 18.f && p.sum().item<float>() == 12.f);
    }
    // Outputs as a vector.
    {
        auto f = rp::record(
            [](rp::Tensor a) {
                return std::vector<rp::Tensor>{a.sum(), a.mean()};
            },
            {rp::spec({rp::symbol("n")})});
        std::vector<rp::Tensor> out = f(rp::ones({4}));
        CHECK(out[0].item<float>() == 4.f && out[1].item<float>() == 1.f);
    }
    // Recorded training with state.
    {
        nn::Linear net(2, 1);
        rp::optim::SGD opt(net.parameters(), {.lr = 0.1, .momentum = 0.9});
        auto batch = rp::symbol("batch");
        auto step = rp::record(
            [&](rp::Tensor x, rp::Tensor y) {
                opt.zero_grad();
                auto loss = rp::mse_loss(net(x).squeeze(-1), y);
                loss.backward();
                nn::utils::clip_grad_norm_(net.parameters(), 1.0);
                opt.step();
                return loss;
            },
            {rp::spec({batch, 2}), rp::spec({batch})});
        auto x = rp::randn({8, 2}), y = x.sum(1);
        float first = step(x, y).item<float>(), last = 0;
        for (int i = 0; i < 50; ++i) last = step(x, y).item<float>();
        CHECK(last < first && rp::allclose(step(x.slice(0, 0, 3), y.slice(0, 0, 3)),
                                           step(x.slice(0, 0, 3), y.slice(0, 0, 3)), 1, 1));
    }
    // Counter carried between calls.
    {
        rp::Tensor count = rp::zeros({});
        auto tick = rp::record(
            [&](rp::Tensor x) {
                count.add_(1);
                return x + count;
            },
            {rp::spec({rp::symbol("n")})});
        tick(rp::zeros({2}));
        CHECK(tick(rp::zeros({3}))[0].item<float>() == 2.f && count.item<float>() == 2.f);
    }
    // Learning rate changed between replays by a scheduler.
    {
        rp::Tensor w = rp::zeros({1}).requires_grad_();
        rp::optim::SGD opt({w}, 1.0);
        rp::optim::StepLR sched(opt, 1, 0.5);
        auto step = rp::record(
            [&](rp::Tensor x) {
                opt.zero_grad();
                auto l = (w * x).sum();
                l.backward();
                opt.step();
                return l;
            },
            {rp::spec({1})});
        step(rp::ones({1}));
        sched.step();
        step(rp::ones({1}));
        CHECK(near(w.item<float>(), -1.5));
    }
}

} // namespace
