// Modules as libtorch's users write them, with PyTorch's results: activations, initial values, losses.
#include "libtorch.hpp"

namespace {

TEST(LibtorchLosses, ActivationsAndInitialValues)
{
    // Gelu approximate, silu, mish, softplus, elu, selu, hardtanh....
    {
        auto x = rp::tensor({1.0f});
        CHECK(near(nn::GELU(nn::GELUOptions().approximate("tanh"))(x).item<float>(), 0.841192));
        CHECK(near(nn::SiLU()(x).item<float>(), 0.731059) && near(nn::Mish()(x).item<float>(), 0.865098));
        CHECK(near(nn::Softplus()(x).item<float>(), 1.313262) &&
              near(nn::Sigmoid()(x).item<float>(), 0.731059));
    }
    // Activations with options.
    {
        auto x = rp::tensor({-1.0f, 3.0f, 8.0f});
        nn::ELU elu(nn::ELUOptions().alpha(2.0));
        nn::Hardtanh ht(nn::HardtanhOptions().min_val(-0.5).max_val(2));
        CHECK(near(elu(x)[0].item<float>(), -1.264241) && ht(x)[1].item<float>() == 2.f &&
              nn::ReLU6()(x)[2].item<float>() == 6.f);
    }
    // Softmax modules.
    {
        nn::Softmax sm(/*dim=*/-1);
        nn::LogSoftmax lsm(nn::LogSoftmaxOptions(1));
        auto x = rp::randn({2, 5});
        CHECK(rp::allclose(sm(x).log(), lsm(x), 1e-4, 1e-5));
    }
    // GLU, Softshrink, Threshold.
    {
        CHECK(nn::GLU(nn::GLUOptions(1))(rp::randn({2, 6})).size(1) == 3);
        CHECK(near(nn::Softshrink(0.5)(rp::tensor({2.0f})).item<float>(), 1.5));
        CHECK(nn::Threshold(0.1, 20)(rp::tensor({0.0f})).item<float>() == 20.f);
    }
    // Flatten/Unflatten/Identity.
    {
        nn::Flatten fl;
        nn::Unflatten un(nn::UnflattenOptions(1, {2, 3}));
        auto x = rp::randn({2, 6});
        CHECK(un(x).sizes() == std::vector<int64_t>{2, 2, 3} && fl(un(x)).size(1) == 6 &&
              rp::equal(nn::Identity()(x), x));
    }
    // Upsample.
    {
        nn::Upsample up(nn::UpsampleOptions()
                            .scale_factor(std::vector<double>({2, 2}))
                            .mode(rp::kBilinear)
                            .align_corners(false));
        CHECK(up(rp::randn({1, 1, 4, 4})).size(-1) == 8);
    }
    // Upsample README style, nearest.
    {
        nn::Upsample up({.scale_factor = 2});
        auto y = up(rp::arange(4, rp::kFloat32).view({1, 1, 2, 2}));
        CHECK(y[0][0][1][1].item<float>() == 0 && y[0][0][3][3].item<float>() == 3);
    }
    // Pads, pixelshuffle.
    {
        nn::ReflectionPad2d rpad(1);
        nn::ZeroPad2d zpad(nn::ZeroPad2dOptions({1, 0, 2, 0}));
        nn::ConstantPad1d cpad(nn::ConstantPad1dOptions(2, 3.5));
        nn::PixelShuffle ps(2);
        CHECK(rpad(rp::randn({1, 1, 3, 3})).size(2) == 5 && zpad(rp::ones({1, 1, 2, 2})).size(2) == 4);
        CHECK(cpad(rp::zeros({1, 1, 2}))[0][0][0].item<float>() == 3.5f &&
              ps(rp::randn({1, 8, 2, 2})).size(1) == 2);
    }
    // Bilinear, cosine similarity, pairwise.
    {
        nn::Bilinear bl(3, 4, 2);
        CHECK(bl(rp::randn({5, 3}), rp::randn({5, 4})).size(1) == 2);
        nn::CosineSimilarity cs(nn::CosineSimilarityOptions().dim(1));
        auto a = rp::randn({2, 3});
        CHECK(near(cs(a, a * 2)[0].item<float>(), 1.0) &&
              near(nn::PairwiseDistance()(a, a)[0].item<float>(), 0.0, 1e-4));
    }
    // Local response norm, fold, unfold.
    {
        nn::LocalResponseNorm lrn(nn::LocalResponseNormOptions(2));
        nn::Unfold uf(nn::UnfoldOptions({2, 2}).stride(2));
        nn::Fold fo(nn::FoldOptions({4, 4}, {2, 2}).stride(2));
        auto x = rp::randn({1, 3, 4, 4});
        CHECK(lrn(x).size(1) == 3 && uf(x).size(1) == 12 && rp::allclose(fo(uf(x)), x));
    }
    // Init functions.
    {
        auto w = rp::empty({64, 32});
        nn::init::xavier_uniform_(w);
        CHECK(w.abs().max().item<float>() <= std::sqrt(6.0 / 96) + 1e-6);
        nn::init::normal_(w, 0.0, 0.02);
        CHECK(w.std().item<float>() < 0.03);
        nn::init::uniform_(w, -0.1, 0.1);
        CHECK(w.max().item<float>() <= 0.1f);
    }
    // Kaiming with enums.
    {
        nn::Conv2d c(3, 64, 3);
        nn::init::kaiming_normal_(c.weight, 0, rp::kFanOut, rp::kReLU);
        CHECK(near(c.weight.std().item<float>(), std::sqrt(2.0 / (64 * 9)), 0.2));
    }
    // Kaiming_uniform default & a.
    {
        nn::Linear l(16, 8);
        nn::init::kaiming_uniform_(l.weight, /*a=*/std::sqrt(5.0));
        nn::init::xavier_normal_(l.weight, nn::init::calculate_gain(rp::kTanh));
        CHECK(near(nn::init::calculate_gain(rp::kReLU), std::sqrt(2.0)));
    }
    // Orthogonal, eye, trunc_normal.
    {
        auto w = rp::empty({4, 4});
        nn::init::orthogonal_(w);
        CHECK(rp::allclose(w.mm(w.t()), rp::eye(4), 1e-3, 1e-4));
        nn::init::eye_(w);
        CHECK(w.trace().item<float>() == 4.f);
        nn::init::trunc_normal_(w, 0.0, 1.0, -2.0, 2.0);
        CHECK(w.abs().max().item<float>() <= 2.f);
    }
    // Init by loop over names.
    {
        nn::LSTM lstm(4, 8);
        for (auto& p : lstm.named_parameters()) {
            if (p.key().find("bias") != std::string::npos) nn::init::zeros_(p.value());
            else if (p.value().dim() > 1) nn::init::orthogonal_(p.value());
        }
        CHECK(lstm.named_parameters()["bias_ih_l0"].abs().sum().item<float>() == 0.f);
    }
    // In-place init by hand.
    {
        nn::Linear fc(2, 2);
        rp::NoGradGuard g;
        fc.weight.fill_(1);
        fc.bias.zero_();
        fc.weight.data().mul_(2);
        CHECK(fc(rp::ones({1, 2}))[0][0].item<float>() == 4.f);
    }
}

TEST(LibtorchLosses, Losses)
{
    // Cross entropy module.
    {
        nn::CrossEntropyLoss criterion;
        CHECK(near(criterion(rp::zeros({4, 10}), rp::tensor({1, 2, 3, 4}, rp::kLong)).item<double>(),
                   std::log(10.0)));
    }
    // With options.
    {
        auto w = rp::tensor({1.0f, 2.0f});
        nn::CrossEntropyLoss criterion(
            nn::CrossEntropyLossOptions().weight(w).ignore_index(-100).reduction(rp::kSum).label_smoothing(
                0.1));
        CHECK(criterion(rp::zeros({2, 2}), rp::tensor({0, 1}, rp::kLong)).item<float>() > 0);
    }
    // README style options in loss.
    {
        nn::CrossEntropyLoss criterion({.label_smoothing = 0.1});
        CHECK(near(criterion(rp::zeros({2, 4}), rp::tensor({0, 3}, rp::i32)).item<float>(), std::log(4.0)));
    }
    // Cross entropy function with options.
    {
        auto l = nn::functional::cross_entropy(
            rp::zeros({3, 5}), rp::tensor({0, 1, -100}, rp::kLong),
            nn::functional::CrossEntropyFuncOptions().ignore_index(-100).reduction(rp::kMean));
        CHECK(near(l.item<float>(), std::log(5.0)));
    }
    // Nll.
    {
        auto logp = rp::log_softmax(rp::zeros({2, 4}), 1);
        CHECK(near(rp::nll_loss(logp, rp::tensor({0, 1}, rp::kLong)).item<float>(), std::log(4.0)));
        CHECK(near(nn::NLLLoss()(logp, rp::tensor({0, 1}, rp::kLong)).item<float>(), std::log(4.0)));
    }
    // Mse.
    {
        nn::MSELoss mse;
        CHECK(mse(rp::ones({2, 2}), rp::zeros({2, 2})).item<float>() == 1.f);
        CHECK(rp::mse_loss(rp::ones({2, 2}) * 3, rp::ones({2, 2}), rp::Reduction::Sum).item<float>() == 16.f);
        CHECK(nn::functional::mse_loss(rp::ones({2}), rp::zeros({2}),
                                       nn::functional::MSELossFuncOptions(rp::kNone))
                  .numel() == 2);
    }
    // L1, smooth l1, huber.
    {
        auto a = rp::tensor({0.0f, 3.0f}), b = rp::tensor({0.0f, 1.0f});
        CHECK(nn::L1Loss(nn::L1LossOptions(rp::kSum))(a, b).item<float>() == 2.f);
        CHECK(near(nn::SmoothL1Loss()(a, b).item<float>(), 0.75) &&
              near(nn::HuberLoss(nn::HuberLossOptions().delta(0.5))(a, b).item<float>(), 0.4375));
    }
    // Bce.
    {
        auto p = rp::full({3}, 0.5), t = rp::ones({3});
        CHECK(near(rp::binary_cross_entropy(p, t).item<float>(), std::log(2.0)) &&
              near(nn::BCELoss()(p, t).item<float>(), std::log(2.0)));
        CHECK(near(rp::binary_cross_entropy_with_logits(rp::zeros({3}), t).item<float>(), std::log(2.0)));
    }
    // Bce with logits, pos_weight.
    {
        nn::BCEWithLogitsLoss bce(nn::BCEWithLogitsLossOptions().pos_weight(rp::full({1}, 3.0)));
        CHECK(near(bce(rp::zeros({4}), rp::ones({4})).item<float>(), 3 * std::log(2.0)));
    }
    // Kl div.
    {
        auto q = rp::full({2, 4}, 0.25);
        nn::KLDivLoss kl(nn::KLDivLossOptions().reduction(rp::kBatchMean).log_target(false));
        CHECK(near(kl(q.log(), q).item<float>(), 0.0));
        CHECK(near(nn::functional::kl_div(q.log(), q, nn::functional::KLDivFuncOptions(rp::kBatchMean))
                       .item<float>(),
                   0.0));
    }
    // Triplet, cosine embedding, margin ranking, hinge.
    {
        auto a = rp::zeros({1, 2}), n = rp::full({1, 2}, 3.0);
        nn::TripletMarginLoss tl(nn::TripletMarginLossOptions().margin(1.0).p(2));
        CHECK(near(tl(a, a, n).item<float>(), 0.0, 1e-3));
        nn::MarginRankingLoss mr(nn::MarginRankingLossOptions().margin(0.5));
        CHECK(near(mr(rp::ones({2}), rp::ones({2}), rp::ones({2})).item<float>(), 0.5));
        CHECK(nn::CosineEmbeddingLoss()(n, n, rp::ones({1})).item<float>() < 1e-5);
    }
    // Others.
    {
        auto x = rp::zeros({2, 3}), t = rp::ones({2, 3});
        CHECK(near(nn::SoftMarginLoss()(x, t).item<float>(), std::log(2.0)) &&
              near(nn::MultiLabelSoftMarginLoss()(x, t).item<float>(), std::log(2.0)));
        CHECK(near(nn::PoissonNLLLoss()(x, t).item<float>(), 1.0) &&
              near(nn::GaussianNLLLoss()(x, t, t).item<float>(), 0.5));
        CHECK(near(nn::MultiMarginLoss()(x, rp::tensor({0, 1}, rp::kLong)).item<float>(), 2.0 / 3) &&
              nn::HingeEmbeddingLoss()(x, t).item<float>() == 0.f);
    }
    // Functional namespace alias.
    {
        namespace F = nn::functional;
        auto x = rp::randn({1, 3, 8, 8});
        auto y = F::max_pool2d(F::relu(x), F::MaxPool2dFuncOptions(2));
        y = F::interpolate(y,
                           F::InterpolateFuncOptions().size(std::vector<int64_t>({8, 8})).mode(rp::kNearest));
        CHECK(y.size(2) == 8);
    }
    // Functional dropout, softmax, pad, normalize, one_hot.
    {
        namespace F = nn::functional;
        auto x = F::dropout(rp::ones({4, 4}), F::DropoutFuncOptions().p(0.5).training(false));
        CHECK(F::softmax(x, F::SoftmaxFuncOptions(1))[0][0].item<float>() == 0.25f);
        CHECK(F::pad(x, F::PadFuncOptions({1, 1, 2, 2}).mode(rp::kConstant).value(0)).size(0) == 8);
        CHECK(F::normalize(x, F::NormalizeFuncOptions().p(2).dim(1))[0][0].item<float>() == 0.5f);
        CHECK(F::one_hot(rp::tensor({1, 0}, rp::kLong), 3)[0][1].item<int64_t>() == 1);
    }
    // Functional linear/conv/embedding with tensors.
    {
        namespace F = nn::functional;
        auto x = rp::ones({1, 1, 4, 4}), w = rp::ones({1, 1, 3, 3});
        CHECK(F::conv2d(x, w, F::Conv2dFuncOptions().padding(1))[0][0][1][1].item<float>() == 9.f &&
              rp::conv2d(x, w, {}, /*stride=*/1, /*padding=*/1)[0][0][0][0].item<float>() == 4.f);
        CHECK(F::linear(rp::ones({1, 2}), rp::ones({3, 2})).sum().item<float>() == 6.f);
    }
    // Scaled dot product attention.
    {
        auto q = rp::randn({2, 4, 5, 8});
        auto y = rp::scaled_dot_product_attention(q, q, q, /*attn_mask=*/{}, /*dropout_p=*/0.0,
                                                  /*is_causal=*/true);
        CHECK(rp::allclose(y.select(2, 0), q.select(2, 0), 1e-4, 1e-4));
    }
    // Neither batch_norm() nor alpha_dropout() trains by default, but dropout() does.
    {
        const rp::Tensor x = rp::ones({2, 3, 4}) * 5, mean = rp::ones({3}), var = rp::full({3}, 4);
        CHECK(near(F::batch_norm(x, mean, var)[0][0][0].item<float>(), 2));
        CHECK(near(rp::batch_norm(x, mean, var, rp::ones({3}), {})[1][2][3].item<float>(), 2));
        CHECK(near(F::batch_norm(x, mean, var, {}, {}, {.training = true})[0][0][0].item<float>(), 0));
        CHECK(near(F::alpha_dropout(x).sum().item<float>(), 120));
        CHECK(near(F::alpha_dropout(x, 0.9).sum().item<float>(), 120));
        CHECK(near(F::alpha_dropout(x, 1, true).sum().item<float>(), 0));
        CHECK(near(rp::alpha_dropout(x, 1, false).sum().item<float>(), 120));
        CHECK(near(F::dropout(x, 1).sum().item<float>(), 0));
    }
    // Layer_norm, batch_norm functional.
    {
        auto x = rp::randn({4, 6});
        auto y = rp::layer_norm(x, {6});
        auto z = rp::batch_norm(x, {}, {}, {}, {}, /*training=*/true, 0.1, 1e-5, false);
        CHECK(near(y.mean().item<float>(), 0, 1e-4) && near(z.mean(0)[0].item<float>(), 0, 1e-4));
    }
}

} // namespace
