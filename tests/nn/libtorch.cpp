// Modules as code for libtorch spells them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;
namespace F = nn::functional;

struct NetImpl : nn::Module {
    nn::Linear fc{nullptr};
    explicit NetImpl(std::int64_t outputs = 2) { fc = register_module("fc", nn::Linear(3, outputs)); }
    Tensor forward(Tensor x) override { return fc->forward(x); }
};
REPRISE_MODULE(Net);

struct Outer : nn::Module {
    Net net{nullptr};
    Outer() { net = register_module("net", Net(5)); }
    Tensor forward(Tensor x) override { return net(x); }
};

TEST(Libtorch, MakesModulesFromOptionsThatAreSetByCalls)
{
    nn::Conv2d conv(nn::Conv2dOptions(2, 8, 3).stride(2).padding({1, 0}).bias(false).groups(2));
    EXPECT_EQ(conv.weight.shape(), (Shape{8, 1, 3, 3}));
    EXPECT_EQ(conv(ones({1, 2, 5, 5})).shape(), (Shape{1, 8, 3, 2}));
    EXPECT_EQ(conv.parameters().size(), 1u);
    EXPECT_EQ(nn::Conv1d(nn::Conv1dOptions(1, 1, 3).padding(kSame))(ones({1, 1, 4})).size(2), 4);
    EXPECT_EQ(
        nn::ConvTranspose2d(nn::ConvTranspose2dOptions(1, 2, 4).stride(2).padding(1))(ones({1, 1, 3, 3}))
            .shape(),
        (Shape{1, 2, 6, 6}));
    EXPECT_EQ(nn::Linear(nn::LinearOptions(3, 4).bias(false)).parameters().size(), 1u);
    EXPECT_EQ(nn::BatchNorm2d(nn::BatchNorm2dOptions(4).momentum(0.2).affine(false)).buffers().size(), 3u);
    EXPECT_EQ(nn::LayerNorm(nn::LayerNormOptions({4, 2}).elementwise_affine(false)).parameters().size(), 0u);
    EXPECT_EQ(nn::GroupNorm(nn::GroupNormOptions(2, 4).eps(1e-3)).parameters().size(), 2u);
    EXPECT_EQ(nn::LSTM(nn::LSTMOptions(2, 3).num_layers(2).batch_first(true).bidirectional(true))
                  .parameters()
                  .size(),
              16u);
    EXPECT_EQ(nn::Embedding(nn::EmbeddingOptions(4, 2).padding_idx(1)).weight[1].abs().sum().item<float>(),
              0);
    EXPECT_EQ(nn::MaxPool2d(nn::MaxPool2dOptions({2, 1}).stride(2))(ones({1, 4, 4})).shape(),
              (Shape{1, 2, 2}));
    EXPECT_EQ(nn::AdaptiveAvgPool2d(nn::AdaptiveAvgPool2dOptions({1, 2}))(ones({1, 4, 4})).shape(),
              (Shape{1, 1, 2}));
    EXPECT_EQ(nn::ReLU(nn::ReLUOptions(true))(tensor({-1.f})).item<float>(), 0);
    EXPECT_EQ(nn::LeakyReLU(nn::LeakyReLUOptions().negative_slope(0.5))(tensor({-1.f})).item<float>(), -0.5f);
    EXPECT_EQ(nn::MSELoss(nn::MSELossOptions(kSum))(ones({2}), zeros({2})).item<float>(), 2);
    EXPECT_EQ(nn::L1Loss(nn::L1LossOptions().reduction("none"))(ones({2}), zeros({2})).shape(), (Shape{2}));
    EXPECT_EQ(nn::Unflatten(nn::UnflattenOptions(1, {2, 3}))(ones({4, 6})).shape(), (Shape{4, 2, 3}));
    const nn::Conv2dOptions options = nn::Conv2dOptions(1, 2, 3).stride(2);
    EXPECT_EQ(options.stride()[0], 2);
    EXPECT_EQ(options.out_channels(), 2);
    const auto shared = std::make_shared<nn::Conv2d>(options);
    EXPECT_EQ(nn::make<nn::Conv2d>(options)->weight.shape(), shared->weight.shape());
    EXPECT_THAT(error_of([] { nn::Dropout drop(nn::DropoutOptions(2)); }).text, HasSubstr("(2)"));
}

TEST(Libtorch, CallsFunctionsWithOptionsThatAreSetByCalls)
{
    const Tensor x = ones({1, 1, 4, 4}), w = ones({1, 1, 3, 3});
    EXPECT_EQ(F::conv2d(x, w, F::Conv2dFuncOptions().padding(1).bias(ones({1})))[0][0][0][0].item<float>(),
              5);
    EXPECT_EQ(F::conv2d(x, w, {}).shape(), (Shape{1, 1, 2, 2})); // no ambiguity
    EXPECT_EQ(F::conv_transpose2d(x, w, F::ConvTranspose2dFuncOptions().stride(2)).size(2), 9);
    EXPECT_EQ(F::max_pool2d(x, F::MaxPool2dFuncOptions(2).stride(1)).size(2), 3);
    EXPECT_EQ(F::interpolate(x, F::InterpolateFuncOptions().size({8, 6}).mode(kBilinear)).size(3), 6);
    EXPECT_EQ(F::pad(x, F::PadFuncOptions({1, 0, 0, 0}).mode(kReplicate)).size(3), 5);
    EXPECT_EQ(F::pad(x, F::PadFuncOptions({1, 0}).value(3))[0][0][0][0].item<float>(), 3);
    EXPECT_EQ(F::softmax(x, F::SoftmaxFuncOptions(3))[0][0][0][0].item<float>(), 0.25f);
    EXPECT_EQ(F::normalize(x, F::NormalizeFuncOptions().p(1).dim(3))[0][0][0][0].item<float>(), 0.25f);
    EXPECT_EQ(F::dropout(x, F::DropoutFuncOptions().p(0.5).training(false)).sum().item<float>(), 16);
    EXPECT_EQ(F::leaky_relu(-x, F::LeakyReLUFuncOptions().negative_slope(0.5))[0][0][0][0].item<float>(),
              -0.5f);
    EXPECT_EQ(F::gelu(x, F::GELUFuncOptions().approximate("tanh")).shape(), x.shape());
    EXPECT_EQ(F::glu(x, F::GLUFuncOptions(2)).size(2), 2);
    EXPECT_EQ(F::unfold(x, F::UnfoldFuncOptions(2).stride(2)).shape(), (Shape{1, 4, 4}));
    EXPECT_EQ(F::layer_norm(x, F::LayerNormFuncOptions({4}).eps(1e-3)).sum().item<float>(), 0);
    EXPECT_EQ(
        F::batch_norm(x, zeros({1}), ones({1}), F::BatchNormFuncOptions().eps(0))[0][0][0][0].item<float>(),
        1);
    EXPECT_EQ(F::mse_loss(x, 2 * x, F::MSELossFuncOptions(kSum)).item<float>(), 16);
    EXPECT_NEAR(
        F::cross_entropy(zeros({2, 4}), tensor({1, -100}), F::CrossEntropyFuncOptions().reduction(kSum))
            .item<float>(),
        std::log(4.0), 1e-6);
    EXPECT_EQ(F::kl_div(zeros({2, 3}), zeros({2, 3}), F::KLDivFuncOptions(kBatchMean)).item<float>(), 0);
}

TEST(Libtorch, NamesTheOptionsOfEachModuleInBraces)
{
    EXPECT_EQ(nn::MSELoss({.reduction = kSum})(ones({2}), zeros({2})).item<float>(), 2);
    EXPECT_EQ(nn::SmoothL1Loss({.beta = 0.5})(ones({1}), zeros({1})).item<float>(), 0.75f);
    EXPECT_EQ(nn::HuberLoss({.delta = 0.5})(ones({1}), zeros({1})).item<float>(), 0.375f);
    EXPECT_NEAR(nn::BCEWithLogitsLoss({.pos_weight = full({1}, 3)})(zeros({1}), ones({1})).item<float>(),
                3 * std::log(2.0), 1e-5);
    EXPECT_EQ(nn::KLDivLoss({.reduction = "batchmean", .log_target = true})(zeros({2, 3}), zeros({2, 3}))
                  .item<float>(),
              0);
    EXPECT_EQ(nn::MarginRankingLoss({.margin = 0.5})(ones({1}), ones({1}), ones({1})).item<float>(), 0.5f);
    EXPECT_EQ(nn::LeakyReLU({.negative_slope = 0.5})(tensor({-1.f})).item<float>(), -0.5f);
    EXPECT_EQ(nn::ReLU({.inplace = true})(tensor({-1.f})).item<float>(), 0);
    EXPECT_EQ(nn::Softmax({.dim = 1})(zeros({1, 2}))[0][0].item<float>(), 0.5f);
    EXPECT_EQ(nn::PReLU({.num_parameters = 3}).weight.size(0), 3);
    EXPECT_EQ(nn::Dropout({.p = 0})(ones({2})).sum().item<float>(), 2);
    EXPECT_EQ(nn::MaxPool2d({.kernel_size = 3, .stride = 2, .padding = 1})(ones({1, 6, 6})).size(1), 3);
    EXPECT_EQ(nn::MaxPool2d({3, 2})(ones({1, 6, 6})).shape(), (Shape{1, 2, 3})); // the kernel's two sizes
    EXPECT_EQ(nn::MaxPool2d(3, 2, 1)(ones({1, 6, 6})).size(1), 3);
    EXPECT_EQ(nn::Conv2d(1, 2, {3, 5}).weight.shape(), (Shape{2, 1, 3, 5}));
    EXPECT_EQ(nn::Conv2d(1, 2, 3, 2, 1)(ones({1, 4, 4})).shape(), (Shape{2, 2, 2}));
    const float approximate = nn::GELU("tanh")(tensor({1.f})).item<float>();
    EXPECT_EQ(nn::GELU({.approximate = "tanh"})(tensor({1.f})).item<float>(), approximate);
    EXPECT_NEAR(approximate, 0.841192f, 1e-6);
    EXPECT_EQ(nn::RNN(2, 3, {.nonlinearity = "relu"}).parameters().size(), 4u);
    EXPECT_EQ(nn::TransformerEncoderLayer(4, 2, {.activation = "gelu"}).parameters().size(), 12u);
    EXPECT_THAT(error_of([] { nn::MSELoss loss("average"); }).text, HasSubstr("(average)"));
}

TEST(Libtorch, ReachesModulesThroughArrows)
{
    nn::Sequential net({{"fc", nn::Linear(3, 4)}, {"act", nn::ReLU()}});
    net->push_back("last", nn::Linear(4, 2));
    net.append(nn::Tanh());
    EXPECT_THAT(net.named_children().keys(), ElementsAre("fc", "act", "last", "3"));
    EXPECT_EQ(net[0]->as<nn::Linear>()->weight.shape(), (Shape{4, 3}));
    EXPECT_EQ(net.ptr(2)->parameters().size(), 2u);
    EXPECT_FALSE(net.is_empty());
    Tensor by_value = ones({1, 3}), by_arrow = by_value;
    for (auto& layer : net) by_value = layer.forward(by_value);
    for (auto& layer : net) by_arrow = layer->forward(by_arrow);
    EXPECT_EQ(by_value.to_vector<float>(), net(ones({1, 3})).to_vector<float>());
    EXPECT_EQ(by_arrow.to_vector<float>(), by_value.to_vector<float>());
    EXPECT_EQ(net.modules().size(), 5u);
    EXPECT_EQ(net.modules(false).size(), 4u);
    int linear = 0;
    for (auto& m : net.modules()) linear += dynamic_cast<nn::Linear*>(m.get()) != nullptr;
    EXPECT_EQ(linear, 2);
    EXPECT_EQ(error_of([&] { net.push_back("fc", nn::ReLU()); }).kind, ErrorKind::argument);

    nn::ModuleList list(nn::Linear(1, 2)), more(nn::Linear(2, 3), nn::ReLU());
    list->extend(more);
    list.insert(0, nn::Linear(1, 1));
    EXPECT_EQ(list->size(), 4u);
    EXPECT_EQ(list[2]->as<nn::Linear>()->weight.size(0), 3);
    nn::ModuleDict dict({{"a", nn::Conv2d(1, 2, 3).ptr()}, {"b", nn::Linear(2, 2)}});
    EXPECT_EQ(dict["b"]->parameters().size(), 2u);
    EXPECT_THAT(dict.keys(), ElementsAre("a", "b"));
}

TEST(Libtorch, HoldsModulesBehindPointers)
{
    Net net, shared = net;
    EXPECT_EQ(net->parameters().size(), 2u);
    EXPECT_EQ(&*net, &*shared);
    EXPECT_EQ(net(ones({1, 3})).shape(), (Shape{1, 2}));
    Outer outer;
    EXPECT_THAT(outer.named_parameters().keys(), ElementsAre("net.fc.weight", "net.fc.bias"));
    EXPECT_EQ(outer(ones({1, 3})).shape(), (Shape{1, 5}));
    EXPECT_EQ(nn::Sequential(Net(3), nn::ReLU())(ones({1, 3})).shape(), (Shape{1, 3}));
    const auto made = std::make_shared<Outer>();
    EXPECT_EQ(made->forward(ones({1, 3})).size(1), 5);
}

TEST(Libtorch, GivesTuplesOfStates)
{
    nn::LSTM lstm(2, 3);
    const Tensor x = ones({4, 1, 2}), h = zeros({1, 1, 3}), c = zeros({1, 1, 3});
    auto [out, state] = lstm->forward(x);
    auto [last, cell] = state;
    EXPECT_EQ(out.shape(), (Shape{4, 1, 3}));
    const auto given = lstm(x, std::make_tuple(h, c));
    EXPECT_EQ(std::get<0>(given).to_vector<float>(), out.to_vector<float>());
    EXPECT_EQ(std::get<1>(std::get<1>(given)).to_vector<float>(), cell.to_vector<float>());
    Tensor h1, c1;
    nn::LSTMCell step(2, 3);
    std::tie(h1, c1) = step(ones({1, 2}), std::make_tuple(zeros({1, 3}), zeros({1, 3})));
    EXPECT_EQ(c1.shape(), (Shape{1, 3}));
    Tensor o, h_n;
    std::tie(o, h_n) = nn::GRU(2, 3)(x);
    EXPECT_EQ(h_n.shape(), (Shape{1, 1, 3}));
    EXPECT_EQ(nn::Sequential(nn::LSTM(2, 3))(x).shape(), (Shape{4, 1, 3})); // the output alone
}

TEST(Libtorch, KeepsParametersInListsAndDictionaries)
{
    nn::ParameterList list;
    list.append(ones({2})).append(zeros({3, 1}));
    EXPECT_EQ(list[-1].numel(), 3);
    EXPECT_THAT(list.named_parameters().keys(), ElementsAre("0", "1"));
    EXPECT_TRUE(list[0].requires_grad());
    EXPECT_EQ(error_of([&] { list[2]; }).kind, ErrorKind::argument);
    nn::ParameterDict dict;
    dict.insert("alpha", ones({1}));
    EXPECT_TRUE(dict.contains("alpha"));
    EXPECT_EQ(dict["alpha"].item<float>(), 1);
    EXPECT_EQ(dict.parameters().size(), 1u);
}

TEST(Libtorch, ConvertsModulesByName)
{
    nn::Linear fc(2, 2);
    sum(fc(ones({1, 2}))).backward();
    fc.zero_grad(false);
    EXPECT_EQ(fc.weight.grad().abs().sum().item<float>(), 0);
    fc.zero_grad();
    EXPECT_FALSE(fc.weight.grad().defined());
    fc.half().to(f32).cpu();
    EXPECT_EQ(fc.weight.device().name(), "reference");
    fc.to("reference");
    EXPECT_EQ(fc.bias.device().name(), "reference");
    EXPECT_THAT(error_of([] { nn::BatchNorm1d(3)(ones({2, 3, 4, 4})); }).text, HasSubstr("give (2) or (3)."));
}

} // namespace
