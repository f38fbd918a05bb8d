// libtorch's options of activations, dropout, paddings and losses, as nn/options.hpp describes them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <reprise/nn/options.hpp>

namespace reprise::nn {

// ---- activations and dropout ----

// Options of ReLU.
using ReLUOptions = detail::OptionsFor<ReLU(detail::Optional<setting::inplace>)>;
// Options of ReLU6.
using ReLU6Options = detail::OptionsFor<ReLU6(detail::Optional<setting::inplace>)>;
// Options of SELU.
using SELUOptions = detail::OptionsFor<SELU(detail::Optional<setting::inplace>)>;
// Options of GELU.
using GELUOptions = detail::OptionsFor<GELU(detail::Optional<setting::approximate>)>;
// Options of LeakyReLU.
using LeakyReLUOptions = detail::OptionsFor<LeakyReLU(), setting::negative_slope, setting::inplace>;
// Options of PReLU.
using PReLUOptions = detail::OptionsFor<PReLU(), setting::num_parameters, setting::init>;
// Options of ELU.
using ELUOptions = detail::OptionsFor<ELU(), setting::alpha, setting::inplace>;
// Options of CELU.
using CELUOptions = detail::OptionsFor<CELU(), setting::alpha, setting::inplace>;
// Options of Softplus.
using SoftplusOptions = detail::OptionsFor<Softplus(), setting::beta, setting::threshold>;
// Options of Hardtanh.
using HardtanhOptions = detail::OptionsFor<Hardtanh(), setting::min_val, setting::max_val, setting::inplace>;
// Options of GLU.
using GLUOptions = detail::OptionsFor<GLU(detail::Optional<setting::dim>)>;
// Options of Softmax.
using SoftmaxOptions = detail::OptionsFor<Softmax(detail::Optional<setting::dim>)>;
// Options of LogSoftmax.
using LogSoftmaxOptions = detail::OptionsFor<LogSoftmax(detail::Optional<setting::dim>)>;
// Options of Softmin.
using SoftminOptions = detail::OptionsFor<Softmin(detail::Optional<setting::dim>)>;
// Options of Hardshrink.
using HardshrinkOptions = detail::OptionsFor<Hardshrink(detail::Optional<setting::lambd>)>;
// Options of Softshrink.
using SoftshrinkOptions = detail::OptionsFor<Softshrink(detail::Optional<setting::lambd>)>;
// Options of Threshold.
using ThresholdOptions = detail::OptionsFor<Threshold(setting::threshold, setting::value), setting::inplace>;
// Options of Dropout, Dropout1d, Dropout2d, Dropout3d and AlphaDropout.
using DropoutOptions =
    detail::OptionsFor<bases::DropoutLayer(detail::Optional<setting::p>), setting::inplace>;
using Dropout1dOptions = DropoutOptions;    // of Dropout1d
using Dropout2dOptions = DropoutOptions;    // of Dropout2d
using Dropout3dOptions = DropoutOptions;    // of Dropout3d
using AlphaDropoutOptions = DropoutOptions; // of AlphaDropout

// ---- shapes, paddings, resizing ----

// Options of Flatten.
using FlattenOptions = detail::OptionsFor<Flatten(), setting::start_dim, setting::end_dim>;
// Values of UnflattenOptions.
struct UnflattenValues {
    std::int64_t dim = 0;            // the dimension; negative: counts from the end
    std::vector<std::int64_t> sizes; // the sizes of the new dimensions
};
// Options of Unflatten.
class UnflattenOptions
    : public detail::SettingsOf<UnflattenOptions, UnflattenValues, setting::dim, setting::sizes> {
public:
    // Takes these arguments; other options have their defaults.
    UnflattenOptions(std::int64_t dim, std::vector<std::int64_t> sizes) : SettingsOf({dim, std::move(sizes)})
    {}
    // Creates the module.
    template <std::same_as<Unflatten> M> operator M() const
    {
        return M(dim(), Shape(sizes().begin(), sizes().end()));
    }
};
// Options of the paddings by a mode.
template <class Pad, std::size_t N> using PaddingOptions =
    detail::OptionsFor<Pad(detail::Of<setting::padding, Sizes<2 * N>>)>;
using ZeroPad1dOptions = PaddingOptions<ZeroPad1d, 1>;               // of ZeroPad1d
using ZeroPad2dOptions = PaddingOptions<ZeroPad2d, 2>;               // of ZeroPad2d
using ZeroPad3dOptions = PaddingOptions<ZeroPad3d, 3>;               // of ZeroPad3d
using ReflectionPad1dOptions = PaddingOptions<ReflectionPad1d, 1>;   // of ReflectionPad1d
using ReflectionPad2dOptions = PaddingOptions<ReflectionPad2d, 2>;   // of ReflectionPad2d
using ReflectionPad3dOptions = PaddingOptions<ReflectionPad3d, 3>;   // of ReflectionPad3d
using ReplicationPad1dOptions = PaddingOptions<ReplicationPad1d, 1>; // of ReplicationPad1d
using ReplicationPad2dOptions = PaddingOptions<ReplicationPad2d, 2>; // of ReplicationPad2d
using ReplicationPad3dOptions = PaddingOptions<ReplicationPad3d, 3>; // of ReplicationPad3d
// Options of ConstantPad<N>.
template <std::size_t N> using ConstantPadOptions = detail::OptionsFor<ConstantPad<N>(
    detail::Of<setting::padding, Sizes<2 * N>>, detail::Of<setting::value, double>)>;
using ConstantPad1dOptions = ConstantPadOptions<1>; // of ConstantPad1d
using ConstantPad2dOptions = ConstantPadOptions<2>; // of ConstantPad2d
using ConstantPad3dOptions = ConstantPadOptions<3>; // of ConstantPad3d
// Options of Upsample.
using UpsampleOptions = detail::OptionsFor<Upsample(), detail::ImageSize, setting::scale_factor,
                                           setting::mode, setting::align_corners>;
// Options of PixelShuffle.
using PixelShuffleOptions = detail::OptionsFor<PixelShuffle(setting::upscale_factor)>;
// Options of PixelUnshuffle.
using PixelUnshuffleOptions = detail::OptionsFor<PixelUnshuffle(setting::downscale_factor)>;

// ---- losses ----

// Options of CrossEntropyLoss.
using CrossEntropyLossOptions = detail::OptionsFor<CrossEntropyLoss(), setting::weight, setting::ignore_index,
                                                   setting::reduction, setting::label_smoothing>;
// Options of NLLLoss.
using NLLLossOptions =
    detail::OptionsFor<NLLLoss(), setting::weight, setting::ignore_index, setting::reduction>;
// Options of MSELoss.
using MSELossOptions = detail::OptionsFor<MSELoss(detail::Optional<setting::reduction>)>;
// Options of L1Loss.
using L1LossOptions = detail::OptionsFor<L1Loss(detail::Optional<setting::reduction>)>;
// Options of SmoothL1Loss.
using SmoothL1LossOptions =
    detail::OptionsFor<SmoothL1Loss(detail::Optional<setting::reduction>), setting::beta>;
// Options of HuberLoss.
using HuberLossOptions = detail::OptionsFor<HuberLoss(detail::Optional<setting::reduction>), setting::delta>;
// Options of BCELoss.
using BCELossOptions = detail::OptionsFor<BCELoss(), setting::weight, setting::reduction>;
// Options of BCEWithLogitsLoss.
using BCEWithLogitsLossOptions =
    detail::OptionsFor<BCEWithLogitsLoss(), setting::weight, setting::reduction, setting::pos_weight>;
// Options of KLDivLoss.
using KLDivLossOptions =
    detail::OptionsFor<KLDivLoss(detail::Optional<setting::reduction>), setting::log_target>;
// Options of SoftMarginLoss.
using SoftMarginLossOptions = detail::OptionsFor<SoftMarginLoss(detail::Optional<setting::reduction>)>;
// Options of HingeEmbeddingLoss.
using HingeEmbeddingLossOptions =
    detail::OptionsFor<HingeEmbeddingLoss(), setting::margin, setting::reduction>;
// Options of MarginRankingLoss.
using MarginRankingLossOptions = detail::OptionsFor<MarginRankingLoss(), setting::margin, setting::reduction>;
// Options of CosineEmbeddingLoss.
using CosineEmbeddingLossOptions =
    detail::OptionsFor<CosineEmbeddingLoss(), setting::margin, setting::reduction>;
// Options of TripletMarginLoss.
using TripletMarginLossOptions = detail::OptionsFor<TripletMarginLoss(), setting::margin, setting::p,
                                                    setting::eps, setting::swap, setting::reduction>;
// Options of PoissonNLLLoss.
using PoissonNLLLossOptions =
    detail::OptionsFor<PoissonNLLLoss(), setting::log_input, setting::full, setting::eps, setting::reduction>;
// Options of GaussianNLLLoss.
using GaussianNLLLossOptions =
    detail::OptionsFor<GaussianNLLLoss(), setting::full, setting::eps, setting::reduction>;
// Options of MultiMarginLoss.
using MultiMarginLossOptions =
    detail::OptionsFor<MultiMarginLoss(), setting::p, setting::margin, setting::weight, setting::reduction>;
// Options of MultiLabelSoftMarginLoss.
using MultiLabelSoftMarginLossOptions =
    detail::OptionsFor<MultiLabelSoftMarginLoss(), setting::weight, setting::reduction>;
// Options of CosineSimilarity.
using CosineSimilarityOptions = detail::OptionsFor<CosineSimilarity(), setting::dim, setting::eps>;
// Options of PairwiseDistance.
using PairwiseDistanceOptions =
    detail::OptionsFor<PairwiseDistance(), setting::p, setting::eps, setting::keepdim>;

} // namespace reprise::nn
