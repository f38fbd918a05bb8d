// Modules as libtorch's users write them, with PyTorch's results: modules of one's own, recurrent networks, attention.
#include "libtorch.hpp"

namespace {

TEST(LibtorchModules, OfOnesOwn)
{
    // Custom module with register_parameter, register_buffer.
    {
        struct Scale : nn::Module {
            rp::Tensor gain, offset;
            Scale()
            {
                gain = register_parameter("gain", rp::ones({3}));
                offset = register_buffer("offset", rp::full({3}, 0.5));
            }
            rp::Tensor forward(rp::Tensor x) override { return x * gain + offset; }
        } s;
        CHECK(s.gain.requires_grad() && !s.offset.requires_grad() && s.buffers().size() == 1);
        CHECK(near(s(rp::ones({2, 3})).sum().item<float>(), 9.0));
    }
    // Libtorch's assignment of register_module's result.
    {
        struct Net : nn::Module {
            nn::Linear fc1, fc2;
            Net()
                : fc1(register_module("fc1", nn::Linear(4, 8))), fc2(register_module("fc2", nn::Linear(8, 2)))
            {}
            rp::Tensor forward(rp::Tensor x) override
            {
                return rp::log_softmax(fc2(rp::relu(fc1(x))), /*dim=*/1);
            }
        } net;
        CHECK(near(net.forward(rp::randn({3, 4})).exp().sum(1)[0].item<float>(), 1.0) &&
              net.parameters().size() == 4);
    }
    // {nullptr} members assigned later.
    {
        struct Net : nn::Module {
            nn::Linear fc{nullptr};
            Net(int h) { fc = register_module("fc", nn::Linear(4, h)); }
            rp::Tensor forward(rp::Tensor x) override { return fc(x); }
        } net(7);
        CHECK(net.forward(rp::zeros({1, 4})).size(1) == 7);
    }
    // Shared_ptr of a module.
    {
        struct Net : nn::Module {
            nn::Linear fc{4, 2};
            Net() { register_module("fc", fc); }
            rp::Tensor forward(rp::Tensor x) override { return fc->forward(x); }
        };
        auto net = std::make_shared<Net>();
        rp::optim::SGD opt(net->parameters(), 0.1);
        CHECK(net->forward(rp::ones({1, 4})).size(1) == 2);
    }
    // Nested submodules and names.
    {
        struct Block : nn::Module {
            nn::Conv2d conv;
            nn::BatchNorm2d bn;
            Block(int i, int o) : conv(nn::Conv2dOptions(i, o, 3).padding(1)), bn(o)
            {
                register_module("conv", conv);
                register_module("bn", bn);
            }
            rp::Tensor forward(rp::Tensor x) override { return rp::relu(bn(conv(x))); }
        };
        struct Net : nn::Module {
            Block b1{1, 4}, b2{4, 4};
            Net()
            {
                register_module("b1", b1);
                register_module("b2", b2);
            }
            rp::Tensor forward(rp::Tensor x) override { return b2(b1(x)); }
        } net;
        CHECK(net.named_parameters().contains("b2.bn.weight") &&
              net.named_buffers().contains("b1.bn.running_mean"));
        CHECK(net(rp::randn({1, 1, 6, 6})).size(1) == 4);
    }
    // Residual block with downsample.
    {
        struct Res : nn::Module {
            nn::Conv2d c1{4, 8, {.kernel_size = 3, .stride = 2, .padding = 1, .bias = false}};
            nn::Sequential down{nn::Conv2d(4, 8, {.kernel_size = 1, .stride = 2, .bias = false}),
                                nn::BatchNorm2d(8)};
            Res()
            {
                register_module("c1", c1);
                register_module("down", down);
            }
            rp::Tensor forward(rp::Tensor x) override
            {
                auto r = down(x);
                return (c1(x) + r).relu_();
            }
        } r;
        CHECK(r(rp::randn({2, 4, 8, 8})).min().item<float>() >= 0.f);
    }
    // Counting parameters.
    {
        nn::Sequential net(nn::Linear(784, 128), nn::ReLU(), nn::Linear(128, 10));
        int64_t n = 0;
        for (const auto& p : net.parameters()) n += p.numel();
        CHECK(n == 784 * 128 + 128 + 1280 + 10);
    }
    // Key() value().
    {
        nn::Linear fc(2, 2);
        std::vector<std::string> names;
        for (const auto& p : fc.named_parameters()) {
            names.push_back(p.key());
            CHECK(p.value().requires_grad());
        }
        CHECK(names == std::vector<std::string>{"weight", "bias"});
    }
    // Structured binding on named_parameters.
    {
        nn::Linear fc(2, 3);
        for (auto& [name, p] : fc.named_parameters()) {
            if (name == "bias") CHECK(p.numel() == 3);
        }
    }
    // Named_parameters lookup.
    {
        nn::Linear fc(2, 3);
        auto params = fc.named_parameters(/*recurse=*/true);
        rp::Tensor w = params["weight"];
        CHECK(w.size(0) == 3 && params.find("nope") == nullptr);
    }
    // Weights copied under no grad.
    {
        nn::Linear a(3, 3), b(3, 3);
        rp::NoGradGuard no_grad;
        auto src = a.named_parameters();
        for (auto& p : b.named_parameters()) p.value().copy_(src[p.key()]);
        CHECK(rp::equal(a.weight, b.weight));
    }
    // State_dict & load_state_dict.
    {
        nn::Linear a(3, 3), b(3, 3);
        b.load_state_dict(a.state_dict());
        auto x = rp::randn({2, 3});
        CHECK(rp::equal(a(x), b(x)));
    }
    // State_dict entries.
    {
        nn::BatchNorm1d bn(2);
        auto sd = bn.state_dict();
        CHECK(sd.size() == 5 && sd["running_var"].sum().item<float>() == 2.f);
    }
    // Load_state_dict non-strict.
    {
        nn::Sequential big(nn::Linear(2, 2), nn::Linear(2, 3)), small(nn::Linear(2, 2));
        big.load_state_dict(small.state_dict(), /*strict=*/false);
        CHECK(rp::equal(big.at<nn::Linear>(0).weight, small.at<nn::Linear>(0).weight));
    }
    // Load_state_dict strict throws.
    {
        nn::Linear a(2, 2), b(3, 3);
        bool threw = false;
        try {
            a.load_state_dict(b.state_dict());
        } catch (const std::exception& e) {
            threw = std::string(e.what()).size() > 5;
        }
        CHECK(threw);
    }
    // Train/eval propagate.
    {
        nn::Sequential net(nn::Linear(2, 2), nn::Dropout(0.5), nn::BatchNorm1d(2));
        net.eval();
        CHECK(!net.is_training());
        net.train();
        CHECK(net.is_training());
        net.train(false);
        CHECK(!net.is_training());
    }
    // Children, modules.
    {
        nn::Sequential net(nn::Linear(2, 2), nn::Sequential(nn::Linear(2, 2), nn::ReLU()));
        CHECK(net.children().size() == 2 && net.modules().size() == 5 &&
              net.modules(/*include_self=*/false).size() == 4);
    }
    // Apply initialisation.
    {
        nn::Sequential net(nn::Linear(2, 2), nn::ReLU(), nn::Linear(2, 1));
        net.apply([](nn::Module& m) {
            if (auto* l = m.as<nn::Linear>()) {
                nn::init::constant_(l->weight, 0.5);
                nn::init::zeros_(l->bias);
            }
        });
        CHECK(near(net(rp::ones({1, 2})).item<float>(), 1.0));
    }
    // Dynamic_cast in apply.
    {
        nn::Sequential net(nn::Conv2d(1, 2, 3), nn::BatchNorm2d(2));
        int convs = 0;
        for (auto& m : net.modules())
            if (dynamic_cast<nn::Conv2d*>(m.get())) ++convs;
        CHECK(convs == 1);
    }
    // To dtype and device.
    {
        nn::Linear fc(2, 2);
        rp::Device device(rp::cuda::is_available() ? rp::kCUDA : rp::kCPU);
        fc.to(device);
        CHECK(fc.weight.device() == device);
    }
    // To dtype.
    {
        nn::Linear fc(2, 2);
        fc.to(rp::kFloat16);
        CHECK(fc.weight.dtype() == rp::kHalf);
    }
    // Zero_grad.
    {
        nn::Linear fc(2, 1);
        fc(rp::ones({1, 2})).sum().backward();
        CHECK(fc.weight.grad().sum().item<float>() == 2.f);
        fc.zero_grad();
        CHECK(!fc.weight.grad().defined() || fc.weight.grad().sum().item<float>() == 0.f);
    }
    // Freeze layers.
    {
        nn::Sequential net(nn::Linear(2, 2), nn::Linear(2, 1));
        for (auto& p : net[0]->parameters()) p.requires_grad_(false);
        net(rp::ones({1, 2})).sum().backward();
        CHECK(!net[0]->parameters()[0].grad().defined() && net[1]->parameters()[0].grad().defined());
    }
    // Set_requires_grad, requires_grad_ of module.
    {
        nn::Linear fc(2, 1);
        fc.weight.set_requires_grad(false);
        nn::Linear other(2, 1);
        other.requires_grad_(false);
        CHECK(!fc.weight.requires_grad() && !other.bias.requires_grad());
    }
    // Optimizer over trainable ones only.
    {
        nn::Sequential net(nn::Linear(2, 2), nn::Linear(2, 1));
        net[0]->parameters()[0].set_requires_grad(false);
        std::vector<rp::Tensor> trainable;
        for (auto& p : net.parameters())
            if (p.requires_grad()) trainable.push_back(p);
        rp::optim::Adam opt(trainable, rp::optim::AdamOptions(1e-3));
        CHECK(trainable.size() == 3);
    }
    // Forward hook.
    {
        nn::Linear fc(2, 2);
        int calls = 0;
        auto handle =
            fc.register_forward_hook([&](nn::Module&, const rp::Tensor&, const rp::Tensor&) { ++calls; });
        fc(rp::ones({1, 2}));
        handle.remove();
        fc(rp::ones({1, 2}));
        CHECK(calls == 1);
    }
    // Pre-hook.
    {
        nn::ReLU relu;
        int calls = 0;
        relu.register_forward_pre_hook([&](auto&&...) { ++calls; });
        relu(rp::ones({1}));
        CHECK(calls == 1);
    }
    // Tensor hook on a weight.
    {
        nn::Linear fc(2, 1);
        fc.weight.register_hook([](rp::Tensor g) { return g * 2; });
        fc(rp::ones({1, 2})).sum().backward();
        CHECK(fc.weight.grad()[0][0].item<float>() == 2.f);
    }
}

TEST(LibtorchModules, RecurrentNetworksAndAttention)
{
    // LSTM outputs.
    {
        nn::LSTM lstm(nn::LSTMOptions(5, 7).num_layers(2).batch_first(true).bidirectional(true));
        auto [out, state] = lstm(rp::randn({3, 6, 5}));
        auto [h, c] = state;
        CHECK(out.sizes() == std::vector<int64_t>{3, 6, 14} && h.size(0) == 4 && c.size(2) == 7);
    }
    // LSTM std::get style with given state.
    {
        nn::LSTM lstm(5, 7);
        auto h0 = rp::zeros({1, 3, 7}), c0 = rp::zeros({1, 3, 7});
        auto r = lstm.forward(rp::randn({4, 3, 5}), std::make_tuple(h0, c0));
        rp::Tensor out = std::get<0>(r);
        rp::Tensor hn = std::get<0>(std::get<1>(r));
        CHECK(rp::allclose(out[-1], hn[0]));
    }
    // GRU.
    {
        nn::GRU gru(nn::GRUOptions(5, 7).num_layers(2).dropout(0.2));
        auto [out, h] = gru(rp::randn({4, 3, 5}));
        CHECK(out.size(2) == 7 && h.size(0) == 2);
        auto [out2, h2] = gru.forward(rp::randn({4, 3, 5}), h);
        CHECK(out2.size(0) == 4 && h2.size(1) == 3);
    }
    // RNN tanh/relu.
    {
        nn::RNN rnn(nn::RNNOptions(3, 4).nonlinearity(rp::kReLU).bias(false));
        auto [y, h] = rnn(rp::randn({2, 1, 3}));
        CHECK(y.min().item<float>() >= 0 && h.size(-1) == 4 && rnn.parameters().size() == 2);
    }
    // Cells.
    {
        nn::LSTMCell cell(3, 4);
        rp::Tensor h = rp::zeros({2, 4}), c = rp::zeros({2, 4});
        for (int t = 0; t < 3; ++t) std::tie(h, c) = cell(rp::randn({2, 3}), std::make_tuple(h, c));
        nn::GRUCell g(3, 4);
        h = g(rp::randn({2, 3}), h);
        CHECK(h.size(1) == 4);
    }
    // MHA self-attention.
    {
        nn::MultiheadAttention mha(nn::MultiheadAttentionOptions(8, 2).dropout(0.0));
        auto x = rp::randn({5, 3, 8});
        auto [out, w] = mha(x, x, x);
        CHECK(out.sizes() == x.sizes() && w.sizes() == std::vector<int64_t>{3, 5, 5} &&
              near(w.sum(-1).mean().item<float>(), 1.0));
    }
    // MHA with masks.
    {
        nn::MultiheadAttention mha(8, 2);
        auto q = rp::randn({4, 2, 8});
        auto pad = rp::zeros({2, 4}, rp::kBool);
        auto causal = rp::triu(rp::ones({4, 4}), 1).to(rp::kBool);
        auto [out, w] = mha.forward(q, q, q, pad, /*need_weights=*/true, causal);
        CHECK(w[0][0][1].item<float>() == 0.f && near(w[0][0][0].item<float>(), 1.0));
    }
    // MHA kdim, vdim, batch_first README style.
    {
        nn::MultiheadAttention mha(8, 4, {.kdim = 5, .vdim = 6, .batch_first = true});
        auto out = std::get<0>(mha(rp::randn({2, 3, 8}), rp::randn({2, 7, 5}), rp::randn({2, 7, 6})));
        CHECK(out.size(1) == 3 && out.size(2) == 8);
    }
    // Encoder layer.
    {
        nn::TransformerEncoderLayer layer(
            nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(32).dropout(0.1).activation(rp::kGELU));
        CHECK(layer(rp::randn({5, 2, 16})).size(2) == 16 && layer.parameters().size() == 12);
    }
    // Encoder stack.
    {
        nn::TransformerEncoderLayer layer(nn::TransformerEncoderLayerOptions(16, 4).dim_feedforward(32));
        nn::TransformerEncoder enc(layer, 2);
        auto mask = nn::Transformer::generate_square_subsequent_mask(5);
        CHECK(enc(rp::randn({5, 2, 16}), mask).size(0) == 5 && std::isinf(mask[0][1].item<float>()) &&
              mask[1][0].item<float>() == 0);
    }
    // README-style encoder layer.
    {
        nn::TransformerEncoderLayer layer(
            16, 4, {.dim_feedforward = 32, .dropout = 0.0, .batch_first = true, .norm_first = true});
        auto x = rp::randn({2, 5, 16});
        layer.eval();
        CHECK(rp::allclose(layer(x), layer(x)));
    }
    // Decoder.
    {
        nn::TransformerDecoderLayer dl(nn::TransformerDecoderLayerOptions(8, 2).dim_feedforward(16));
        nn::TransformerDecoder dec(nn::TransformerDecoderOptions(dl, 2));
        CHECK(dec(rp::randn({3, 2, 8}), rp::randn({5, 2, 8})).size(0) == 3);
    }
    // Full Transformer.
    {
        nn::Transformer t(nn::TransformerOptions(8, 2)
                              .num_encoder_layers(1)
                              .num_decoder_layers(1)
                              .dim_feedforward(16)
                              .dropout(0));
        auto tgt = rp::randn({4, 2, 8});
        auto y = t(rp::randn({6, 2, 8}), tgt, {}, nn::Transformer::generate_square_subsequent_mask(4));
        CHECK(y.sizes() == tgt.sizes());
    }
}

TEST(LibtorchModules, SharedWeights)
{
    // Weight sharing: tied embedding.
    {
        struct Lm : nn::Module {
            nn::Embedding emb{20, 8};
            nn::Linear head{8, 20, {.bias = false}};
            Lm()
            {
                register_module("emb", emb);
                register_module("head", head);
                head.weight = emb.weight;
            }
            rp::Tensor forward(rp::Tensor x) override { return head(emb(x)); }
        } lm;
        auto loss = rp::cross_entropy(lm(rp::tensor({1, 2}, rp::kLong)), rp::tensor({2, 3}, rp::kLong));
        loss.backward();
        CHECK(lm.emb.weight.grad().defined() && rp::equal(lm.emb.weight, lm.head.weight));
    }
    // The same layer used twice.
    {
        nn::Linear fc(3, 3);
        fc(fc(rp::ones({1, 3}))).sum().backward();
        CHECK(fc.bias.grad().numel() == 3);
    }
    // Printing tensor, sizes, dtype, device.
    {
        nn::Conv2d c(1, 2, 3);
        std::ostringstream s;
        s << c << '\n' << c.weight << '\n' << c.weight.sizes() << c.weight.dtype() << c.weight.device();
        CHECK(s.str().find("[2, 1, 3, 3]") != std::string::npos);
    }
}

} // namespace
