// libtorch's options of the functions in nn/functional.hpp: F::conv2d(x, w,
// F::Conv2dFuncOptions().padding(1)).
//
// Methods set values and return the options, as for modules (nn/options.hpp); many classes are the same.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <reprise/autocast.hpp>
#include <reprise/nn/functional.hpp>
#include <reprise/nn/more_options.hpp>
#include <reprise/nn/options.hpp>

namespace reprise::nn::functional {

// ---- functions that call a module and take its options ----

// Defines a function of one tensor, which calls the module X with its options.
#define REPRISE_BY_MODULE(function, X, Name)                                                                 \
    using Name##FuncOptions = X##Options;                                                                    \
    inline Tensor function(const Tensor& x, const std::same_as<X##Options> auto& options)                    \
    {                                                                                                        \
        return X(options).forward(x);                                                                        \
    }
// The same for two tensors.
#define REPRISE_BY_MODULE_OF_TWO(function, X, Name)                                                          \
    using Name##FuncOptions = X##Options;                                                                    \
    inline Tensor function(const Tensor& a, const Tensor& b, const std::same_as<X##Options> auto& options)   \
    {                                                                                                        \
        return X(options).forward(a, b);                                                                     \
    }
// The same for three tensors.
#define REPRISE_BY_MODULE_OF_THREE(function, X, Name)                                                        \
    using Name##FuncOptions = X##Options;                                                                    \
    inline Tensor function(const Tensor& a, const Tensor& b, const Tensor& c,                                \
                           const std::same_as<X##Options> auto& options)                                     \
    {                                                                                                        \
        return X(options).forward(a, b, c);                                                                  \
    }

REPRISE_BY_MODULE(relu, ReLU, ReLU)
REPRISE_BY_MODULE(relu6, ReLU6, ReLU6)
REPRISE_BY_MODULE(selu, SELU, SELU)
REPRISE_BY_MODULE(gelu, GELU, GELU)
REPRISE_BY_MODULE(leaky_relu, LeakyReLU, LeakyReLU)
REPRISE_BY_MODULE(elu, ELU, ELU)
REPRISE_BY_MODULE(celu, CELU, CELU)
REPRISE_BY_MODULE(softplus, Softplus, Softplus)
REPRISE_BY_MODULE(hardtanh, Hardtanh, Hardtanh)
REPRISE_BY_MODULE(glu, GLU, GLU)
REPRISE_BY_MODULE(hardshrink, Hardshrink, Hardshrink)
REPRISE_BY_MODULE(softshrink, Softshrink, Softshrink)
REPRISE_BY_MODULE(threshold, Threshold, Threshold)
REPRISE_BY_MODULE(max_pool1d, MaxPool1d, MaxPool1d)
REPRISE_BY_MODULE(max_pool2d, MaxPool2d, MaxPool2d)
REPRISE_BY_MODULE(max_pool3d, MaxPool3d, MaxPool3d)
REPRISE_BY_MODULE(avg_pool1d, AvgPool1d, AvgPool1d)
REPRISE_BY_MODULE(avg_pool2d, AvgPool2d, AvgPool2d)
REPRISE_BY_MODULE(avg_pool3d, AvgPool3d, AvgPool3d)
REPRISE_BY_MODULE(adaptive_avg_pool1d, AdaptiveAvgPool1d, AdaptiveAvgPool1d)
REPRISE_BY_MODULE(adaptive_avg_pool2d, AdaptiveAvgPool2d, AdaptiveAvgPool2d)
REPRISE_BY_MODULE(adaptive_avg_pool3d, AdaptiveAvgPool3d, AdaptiveAvgPool3d)
REPRISE_BY_MODULE(adaptive_max_pool1d, AdaptiveMaxPool1d, AdaptiveMaxPool1d)
REPRISE_BY_MODULE(adaptive_max_pool2d, AdaptiveMaxPool2d, AdaptiveMaxPool2d)
REPRISE_BY_MODULE(adaptive_max_pool3d, AdaptiveMaxPool3d, AdaptiveMaxPool3d)
REPRISE_BY_MODULE(unfold, Unfold, Unfold)
REPRISE_BY_MODULE(fold, Fold, Fold)
REPRISE_BY_MODULE(local_response_norm, LocalResponseNorm, LocalResponseNorm)
REPRISE_BY_MODULE(pixel_shuffle, PixelShuffle, PixelShuffle)
REPRISE_BY_MODULE(pixel_unshuffle, PixelUnshuffle, PixelUnshuffle)
REPRISE_BY_MODULE_OF_TWO(max_unpool1d, MaxUnpool1d, MaxUnpool1d)
REPRISE_BY_MODULE_OF_TWO(max_unpool2d, MaxUnpool2d, MaxUnpool2d)
REPRISE_BY_MODULE_OF_TWO(max_unpool3d, MaxUnpool3d, MaxUnpool3d)
REPRISE_BY_MODULE_OF_TWO(mse_loss, MSELoss, MSELoss)
REPRISE_BY_MODULE_OF_TWO(l1_loss, L1Loss, L1Loss)
REPRISE_BY_MODULE_OF_TWO(smooth_l1_loss, SmoothL1Loss, SmoothL1Loss)
REPRISE_BY_MODULE_OF_TWO(huber_loss, HuberLoss, HuberLoss)
REPRISE_BY_MODULE_OF_TWO(binary_cross_entropy, BCELoss, BinaryCrossEntropy)
REPRISE_BY_MODULE_OF_TWO(binary_cross_entropy_with_logits, BCEWithLogitsLoss, BinaryCrossEntropyWithLogits)
REPRISE_BY_MODULE_OF_TWO(cross_entropy, CrossEntropyLoss, CrossEntropy)
REPRISE_BY_MODULE_OF_TWO(nll_loss, NLLLoss, NLLLoss)
REPRISE_BY_MODULE_OF_TWO(kl_div, KLDivLoss, KLDiv)
REPRISE_BY_MODULE_OF_TWO(soft_margin_loss, SoftMarginLoss, SoftMarginLoss)
REPRISE_BY_MODULE_OF_TWO(hinge_embedding_loss, HingeEmbeddingLoss, HingeEmbeddingLoss)
REPRISE_BY_MODULE_OF_TWO(poisson_nll_loss, PoissonNLLLoss, PoissonNLLLoss)
REPRISE_BY_MODULE_OF_TWO(multi_margin_loss, MultiMarginLoss, MultiMarginLoss)
REPRISE_BY_MODULE_OF_TWO(multilabel_soft_margin_loss, MultiLabelSoftMarginLoss, MultilabelSoftMarginLoss)
REPRISE_BY_MODULE_OF_TWO(cosine_similarity, CosineSimilarity, CosineSimilarity)
REPRISE_BY_MODULE_OF_TWO(pairwise_distance, PairwiseDistance, PairwiseDistance)
REPRISE_BY_MODULE_OF_THREE(margin_ranking_loss, MarginRankingLoss, MarginRankingLoss)
REPRISE_BY_MODULE_OF_THREE(cosine_embedding_loss, CosineEmbeddingLoss, CosineEmbeddingLoss)
REPRISE_BY_MODULE_OF_THREE(triplet_margin_loss, TripletMarginLoss, TripletMarginLoss)
REPRISE_BY_MODULE_OF_THREE(gaussian_nll_loss, GaussianNLLLoss, GaussianNLLLoss)
#undef REPRISE_BY_MODULE
#undef REPRISE_BY_MODULE_OF_TWO
#undef REPRISE_BY_MODULE_OF_THREE

// ---- functions with their own options ----

// Values of a convolution's options: the ops' options, and a bias.
template <class Options> struct WithBias : Options {
    Tensor bias{}; // [out]; undefined: none
};
// Defines the options of convN and conv_transposeN, and the functions that take them.
#define REPRISE_CONV(N)                                                                                      \
    using Conv##N##dFuncOptions =                                                                            \
        detail::OptionsFor<WithBias<reprise::ConvOptions<N>>(), setting::bias, setting::stride,              \
                           setting::padding, setting::dilation, setting::groups>;                            \
    inline Tensor conv##N##d(const Tensor& x, const Tensor& weight,                                          \
                             const std::same_as<Conv##N##dFuncOptions> auto& o)                              \
    {                                                                                                        \
        return reprise::conv##N##d(x, weight, o.bias(), o.values());                                         \
    }                                                                                                        \
    using ConvTranspose##N##dFuncOptions =                                                                   \
        detail::OptionsFor<WithBias<reprise::ConvTransposeOptions<N>>(), setting::bias, setting::stride,     \
                           setting::padding, setting::output_padding, setting::dilation, setting::groups>;   \
    inline Tensor conv_transpose##N##d(const Tensor& x, const Tensor& weight,                                \
                                       const std::same_as<ConvTranspose##N##dFuncOptions> auto& o)           \
    {                                                                                                        \
        return reprise::conv_transpose##N##d(x, weight, o.bias(), o.values());                               \
    }
REPRISE_CONV(1)
REPRISE_CONV(2)
REPRISE_CONV(3)
#undef REPRISE_CONV

// Options of interpolate().
using InterpolateFuncOptions =
    detail::OptionsFor<reprise::InterpolateOptions(), detail::ImageSize, setting::scale_factor, setting::mode,
                       setting::align_corners>;
// interpolate() with libtorch's options.
inline Tensor interpolate(const Tensor& x, const std::same_as<InterpolateFuncOptions> auto& o)
{
    return reprise::interpolate(x, o.values());
}
// Options of grid_sample().
using GridSampleFuncOptions = detail::OptionsFor<reprise::GridSampleOptions(), setting::mode,
                                                 setting::padding_mode, setting::align_corners>;
// grid_sample() with libtorch's options.
inline Tensor grid_sample(const Tensor& x, const Tensor& grid,
                          const std::same_as<GridSampleFuncOptions> auto& o)
{
    return reprise::grid_sample(x, grid, o.values());
}

// Values of PadFuncOptions.
struct PadValues {
    std::vector<std::int64_t> pad{}; // before and after the last dimension, the second last, ...
    Choice<PaddingMode> mode = PaddingMode::constant; // where the elements are taken from
    double value = 0;                                 // of the mode constant
};
// Options of pad().
using PadFuncOptions = detail::OptionsFor<PadValues(setting::pad), setting::mode, setting::value>;
// pad() with libtorch's options.
inline Tensor pad(const Tensor& x, const std::same_as<PadFuncOptions> auto& o)
{
    const auto& [amounts, mode, value] = o.values();
    return reprise::pad(x, DimVector(amounts.begin(), amounts.end()), static_cast<PaddingMode>(mode), value);
}

// Values of the options of softmax(), log_softmax() and softmin().
struct SoftmaxValues {
    std::int64_t dim = -1;                     // negative: counts from the end
    std::optional<DType> dtype = std::nullopt; // the input is first cast to it
};
// Defines the options of a softmax, and the function that takes them.
#define REPRISE_SOFTMAX(NAME, function)                                                                      \
    using NAME##FuncOptions = detail::OptionsFor<SoftmaxValues(setting::dim), setting::dtype>;               \
    inline Tensor function(const Tensor& x, const std::same_as<NAME##FuncOptions> auto& o)                   \
    {                                                                                                        \
        if (!o.dtype()) return function(x, o.dim());                                                         \
        const autocast in_this_dtype(bf16, false);                                                           \
        return function(cast(x, *o.dtype()), o.dim());                                                       \
    }
REPRISE_SOFTMAX(Softmax, softmax)
REPRISE_SOFTMAX(LogSoftmax, log_softmax)
REPRISE_SOFTMAX(Softmin, softmin)
#undef REPRISE_SOFTMAX

// Values of NormalizeFuncOptions.
struct NormalizeValues {
    double p = 2;         // the order of the norm
    std::int64_t dim = 1; // negative: counts from the end
    double eps = 1e-12;   // lower bound of the norm
};
// Options of normalize().
using NormalizeFuncOptions = detail::OptionsFor<NormalizeValues(), setting::p, setting::dim, setting::eps>;
// normalize() with libtorch's options.
inline Tensor normalize(const Tensor& x, const std::same_as<NormalizeFuncOptions> auto& o)
{
    return reprise::normalize(x, o.p(), o.dim(), o.eps());
}

// Values of the options of dropouts.
template <bool training_at_first> struct DropoutValues {
    double p = 0.5;                    // the probability, from 0 to 1
    bool training = training_at_first; // false: nothing is dropped
    bool inplace = false;              // without effect
};
// Defines the options of a dropout, and the function that takes them.
#define REPRISE_DROPOUT(NAME, function, training_at_first)                                                   \
    using NAME##FuncOptions = detail::OptionsFor<DropoutValues<training_at_first>(), setting::p,             \
                                                 setting::training, setting::inplace>;                       \
    inline Tensor function(const Tensor& x, const std::same_as<NAME##FuncOptions> auto& o)                   \
    {                                                                                                        \
        return reprise::function(x, o.p(), o.training());                                                    \
    }
REPRISE_DROPOUT(Dropout, dropout, true)
REPRISE_DROPOUT(Dropout1d, dropout1d, true)
REPRISE_DROPOUT(Dropout2d, dropout2d, true)
REPRISE_DROPOUT(Dropout3d, dropout3d, true)
REPRISE_DROPOUT(AlphaDropout, alpha_dropout, false) // as in libtorch
#undef REPRISE_DROPOUT

// Values of the options of layer_norm(), group_norm(), batch_norm() and instance_norm(), each of which takes
// some.
struct NormValues {
    std::vector<std::int64_t> normalized_shape{}; // sizes of the last dimensions
    std::int64_t num_groups = 1;                  // groups of channels
    Tensor weight{}, bias{};                      // [C], or of the normalized_shape; undefined: 1 and 0
    Tensor running_mean{}, running_var{};         // [C]; undefined: none
    double eps = 1e-5;                            // added to the variance
    std::optional<double> momentum = 0.1;         // weight of the batch in the running statistics
    bool training = false;                        // whether the statistics are the batch's
    bool use_input_stats = true;                  // whether the statistics are the images'
};
// Options of layer_norm().
using LayerNormFuncOptions =
    detail::OptionsFor<NormValues(setting::normalized_shape), setting::weight, setting::bias, setting::eps>;
// layer_norm() with libtorch's options.
inline Tensor layer_norm(const Tensor& x, const std::same_as<LayerNormFuncOptions> auto& o)
{
    return reprise::layer_norm(x, Shape(o.normalized_shape().begin(), o.normalized_shape().end()), o.weight(),
                               o.bias(), o.eps());
}
// Options of group_norm().
using GroupNormFuncOptions =
    detail::OptionsFor<NormValues(setting::num_groups), setting::weight, setting::bias, setting::eps>;
// group_norm() with libtorch's options.
inline Tensor group_norm(const Tensor& x, const std::same_as<GroupNormFuncOptions> auto& o)
{
    return reprise::group_norm(x, o.num_groups(), o.weight(), o.bias(), o.eps());
}
// Options of batch_norm().
using BatchNormFuncOptions = detail::OptionsFor<NormValues(), setting::weight, setting::bias,
                                                setting::training, setting::momentum, setting::eps>;
// batch_norm() with libtorch's options.
inline Tensor batch_norm(const Tensor& x, Tensor running_mean, Tensor running_var,
                         const std::same_as<BatchNormFuncOptions> auto& o)
{
    return reprise::batch_norm(x, running_mean, running_var, o.weight(), o.bias(),
                               reprise::BatchNormOpOptions{.training = o.training(),
                                                           .momentum = o.momentum().value_or(0.1),
                                                           .eps = o.eps()});
}
// Options of instance_norm().
using InstanceNormFuncOptions =
    detail::OptionsFor<NormValues(), setting::running_mean, setting::running_var, setting::weight,
                       setting::bias, setting::use_input_stats, setting::momentum, setting::eps>;
// instance_norm() with libtorch's options.
inline Tensor instance_norm(const Tensor& x, const std::same_as<InstanceNormFuncOptions> auto& o)
{
    return reprise::instance_norm(x, o.running_mean(), o.running_var(), o.weight(), o.bias(),
                                  reprise::InstanceNormOpOptions{.use_input_stats = o.use_input_stats(),
                                                                 .momentum = o.momentum().value_or(0.1),
                                                                 .eps = o.eps()});
}

// Options of embedding().
using EmbeddingFuncOptions = detail::OptionsFor<EmbeddingSettings(), setting::padding_idx>;
// embedding() with libtorch's options.
inline Tensor embedding(const Tensor& indices, const Tensor& weight,
                        const std::same_as<EmbeddingFuncOptions> auto& o)
{
    return reprise::embedding(indices, weight, o.padding_idx());
}

} // namespace reprise::nn::functional
