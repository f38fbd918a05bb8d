// libtorch's options of activations, dropout, paddings and losses, as nn/options.hpp describes them.
#pragma once
#include <reprise/nn/options.hpp>

namespace reprise::nn {

// ---- activations and dropout ----

// The constructors of options of which the constructor may set one, and its setting.
#define REPRISE_OPTION_OF_CONSTRUCTOR(X, name)                                                               \
    X##Options() = default;                                                                                  \
    X##Options(decltype(Values::name) value) { this->values_.name = std::move(value); }                      \
    REPRISE_OPTION(name)

// Options of ReLU.
class ReLUOptions : public detail::ModuleOptions<ReLU::Options, detail::NoArguments, ReLU> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(ReLU, inplace)
};
// Options of ReLU6.
class ReLU6Options : public detail::ModuleOptions<ReLU6::Options, detail::NoArguments, ReLU6> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(ReLU6, inplace)
};
// Options of SELU.
class SELUOptions : public detail::ModuleOptions<SELU::Options, detail::NoArguments, SELU> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(SELU, inplace)
};
// Options of GELU.
class GELUOptions : public detail::ModuleOptions<GELU::Options, detail::NoArguments, GELU> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(GELU, approximate)
};
// Options of LeakyReLU.
class LeakyReLUOptions : public detail::ModuleOptions<LeakyReLU::Options, detail::NoArguments, LeakyReLU> {
public:
    REPRISE_OPTION(negative_slope)
    REPRISE_OPTION(inplace)
};
// Options of PReLU.
class PReLUOptions : public detail::ModuleOptions<PReLU::Options, detail::NoArguments, PReLU> {
public:
    REPRISE_OPTION(num_parameters)
    REPRISE_OPTION(init)
};
// Options of ELU.
class ELUOptions : public detail::ModuleOptions<ELU::Options, detail::NoArguments, ELU> {
public:
    REPRISE_OPTION(alpha)
    REPRISE_OPTION(inplace)
};
// Options of CELU.
class CELUOptions : public detail::ModuleOptions<CELU::Options, detail::NoArguments, CELU> {
public:
    REPRISE_OPTION(alpha)
    REPRISE_OPTION(inplace)
};
// Options of Softplus.
class SoftplusOptions : public detail::ModuleOptions<Softplus::Options, detail::NoArguments, Softplus> {
public:
    REPRISE_OPTION(beta)
    REPRISE_OPTION(threshold)
};
// Options of Hardtanh.
class HardtanhOptions : public detail::ModuleOptions<Hardtanh::Options, detail::NoArguments, Hardtanh> {
public:
    REPRISE_OPTION(min_val)
    REPRISE_OPTION(max_val)
    REPRISE_OPTION(inplace)
};
// Options of GLU.
class GLUOptions : public detail::ModuleOptions<GLU::Options, detail::NoArguments, GLU> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(GLU, dim)
};
// Options of Softmax.
class SoftmaxOptions : public detail::ModuleOptions<Softmax::Options, detail::NoArguments, Softmax> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(Softmax, dim)
};
// Options of LogSoftmax.
class LogSoftmaxOptions : public detail::ModuleOptions<LogSoftmax::Options, detail::NoArguments, LogSoftmax> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(LogSoftmax, dim)
};
// Options of Softmin.
class SoftminOptions : public detail::ModuleOptions<Softmin::Options, detail::NoArguments, Softmin> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(Softmin, dim)
};
// Options of Hardshrink.
class HardshrinkOptions : public detail::ModuleOptions<Hardshrink::Options, detail::NoArguments, Hardshrink> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(Hardshrink, lambd)
};
// Options of Softshrink.
class SoftshrinkOptions : public detail::ModuleOptions<Softshrink::Options, detail::NoArguments, Softshrink> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(Softshrink, lambd)
};
// Options of Threshold.
class ThresholdOptions : public detail::ModuleOptions<Threshold::Options, detail::NoArguments, Threshold> {
public:
    // With these arguments; all else has its default.
    ThresholdOptions(double threshold, double value)
        : ModuleOptions({}, {.threshold = threshold, .value = value})
    {}
    REPRISE_OPTION(threshold)
    REPRISE_OPTION(value)
    REPRISE_OPTION(inplace)
};
// Options of Dropout.
class DropoutOptions : public detail::ModuleOptions<Dropout::Options, detail::NoArguments, Dropout, Dropout1d,
                                                    Dropout2d, Dropout3d, AlphaDropout> {
public:
    DropoutOptions() = default;
    // With these arguments; all else has its default.
    DropoutOptions(double probability) { values_.p = probability; }
    REPRISE_OPTION(p)
    REPRISE_OPTION(inplace)
};
using Dropout1dOptions = DropoutOptions;    // of Dropout1d
using Dropout2dOptions = DropoutOptions;    // of Dropout2d
using Dropout3dOptions = DropoutOptions;    // of Dropout3d
using AlphaDropoutOptions = DropoutOptions; // of AlphaDropout

// ---- shapes, paddings, resizing ----

// Options of Flatten.
class FlattenOptions : public detail::ModuleOptions<Flatten::Options, detail::NoArguments, Flatten> {
public:
    REPRISE_OPTION(start_dim)
    REPRISE_OPTION(end_dim)
};
// Options of Unflatten.
class UnflattenOptions {
public:
    // With these arguments; all else has its default.
    UnflattenOptions(std::int64_t dim, std::vector<std::int64_t> sizes) : dim_(dim), sizes_(std::move(sizes))
    {}
    REPRISE_SETTING(std::int64_t, dim, dim_)
    REPRISE_SETTING(std::vector<std::int64_t>, sizes, sizes_)
    // Makes the module.
    template <std::same_as<Unflatten> M> operator M() const
    {
        return M(dim_, Shape(sizes_.begin(), sizes_.end()));
    }

private:
    std::int64_t dim_;
    std::vector<std::int64_t> sizes_;
};
// Options of the paddings by a mode.
template <class Pad, std::size_t N> class PaddingOptions {
public:
    // With these arguments; all else has its default.
    PaddingOptions(Sizes<2 * N> padding) : padding_(padding) {}
    REPRISE_SETTING(Sizes<2 * N>, padding, padding_)
    // Makes the module.
    template <std::same_as<Pad> M> operator M() const { return M(padding_); }

private:
    Sizes<2 * N> padding_;
};
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
template <std::size_t N> class ConstantPadOptions {
public:
    // With these arguments; all else has its default.
    ConstantPadOptions(Sizes<2 * N> padding, double value) : padding_(padding), value_(value) {}
    REPRISE_SETTING(Sizes<2 * N>, padding, padding_)
    REPRISE_SETTING(double, value, value_)
    // Makes the module.
    template <std::same_as<ConstantPad<N>> M> operator M() const { return M(padding_, value_); }

private:
    Sizes<2 * N> padding_;
    double value_;
};
using ConstantPad1dOptions = ConstantPadOptions<1>; // of ConstantPad1d
using ConstantPad2dOptions = ConstantPadOptions<2>; // of ConstantPad2d
using ConstantPad3dOptions = ConstantPadOptions<3>; // of ConstantPad3d
// Options of Upsample.
class UpsampleOptions : public detail::ModuleOptions<Upsample::Options, detail::NoArguments, Upsample> {
public:
    // The sizes of the output.
    UpsampleOptions& size(const std::vector<std::int64_t>& sizes)
    {
        values_.size = DimVector(sizes.begin(), sizes.end());
        return *this;
    }
    REPRISE_OPTION(scale_factor)
    REPRISE_OPTION(mode)
    REPRISE_OPTION(align_corners)
};
// Options of PixelShuffle.
class PixelShuffleOptions {
public:
    // With these arguments; all else has its default.
    PixelShuffleOptions(std::int64_t upscale_factor) : factor_(upscale_factor) {}
    REPRISE_SETTING(std::int64_t, upscale_factor, factor_)
    // Makes the module.
    template <std::same_as<PixelShuffle> M> operator M() const { return M(factor_); }

private:
    std::int64_t factor_;
};
// Options of PixelUnshuffle.
class PixelUnshuffleOptions {
public:
    // With these arguments; all else has its default.
    PixelUnshuffleOptions(std::int64_t downscale_factor) : factor_(downscale_factor) {}
    REPRISE_SETTING(std::int64_t, downscale_factor, factor_)
    // Makes the module.
    template <std::same_as<PixelUnshuffle> M> operator M() const { return M(factor_); }

private:
    std::int64_t factor_;
};

// ---- losses ----

// Options of CrossEntropyLoss.
class CrossEntropyLossOptions
    : public detail::ModuleOptions<CrossEntropyLoss::Options, detail::NoArguments, CrossEntropyLoss> {
public:
    REPRISE_OPTION(weight)
    REPRISE_OPTION(ignore_index)
    REPRISE_OPTION(reduction)
    REPRISE_OPTION(label_smoothing)
};
// Options of NLLLoss.
class NLLLossOptions : public detail::ModuleOptions<NLLLoss::Options, detail::NoArguments, NLLLoss> {
public:
    REPRISE_OPTION(weight)
    REPRISE_OPTION(ignore_index)
    REPRISE_OPTION(reduction)
};
// Options of MSELoss.
class MSELossOptions : public detail::ModuleOptions<MSELoss::Options, detail::NoArguments, MSELoss> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(MSELoss, reduction)
};
// Options of L1Loss.
class L1LossOptions : public detail::ModuleOptions<L1Loss::Options, detail::NoArguments, L1Loss> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(L1Loss, reduction)
};
// Options of SmoothL1Loss.
class SmoothL1LossOptions
    : public detail::ModuleOptions<SmoothL1Loss::Options, detail::NoArguments, SmoothL1Loss> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(SmoothL1Loss, reduction)
    REPRISE_OPTION(beta)
};
// Options of HuberLoss.
class HuberLossOptions : public detail::ModuleOptions<HuberLoss::Options, detail::NoArguments, HuberLoss> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(HuberLoss, reduction)
    REPRISE_OPTION(delta)
};
// Options of BCELoss.
class BCELossOptions : public detail::ModuleOptions<BCELoss::Options, detail::NoArguments, BCELoss> {
public:
    REPRISE_OPTION(weight)
    REPRISE_OPTION(reduction)
};
// Options of BCEWithLogitsLoss.
class BCEWithLogitsLossOptions
    : public detail::ModuleOptions<BCEWithLogitsLoss::Options, detail::NoArguments, BCEWithLogitsLoss> {
public:
    REPRISE_OPTION(weight)
    REPRISE_OPTION(reduction)
    REPRISE_OPTION(pos_weight)
};
// Options of KLDivLoss.
class KLDivLossOptions : public detail::ModuleOptions<KLDivLoss::Options, detail::NoArguments, KLDivLoss> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(KLDivLoss, reduction)
    REPRISE_OPTION(log_target)
};
// Options of SoftMarginLoss.
class SoftMarginLossOptions
    : public detail::ModuleOptions<SoftMarginLoss::Options, detail::NoArguments, SoftMarginLoss> {
public:
    REPRISE_OPTION_OF_CONSTRUCTOR(SoftMarginLoss, reduction)
};
// Options of HingeEmbeddingLoss.
class HingeEmbeddingLossOptions
    : public detail::ModuleOptions<HingeEmbeddingLoss::Options, detail::NoArguments, HingeEmbeddingLoss> {
public:
    REPRISE_OPTION(margin)
    REPRISE_OPTION(reduction)
};
// Options of MarginRankingLoss.
class MarginRankingLossOptions
    : public detail::ModuleOptions<MarginRankingLoss::Options, detail::NoArguments, MarginRankingLoss> {
public:
    REPRISE_OPTION(margin)
    REPRISE_OPTION(reduction)
};
// Options of CosineEmbeddingLoss.
class CosineEmbeddingLossOptions
    : public detail::ModuleOptions<CosineEmbeddingLoss::Options, detail::NoArguments, CosineEmbeddingLoss> {
public:
    REPRISE_OPTION(margin)
    REPRISE_OPTION(reduction)
};
// Options of TripletMarginLoss.
class TripletMarginLossOptions
    : public detail::ModuleOptions<TripletMarginLoss::Options, detail::NoArguments, TripletMarginLoss> {
public:
    REPRISE_OPTION(margin)
    REPRISE_OPTION(p)
    REPRISE_OPTION(eps)
    REPRISE_OPTION(swap)
    REPRISE_OPTION(reduction)
};
// Options of PoissonNLLLoss.
class PoissonNLLLossOptions
    : public detail::ModuleOptions<PoissonNLLLoss::Options, detail::NoArguments, PoissonNLLLoss> {
public:
    REPRISE_OPTION(log_input)
    REPRISE_OPTION(full)
    REPRISE_OPTION(eps)
    REPRISE_OPTION(reduction)
};
// Options of GaussianNLLLoss.
class GaussianNLLLossOptions
    : public detail::ModuleOptions<GaussianNLLLoss::Options, detail::NoArguments, GaussianNLLLoss> {
public:
    REPRISE_OPTION(full)
    REPRISE_OPTION(eps)
    REPRISE_OPTION(reduction)
};
// Options of MultiMarginLoss.
class MultiMarginLossOptions
    : public detail::ModuleOptions<MultiMarginLoss::Options, detail::NoArguments, MultiMarginLoss> {
public:
    REPRISE_OPTION(p)
    REPRISE_OPTION(margin)
    REPRISE_OPTION(weight)
    REPRISE_OPTION(reduction)
};
// Options of MultiLabelSoftMarginLoss.
class MultiLabelSoftMarginLossOptions
    : public detail::ModuleOptions<MultiLabelSoftMarginLoss::Options, detail::NoArguments,
                                   MultiLabelSoftMarginLoss> {
public:
    REPRISE_OPTION(weight)
    REPRISE_OPTION(reduction)
};
// Options of CosineSimilarity.
class CosineSimilarityOptions
    : public detail::ModuleOptions<CosineSimilarity::Options, detail::NoArguments, CosineSimilarity> {
public:
    REPRISE_OPTION(dim)
    REPRISE_OPTION(eps)
};
// Options of PairwiseDistance.
class PairwiseDistanceOptions
    : public detail::ModuleOptions<PairwiseDistance::Options, detail::NoArguments, PairwiseDistance> {
public:
    REPRISE_OPTION(p)
    REPRISE_OPTION(eps)
    REPRISE_OPTION(keepdim)
};

} // namespace reprise::nn
