// Modules as libtorch's users write them, with PyTorch's results: layers and containers.
#include "libtorch.hpp"

namespace {

TEST(LibtorchLayers, Layers)
{
    // Linear.
    {
        nn::Linear fc(3, 2);
        rp::Tensor y = fc(rp::randn({4, 3}));
        CHECK(y.sizes()[0] == 4 && y.size(-1) == 2 && fc.weight.size(0) == 2 && fc.bias.dim() == 1);
    }
    // Linear without bias.
    {
        nn::Linear fc(nn::LinearOptions(3, 2).bias(false));
        CHECK(fc.parameters().size() == 1 && !fc.bias.defined());
    }
    // README style.
    {
        nn::Linear fc(3, 2, {.bias = false});
        CHECK(fc.named_parameters().size() == 1);
    }
    // Conv on ones.
    {
        nn::Conv2d conv(nn::Conv2dOptions(1, 1, 3).padding(1).bias(false));
        nn::init::ones_(conv.weight);
        rp::Tensor y = conv(rp::ones({1, 1, 4, 4}));
        CHECK(y[0][0][0][0].item<float>() == 4.f && y[0][0][1][1].item<float>() == 9.f);
    }
    // Conv stride as braces.
    {
        nn::Conv2d conv(nn::Conv2dOptions(3, 8, {3, 5}).stride({2, 1}).padding({1, 2}));
        auto y = conv(rp::randn({2, 3, 8, 8}));
        CHECK(y.sizes() == std::vector<int64_t>({2, 8, 4, 8}));
    }
    // Plain three numbers.
    {
        nn::Conv2d conv(3, 16, 5);
        CHECK(conv.forward(rp::zeros({1, 3, 32, 32})).size(3) == 28);
    }
    // Groups, depthwise, padding same.
    {
        nn::Conv2d dw(nn::Conv2dOptions(8, 8, 3).groups(8).padding(1));
        nn::Conv2d pw(8, 16, {.kernel_size = 1});
        CHECK(pw(dw(rp::randn({1, 8, 5, 5}))).size(1) == 16 && dw.weight.size(1) == 1);
    }
    // Padding same, dilation.
    {
        nn::Conv2d c(nn::Conv2dOptions(1, 2, 3).padding(rp::kSame).dilation(2));
        CHECK(c(rp::randn({1, 1, 7, 7})).size(2) == 7);
    }
    // Conv padding mode.
    {
        nn::Conv2d c(1, 1, {.kernel_size = 3, .padding = 1, .padding_mode = rp::kReflect});
        CHECK(c(rp::randn({1, 1, 5, 5})).size(-2) == 5);
    }
    // Conv1d causal.
    {
        nn::Conv1d c(nn::Conv1dOptions(4, 6, 3).stride(1).padding(2).dilation(1));
        auto y = c(rp::randn({2, 4, 10}));
        y = y.slice(2, 0, 10);
        CHECK(y.size(2) == 10);
    }
    // Conv3d.
    {
        nn::Conv3d c(nn::Conv3dOptions(1, 2, 3).padding(1));
        CHECK(c(rp::randn({1, 1, 4, 5, 6})).sizes() == std::vector<int64_t>{1, 2, 4, 5, 6});
    }
    // Transposed conv.
    {
        nn::ConvTranspose2d up(nn::ConvTranspose2dOptions(8, 4, 4).stride(2).padding(1).bias(false));
        auto y = up(rp::randn({1, 8, 7, 7}));
        CHECK(y.size(2) == 14 && y.size(3) == 14);
    }
    // Transposed conv output padding, README style.
    {
        nn::ConvTranspose2d up(8, 4, {.kernel_size = 3, .stride = 2, .padding = 1, .output_padding = 1});
        CHECK(up(rp::randn({1, 8, 7, 7})).size(-1) == 14);
    }
    // Transposed conv 1d.
    {
        nn::ConvTranspose1d up(nn::ConvTranspose1dOptions(2, 3, 2).stride(2));
        CHECK(up(rp::randn({1, 2, 5})).size(2) == 10);
    }
    // Batchnorm running stats.
    {
        nn::BatchNorm1d bn(3);
        bn(rp::full({4, 3}, 2.0));
        CHECK(near(bn.running_mean[0].item<float>(), 0.2) && near(bn.running_var[0].item<float>(), 0.9));
    }
    // Batchnorm eval.
    {
        nn::BatchNorm2d bn(
            nn::BatchNorm2dOptions(4).eps(1e-5).momentum(0.1).affine(true).track_running_stats(true));
        bn.eval();
        auto x = rp::randn({2, 4, 3, 3});
        CHECK(rp::allclose(bn(x), x, 1e-4, 1e-4));
    }
    // Number of batches tracked.
    {
        nn::BatchNorm2d bn(4);
        bn(rp::randn({2, 4, 3, 3}));
        bn(rp::randn({2, 4, 3, 3}));
        CHECK(bn.num_batches_tracked.item<int64_t>() == 2 && bn.buffers().size() == 3);
    }
    // Layernorm.
    {
        nn::LayerNorm ln(nn::LayerNormOptions({8}));
        auto y = ln(rp::randn({2, 4, 8}) * 3 + 1);
        CHECK(near(y.mean(-1).abs().max().item<float>(), 0.0, 1e-4) &&
              near(y.var(-1, false).mean().item<float>(), 1.0, 1e-2));
    }
    // Layernorm README style with plain number.
    {
        nn::LayerNorm ln(8, {.eps = 1e-6});
        CHECK(ln(rp::ones({2, 8})).abs().sum().item<float>() < 1e-3);
    }
    // Layernorm no affine.
    {
        nn::LayerNorm ln(nn::LayerNormOptions({4, 8}).elementwise_affine(false));
        CHECK(ln.parameters().empty() && ln(rp::randn({2, 4, 8})).dim() == 3);
    }
    // Groupnorm.
    {
        nn::GroupNorm gn(nn::GroupNormOptions(2, 6).eps(1e-5));
        auto y = gn(rp::randn({3, 6, 4, 4}));
        CHECK(near(y.mean().item<double>(), 0.0, 1e-4) && gn.weight.numel() == 6);
    }
    // Groupnorm two numbers.
    {
        nn::GroupNorm gn(4, 8);
        CHECK(gn.forward(rp::randn({1, 8, 2, 2})).numel() == 32);
    }
    // Instance norm.
    {
        nn::InstanceNorm2d in(nn::InstanceNorm2dOptions(3).affine(true));
        CHECK(near(in(rp::randn({2, 3, 8, 8})).mean().item<float>(), 0, 1e-4));
    }
    // Embedding.
    {
        nn::Embedding emb(10, 4);
        auto y = emb(rp::tensor({1, 2, 3}, rp::kLong));
        CHECK(y.size(0) == 3 && y.size(1) == 4 && rp::equal(y[0], emb.weight[1]));
    }
    // Padding idx.
    {
        nn::Embedding emb(nn::EmbeddingOptions(10, 4).padding_idx(0));
        CHECK(emb.weight[0].abs().sum().item<float>() == 0.f);
        auto y = emb(rp::zeros({2, 3}, rp::kInt64));
        CHECK(y.sizes().size() == 3);
    }
    // From pretrained.
    {
        auto w = rp::arange(12.0).view({4, 3});
        auto emb = nn::Embedding::from_pretrained(w, nn::EmbeddingFromPretrainedOptions().freeze(true));
        CHECK(!emb.weight.requires_grad() && emb(rp::tensor({2}, rp::kLong))[0][0].item<float>() == 6.f);
    }
    // EmbeddingBag.
    {
        nn::EmbeddingBag bag(nn::EmbeddingBagOptions(10, 3).mode(rp::kSum));
        auto y = bag(rp::tensor({1, 2, 4, 5}, rp::kLong), rp::tensor({0, 2}, rp::kLong));
        CHECK(y.size(0) == 2 && rp::allclose(y[0], bag.weight[1] + bag.weight[2]));
    }
    // Dropout modes.
    {
        nn::Dropout drop(0.5);
        auto x = rp::ones({1000});
        auto y = drop(x);
        CHECK(((y == 0) | (y == 2)).all().item<bool>());
        drop.eval();
        CHECK(rp::equal(drop(x), x));
    }
    // Dropout options.
    {
        nn::Dropout drop(nn::DropoutOptions().p(0.1).inplace(false));
        nn::Dropout2d drop2(nn::Dropout2dOptions(0.3));
        CHECK(drop2(rp::ones({2, 3, 4, 4})).dim() == 4 && drop.is_training());
    }
    // Pooling.
    {
        nn::MaxPool2d pool(nn::MaxPool2dOptions({2, 2}).stride({2, 2}));
        auto y = pool(rp::arange(16, rp::kFloat).reshape({1, 1, 4, 4}));
        CHECK(y.flatten()[0].item<float>() == 5 && y.flatten()[3].item<float>() == 15);
    }
    // Pooling plain.
    {
        nn::MaxPool2d pool(2);
        nn::AvgPool2d avg(nn::AvgPool2dOptions(3).stride(1).padding(1).count_include_pad(false));
        auto y = avg(pool(rp::ones({1, 1, 8, 8})));
        CHECK(near(y[0][0][0][0].item<float>(), 1.0));
    }
    // Adaptive.
    {
        nn::AdaptiveAvgPool2d pool(nn::AdaptiveAvgPool2dOptions({1, 1}));
        auto x = rp::randn({2, 3, 5, 7});
        CHECK(rp::allclose(pool(x).flatten(1), x.mean({2, 3}), 1e-4, 1e-5));
    }
    // Adaptive scalar, max.
    {
        nn::AdaptiveMaxPool2d mp(2);
        nn::AdaptiveAvgPool1d ap(4);
        CHECK(mp(rp::randn({1, 2, 7, 7})).size(-1) == 2 && ap(rp::randn({1, 2, 8})).size(-1) == 4);
    }
    // With indices and unpool.
    {
        nn::MaxPool2d pool(nn::MaxPool2dOptions(2).stride(2));
        nn::MaxUnpool2d unpool(nn::MaxUnpool2dOptions(2).stride(2));
        auto [y, idx] = pool.forward_with_indices(rp::rand({1, 1, 4, 4}));
        CHECK(unpool(y, idx).size(2) == 4);
    }
}

TEST(LibtorchLayers, Containers)
{
    // Sequential of many.
    {
        nn::Sequential net(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 2));
        auto y = net(rp::randn({3, 4}));
        CHECK(y.size(1) == 2 && net.parameters().size() == 4 && net.size() == 3);
    }
    // Libtorch arrow-forward on value.
    {
        nn::Sequential net(nn::Conv2d(nn::Conv2dOptions(1, 4, 3).padding(1)), nn::BatchNorm2d(4),
                           nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.2)), nn::Flatten(),
                           nn::Linear(4 * 8 * 8, 10));
        CHECK(net.forward(rp::randn({2, 1, 8, 8})).size(1) == 10);
    }
    // Push_back.
    {
        nn::Sequential net;
        for (int i = 0; i < 3; ++i) {
            net.push_back(nn::Linear(4, 4));
            net.push_back(nn::Tanh());
        }
        CHECK(net.size() == 6 && net(rp::zeros({1, 4})).numel() == 4 && !net.is_empty());
    }
    // Named push_back, names.
    {
        nn::Sequential net;
        net.push_back("fc1", nn::Linear(4, 4));
        net.push_back("act", nn::GELU());
        net.push_back("fc2", nn::Linear(4, 1));
        CHECK(net.named_parameters()[0].key() == "fc1.weight" && net.named_children().contains("fc2"));
    }
    // Named in braces.
    {
        nn::Sequential net({{"fc1", nn::Linear(4, 8)}, {"relu", nn::ReLU()}, {"fc2", nn::Linear(8, 2)}});
        CHECK(net.named_parameters().contains("fc1.weight"));
    }
    // Element access.
    {
        nn::Sequential net(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 2));
        nn::Linear& last = net.at<nn::Linear>(2);
        CHECK(last.weight.size(0) == 2);
    }
    // Element pointer.
    {
        nn::Sequential net(nn::Linear(4, 8), nn::ReLU());
        CHECK(net[0]->parameters().size() == 2 && net.ptr(1)->parameters().empty());
    }
    // Iterate a Sequential.
    {
        nn::Sequential net(nn::Linear(4, 8), nn::ReLU(), nn::Linear(8, 2));
        rp::Tensor x = rp::randn({1, 4});
        for (auto& layer : net) x = layer.forward(x);
        CHECK(x.size(1) == 2);
    }
    // ModuleList constructor & index.
    {
        nn::ModuleList list(nn::Linear(3, 4), nn::BatchNorm1d(4), nn::Dropout(0.5));
        CHECK(list.size() == 3 && list[0]->as<nn::Linear>()->weight.size(0) == 4);
    }
    // Loops over *list, as libtorch's modules are pointers.
    {
        nn::ModuleList list(nn::Linear(3, 4), nn::ReLU());
        nn::Sequential net(nn::Linear(3, 4), nn::ReLU());
        auto x = rp::ones({2, 3}), y = x;
        for (const auto& layer : *list) x = layer->forward(x);
        for (const auto& layer : *net) y = layer->forward(y);
        CHECK(x.size(1) == 4 && y.size(1) == 4 && (*net)(rp::ones({2, 3})).size(1) == 4);
    }
    // ModuleList in index loop (Python style).
    {
        nn::ModuleList blocks;
        for (int i = 0; i < 2; i++) blocks.push_back(nn::Linear(8, 8));
        rp::Tensor x = rp::randn({2, 8});
        for (size_t i = 0; i < blocks.size(); i++) x = x + blocks.at<nn::Linear>(i)(x);
        CHECK(x.size(1) == 8);
    }
    // ModuleList extend/insert.
    {
        nn::ModuleList a(nn::Linear(1, 2)), b(nn::Linear(2, 3), nn::Linear(3, 4));
        a.extend(b);
        a.insert(0, nn::Linear(1, 1));
        CHECK(a.size() == 4);
    }
    // ModuleDict.
    {
        nn::ModuleDict heads;
        heads.insert("cls", nn::Linear(8, 10));
        heads.insert("reg", nn::Linear(8, 1));
        CHECK(heads.contains("cls") && heads.size() == 2 && heads["reg"]->parameters().size() == 2);
    }
    // ModuleDict braces, keys.
    {
        nn::ModuleDict d({{"conv", nn::Conv2d(1, 2, 3).ptr()}, {"fc", nn::Linear(2, 2).ptr()}});
        CHECK(d.keys() == std::vector<std::string>{"conv", "fc"});
    }
    // ParameterList.
    {
        nn::ParameterList ps;
        ps.append(rp::randn({2, 2}));
        ps.append(rp::zeros({3}));
        CHECK(ps.size() == 2 && ps[1].numel() == 3 && ps.parameters().size() == 2);
    }
    // ParameterDict.
    {
        nn::ParameterDict ps;
        ps.insert("alpha", rp::ones({1}));
        CHECK(ps.contains("alpha") && ps["alpha"].item<float>() == 1.f);
    }
}

} // namespace
