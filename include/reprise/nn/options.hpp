// libtorch's options of modules, each setting by a call: Conv2d(Conv2dOptions(1, 8,
// 3).stride(2).bias(false)).
//
// Each class XOptions takes the arguments of X's constructor that have no default.  Its methods set the
// members of X::Options, the structure that braces make, and return it; without an argument they return the
// value.  It converts to X.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include <reprise/nn/activations.hpp>
#include <reprise/nn/attention.hpp>
#include <reprise/nn/convolution.hpp>
#include <reprise/nn/dropout.hpp>
#include <reprise/nn/embedding.hpp>
#include <reprise/nn/linear.hpp>
#include <reprise/nn/losses.hpp>
#include <reprise/nn/normalization.hpp>
#include <reprise/nn/padding.hpp>
#include <reprise/nn/pooling.hpp>
#include <reprise/nn/recurrent.hpp>
#include <reprise/nn/shapes.hpp>
#include <reprise/nn/transformer.hpp>
#include <reprise/nn/upsampling.hpp>

namespace reprise::detail {

// What builders of options have in common.  Values: the structure that they fill.
template <class V> class OptionsOf {
public:
    using Values = V;                                         // the structure
    const Values& values() const noexcept { return values_; } // the structure

protected:
    OptionsOf() = default;
    explicit OptionsOf(Values values) : values_(std::move(values)) {}
    Values values_{};
};

// The base of the options of modules.  Arguments: a tuple of what precedes X::Options in the constructors of
// the Modules.
template <class Values, class Arguments, class... Modules> class ModuleOptions : public OptionsOf<Values> {
public:
    // Makes the module.
    template <class M>
    requires(std::same_as<M, Modules> || ...) operator M() const
    {
        return std::apply([this](const auto&... arguments) { return M(arguments..., this->values_); },
                          arguments_);
    }

protected:
    ModuleOptions() = default;
    explicit ModuleOptions(Arguments arguments, Values values = {})
        : OptionsOf<Values>(std::move(values)), arguments_(std::move(arguments))
    {}
    Arguments arguments_;
};

using NoArguments = std::tuple<>;
using OneSize = std::tuple<std::int64_t>;
using TwoSizes = std::tuple<std::int64_t, std::int64_t>;

} // namespace reprise::detail

// A setting `name` of type T, which is held in `place`, an expression of members.
#define REPRISE_SETTING(T, name, place)                                                                      \
    auto& name(T value)                                                                                      \
    {                                                                                                        \
        place = std::move(value);                                                                            \
        return *this;                                                                                        \
    }                                                                                                        \
    const auto& name() const { return place; }
// The member of this name of the structure Values.
#define REPRISE_OPTION(name) REPRISE_SETTING(decltype(Values::name), name, this->values_.name)
// Argument i of the constructor.
#define REPRISE_ARGUMENT(i, name) REPRISE_SETTING(std::int64_t, name, std::get<i>(this->arguments_))

namespace reprise::nn {

// ---- linear layers, embeddings ----

// Options of Linear.
class LinearOptions : public detail::ModuleOptions<Linear::Options, detail::TwoSizes, Linear> {
public:
    // With these arguments; all else has its default.
    LinearOptions(std::int64_t in_features, std::int64_t out_features)
        : ModuleOptions({in_features, out_features})
    {}
    REPRISE_ARGUMENT(0, in_features)
    REPRISE_ARGUMENT(1, out_features)
    REPRISE_OPTION(bias)
};
using Sizes3 = std::tuple<std::int64_t, std::int64_t, std::int64_t>; // arguments of Bilinear
// Options of Bilinear.
class BilinearOptions : public detail::ModuleOptions<Bilinear::Options, Sizes3, Bilinear> {
public:
    // With these arguments; all else has its default.
    BilinearOptions(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features)
        : ModuleOptions({in1_features, in2_features, out_features})
    {}
    REPRISE_ARGUMENT(0, in1_features)
    REPRISE_ARGUMENT(1, in2_features)
    REPRISE_ARGUMENT(2, out_features)
    REPRISE_OPTION(bias)
};
// Options of Embedding.
class EmbeddingOptions : public detail::ModuleOptions<Embedding::Options, detail::TwoSizes, Embedding> {
public:
    // With these arguments; all else has its default.
    EmbeddingOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
        : ModuleOptions({num_embeddings, embedding_dim})
    {}
    REPRISE_ARGUMENT(0, num_embeddings)
    REPRISE_ARGUMENT(1, embedding_dim)
    REPRISE_OPTION(padding_idx)
};
// Options of EmbeddingBag.
class EmbeddingBagOptions
    : public detail::ModuleOptions<EmbeddingBag::Options, detail::TwoSizes, EmbeddingBag> {
public:
    // With these arguments; all else has its default.
    EmbeddingBagOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
        : ModuleOptions({num_embeddings, embedding_dim})
    {}
    REPRISE_ARGUMENT(0, num_embeddings)
    REPRISE_ARGUMENT(1, embedding_dim)
    REPRISE_OPTION(mode)
    REPRISE_OPTION(include_last_offset)
    REPRISE_OPTION(padding_idx)
};
// For Embedding::from_pretrained(weight, options).
class EmbeddingFromPretrainedOptions : public detail::OptionsOf<EmbeddingFromPretrainedSettings> {
    using Values = EmbeddingFromPretrainedSettings;

public:
    REPRISE_OPTION(freeze)
    REPRISE_OPTION(padding_idx)
    operator const EmbeddingFromPretrainedSettings&() const noexcept { return values_; } // the structure
};

// ---- convolutions and their windows ----

// Options of Conv<N>.
template <std::size_t N> class ConvModuleOptions
    : public detail::ModuleOptions<ConvSettings<N>, detail::TwoSizes, Conv<N>> {
    using Values = ConvSettings<N>;

public:
    // With these arguments; all else has its default.
    ConvModuleOptions(std::int64_t in_channels, std::int64_t out_channels, Sizes<N> kernel_size)
        : detail::ModuleOptions<Values, detail::TwoSizes, Conv<N>>({in_channels, out_channels},
                                                                   {.kernel_size = kernel_size})
    {}
    REPRISE_ARGUMENT(0, in_channels)
    REPRISE_ARGUMENT(1, out_channels)
    REPRISE_OPTION(kernel_size)
    REPRISE_OPTION(stride)
    REPRISE_OPTION(padding)
    REPRISE_OPTION(dilation)
    REPRISE_OPTION(groups)
    REPRISE_OPTION(bias)
    REPRISE_OPTION(padding_mode)
};
using Conv1dOptions = ConvModuleOptions<1>; // of Conv1d
using Conv2dOptions = ConvModuleOptions<2>; // of Conv2d
using Conv3dOptions = ConvModuleOptions<3>; // of Conv3d

// Options of ConvTranspose<N>.
template <std::size_t N> class ConvTransposeModuleOptions
    : public detail::ModuleOptions<ConvTransposeSettings<N>, detail::TwoSizes, ConvTranspose<N>> {
    using Values = ConvTransposeSettings<N>;

public:
    // With these arguments; all else has its default.
    ConvTransposeModuleOptions(std::int64_t in_channels, std::int64_t out_channels, Sizes<N> kernel_size)
        : detail::ModuleOptions<Values, detail::TwoSizes, ConvTranspose<N>>({in_channels, out_channels},
                                                                            {.kernel_size = kernel_size})
    {}
    REPRISE_ARGUMENT(0, in_channels)
    REPRISE_ARGUMENT(1, out_channels)
    REPRISE_OPTION(kernel_size)
    REPRISE_OPTION(stride)
    REPRISE_OPTION(padding)
    REPRISE_OPTION(output_padding)
    REPRISE_OPTION(dilation)
    REPRISE_OPTION(groups)
    REPRISE_OPTION(bias)
};
using ConvTranspose1dOptions = ConvTransposeModuleOptions<1>; // of ConvTranspose1d
using ConvTranspose2dOptions = ConvTransposeModuleOptions<2>; // of ConvTranspose2d
using ConvTranspose3dOptions = ConvTransposeModuleOptions<3>; // of ConvTranspose3d

// Options of MaxPool<N>.
template <std::size_t N> class MaxPoolModuleOptions
    : public detail::ModuleOptions<MaxPoolSettings<N>, detail::NoArguments, MaxPool<N>> {
    using Values = MaxPoolSettings<N>;

public:
    // With these arguments; all else has its default.
    MaxPoolModuleOptions(Sizes<N> kernel_size)
        : detail::ModuleOptions<Values, detail::NoArguments, MaxPool<N>>({}, {.kernel_size = kernel_size})
    {}
    REPRISE_OPTION(kernel_size)
    REPRISE_OPTION(stride)
    REPRISE_OPTION(padding)
    REPRISE_OPTION(dilation)
    REPRISE_OPTION(ceil_mode)
};
// Options of MaxUnpool<N>.
template <std::size_t N> class MaxUnpoolModuleOptions
    : public detail::ModuleOptions<MaxUnpoolSettings<N>, detail::NoArguments, MaxUnpool<N>> {
    using Values = MaxUnpoolSettings<N>;

public:
    // With these arguments; all else has its default.
    MaxUnpoolModuleOptions(Sizes<N> kernel_size)
        : detail::ModuleOptions<Values, detail::NoArguments, MaxUnpool<N>>({}, {.kernel_size = kernel_size})
    {}
    REPRISE_OPTION(kernel_size)
    REPRISE_OPTION(stride)
    REPRISE_OPTION(padding)
};
// Options of AvgPool<N>.
template <std::size_t N> class AvgPoolModuleOptions
    : public detail::ModuleOptions<AvgPoolSettings<N>, detail::NoArguments, AvgPool<N>> {
    using Values = AvgPoolSettings<N>;

public:
    // With these arguments; all else has its default.
    AvgPoolModuleOptions(Sizes<N> kernel_size)
        : detail::ModuleOptions<Values, detail::NoArguments, AvgPool<N>>({}, {.kernel_size = kernel_size})
    {}
    REPRISE_OPTION(kernel_size)
    REPRISE_OPTION(stride)
    REPRISE_OPTION(padding)
    REPRISE_OPTION(ceil_mode)
    REPRISE_OPTION(count_include_pad)
    REPRISE_OPTION(divisor_override)
};
using MaxPool1dOptions = MaxPoolModuleOptions<1>;     // of MaxPool1d
using MaxPool2dOptions = MaxPoolModuleOptions<2>;     // of MaxPool2d
using MaxPool3dOptions = MaxPoolModuleOptions<3>;     // of MaxPool3d
using MaxUnpool1dOptions = MaxUnpoolModuleOptions<1>; // of MaxUnpool1d
using MaxUnpool2dOptions = MaxUnpoolModuleOptions<2>; // of MaxUnpool2d
using MaxUnpool3dOptions = MaxUnpoolModuleOptions<3>; // of MaxUnpool3d
using AvgPool1dOptions = AvgPoolModuleOptions<1>;     // of AvgPool1d
using AvgPool2dOptions = AvgPoolModuleOptions<2>;     // of AvgPool2d
using AvgPool3dOptions = AvgPoolModuleOptions<3>;     // of AvgPool3d

// Options of AdaptiveAvgPool<N> and AdaptiveMaxPool<N>.
template <class Pool, std::size_t N> class AdaptivePoolOptions
    : public detail::ModuleOptions<typename Pool::Options, detail::NoArguments, Pool> {
    using Values = typename Pool::Options;

public:
    // With these arguments; all else has its default.
    AdaptivePoolOptions(Sizes<N> output_size)
        : detail::ModuleOptions<Values, detail::NoArguments, Pool>({}, {.output_size = output_size})
    {}
    REPRISE_OPTION(output_size)
};
using AdaptiveAvgPool1dOptions = AdaptivePoolOptions<AdaptiveAvgPool1d, 1>; // of AdaptiveAvgPool1d
using AdaptiveAvgPool2dOptions = AdaptivePoolOptions<AdaptiveAvgPool2d, 2>; // of AdaptiveAvgPool2d
using AdaptiveAvgPool3dOptions = AdaptivePoolOptions<AdaptiveAvgPool3d, 3>; // of AdaptiveAvgPool3d
using AdaptiveMaxPool1dOptions = AdaptivePoolOptions<AdaptiveMaxPool1d, 1>; // of AdaptiveMaxPool1d
using AdaptiveMaxPool2dOptions = AdaptivePoolOptions<AdaptiveMaxPool2d, 2>; // of AdaptiveMaxPool2d
using AdaptiveMaxPool3dOptions = AdaptivePoolOptions<AdaptiveMaxPool3d, 3>; // of AdaptiveMaxPool3d

// Options of Unfold.
class UnfoldOptions : public detail::ModuleOptions<Unfold::Options, std::tuple<Sizes<2>>, Unfold> {
public:
    // With these arguments; all else has its default.
    UnfoldOptions(Sizes<2> kernel_size) : ModuleOptions({kernel_size}, {}) {}
    REPRISE_SETTING(Sizes<2>, kernel_size, std::get<0>(this->arguments_))
    REPRISE_OPTION(dilation)
    REPRISE_OPTION(padding)
    REPRISE_OPTION(stride)
};
using TwoWindows = std::tuple<Sizes<2>, Sizes<2>>; // arguments of Fold
// Options of Fold.
class FoldOptions : public detail::ModuleOptions<Fold::Options, TwoWindows, Fold> {
public:
    // With these arguments; all else has its default.
    FoldOptions(Sizes<2> output_size, Sizes<2> kernel_size) : ModuleOptions({output_size, kernel_size}) {}
    REPRISE_SETTING(Sizes<2>, output_size, std::get<0>(this->arguments_))
    REPRISE_SETTING(Sizes<2>, kernel_size, std::get<1>(this->arguments_))
    REPRISE_OPTION(dilation)
    REPRISE_OPTION(padding)
    REPRISE_OPTION(stride)
};

// ---- norms ----

// Options of BatchNorm.
class BatchNormOptions : public detail::ModuleOptions<BatchNorm::Options, detail::OneSize, BatchNorm1d,
                                                      BatchNorm2d, BatchNorm3d> {
public:
    // With these arguments; all else has its default.
    BatchNormOptions(std::int64_t num_features) : ModuleOptions({num_features}, {}) {}
    REPRISE_ARGUMENT(0, num_features)
    REPRISE_OPTION(eps)
    REPRISE_OPTION(momentum)
    REPRISE_OPTION(affine)
    REPRISE_OPTION(track_running_stats)
};
using BatchNorm1dOptions = BatchNormOptions; // of BatchNorm1d
using BatchNorm2dOptions = BatchNormOptions; // of BatchNorm2d
using BatchNorm3dOptions = BatchNormOptions; // of BatchNorm3d
// Options of InstanceNorm.
class InstanceNormOptions : public detail::ModuleOptions<InstanceNorm::Options, detail::OneSize,
                                                         InstanceNorm1d, InstanceNorm2d, InstanceNorm3d> {
public:
    // With these arguments; all else has its default.
    InstanceNormOptions(std::int64_t num_features) : ModuleOptions({num_features}, {}) {}
    REPRISE_ARGUMENT(0, num_features)
    REPRISE_OPTION(eps)
    REPRISE_OPTION(momentum)
    REPRISE_OPTION(affine)
    REPRISE_OPTION(track_running_stats)
};
using InstanceNorm1dOptions = InstanceNormOptions; // of InstanceNorm1d
using InstanceNorm2dOptions = InstanceNormOptions; // of InstanceNorm2d
using InstanceNorm3dOptions = InstanceNormOptions; // of InstanceNorm3d
// Options of GroupNorm.
class GroupNormOptions : public detail::ModuleOptions<GroupNorm::Options, detail::TwoSizes, GroupNorm> {
public:
    // With these arguments; all else has its default.
    GroupNormOptions(std::int64_t num_groups, std::int64_t num_channels)
        : ModuleOptions({num_groups, num_channels})
    {}
    REPRISE_ARGUMENT(0, num_groups)
    REPRISE_ARGUMENT(1, num_channels)
    REPRISE_OPTION(eps)
    REPRISE_OPTION(affine)
};
// Options of LayerNorm.
class LayerNormOptions
    : public detail::ModuleOptions<LayerNorm::Options, std::tuple<std::vector<std::int64_t>>, LayerNorm> {
public:
    // With these arguments; all else has its default.
    LayerNormOptions(std::vector<std::int64_t> normalized_shape)
        : ModuleOptions({std::move(normalized_shape)}, {})
    {}
    REPRISE_SETTING(std::vector<std::int64_t>, normalized_shape, std::get<0>(this->arguments_))
    REPRISE_OPTION(eps)
    REPRISE_OPTION(elementwise_affine)
    REPRISE_OPTION(bias)
};
// Options of LocalResponseNorm.
class LocalResponseNormOptions
    : public detail::ModuleOptions<LocalResponseNorm::Options, detail::NoArguments, LocalResponseNorm> {
public:
    // With these arguments; all else has its default.
    LocalResponseNormOptions(std::int64_t size) : ModuleOptions({}, {.size = size}) {}
    REPRISE_OPTION(size)
    REPRISE_OPTION(alpha)
    REPRISE_OPTION(beta)
    REPRISE_OPTION(k)
};

// ---- recurrent networks, attention ----

// The members of the options of recurrent networks; the sizes are the constructor's arguments.
#define REPRISE_RECURRENT(X)                                                                                 \
    X##Options(std::int64_t input_size, std::int64_t hidden_size) : ModuleOptions({input_size, hidden_size}) \
    {}                                                                                                       \
    REPRISE_ARGUMENT(0, input_size)                                                                          \
    REPRISE_ARGUMENT(1, hidden_size)                                                                         \
    REPRISE_OPTION(bias)
// Setters of the options that networks of several layers have beyond those of a cell.
#define REPRISE_LAYERS                                                                                       \
    REPRISE_OPTION(num_layers)                                                                               \
    REPRISE_OPTION(batch_first)                                                                              \
    REPRISE_OPTION(dropout)                                                                                  \
    REPRISE_OPTION(bidirectional)

// Options of RNN.
class RNNOptions : public detail::ModuleOptions<RNN::Options, detail::TwoSizes, RNN> {
public:
    REPRISE_RECURRENT(RNN)
    REPRISE_LAYERS
    REPRISE_OPTION(nonlinearity)
};
// Options of GRU.
class GRUOptions : public detail::ModuleOptions<GRU::Options, detail::TwoSizes, GRU> {
public:
    REPRISE_RECURRENT(GRU)
    REPRISE_LAYERS
};
// Options of LSTM.
class LSTMOptions : public detail::ModuleOptions<LSTM::Options, detail::TwoSizes, LSTM> {
public:
    REPRISE_RECURRENT(LSTM)
    REPRISE_LAYERS
};
// Options of RNNCell.
class RNNCellOptions : public detail::ModuleOptions<RNNCell::Options, detail::TwoSizes, RNNCell> {
public:
    REPRISE_RECURRENT(RNNCell)
    REPRISE_OPTION(nonlinearity)
};
// Options of GRUCell.
class GRUCellOptions : public detail::ModuleOptions<GRUCell::Options, detail::TwoSizes, GRUCell> {
public:
    REPRISE_RECURRENT(GRUCell)
};
// Options of LSTMCell.
class LSTMCellOptions : public detail::ModuleOptions<LSTMCell::Options, detail::TwoSizes, LSTMCell> {
public:
    REPRISE_RECURRENT(LSTMCell)
};
#undef REPRISE_LAYERS
#undef REPRISE_RECURRENT

// Options of MultiheadAttention.
class MultiheadAttentionOptions
    : public detail::ModuleOptions<MultiheadAttention::Options, detail::TwoSizes, MultiheadAttention> {
public:
    // With these arguments; all else has its default.
    MultiheadAttentionOptions(std::int64_t embed_dim, std::int64_t num_heads)
        : ModuleOptions({embed_dim, num_heads})
    {}
    REPRISE_ARGUMENT(0, embed_dim)
    REPRISE_ARGUMENT(1, num_heads)
    REPRISE_OPTION(dropout)
    REPRISE_OPTION(bias)
    REPRISE_OPTION(kdim)
    REPRISE_OPTION(vdim)
    REPRISE_OPTION(batch_first)
};
// Setters of the options that encoder and decoder layers share.
#define REPRISE_TRANSFORMER                                                                                  \
    REPRISE_OPTION(dim_feedforward)                                                                          \
    REPRISE_OPTION(dropout)                                                                                  \
    REPRISE_OPTION(activation)                                                                               \
    REPRISE_OPTION(layer_norm_eps)                                                                           \
    REPRISE_OPTION(batch_first)                                                                              \
    REPRISE_OPTION(norm_first)                                                                               \
    REPRISE_OPTION(bias)

// Options of TransformerEncoderLayer.
class TransformerEncoderLayerOptions
    : public detail::ModuleOptions<TransformerEncoderLayer::Options, detail::TwoSizes,
                                   TransformerEncoderLayer> {
public:
    // With these arguments; all else has its default.
    TransformerEncoderLayerOptions(std::int64_t d_model, std::int64_t nhead) : ModuleOptions({d_model, nhead})
    {}
    REPRISE_ARGUMENT(0, d_model)
    REPRISE_ARGUMENT(1, nhead)
    REPRISE_TRANSFORMER
};
// Options of TransformerDecoderLayer.
class TransformerDecoderLayerOptions
    : public detail::ModuleOptions<TransformerDecoderLayer::Options, detail::TwoSizes,
                                   TransformerDecoderLayer> {
public:
    // With these arguments; all else has its default.
    TransformerDecoderLayerOptions(std::int64_t d_model, std::int64_t nhead) : ModuleOptions({d_model, nhead})
    {}
    REPRISE_ARGUMENT(0, d_model)
    REPRISE_ARGUMENT(1, nhead)
    REPRISE_TRANSFORMER
};
// Options of Transformer.
class TransformerOptions
    : public detail::ModuleOptions<Transformer::Options, detail::NoArguments, Transformer> {
public:
    TransformerOptions() = default;
    // With these arguments; all else has its default.
    TransformerOptions(std::int64_t d_model, std::int64_t nhead)
        : ModuleOptions({}, {.d_model = d_model, .nhead = nhead})
    {}
    // With these arguments; all else has its default.
    TransformerOptions(std::int64_t d_model, std::int64_t nhead, std::int64_t num_encoder_layers,
                       std::int64_t num_decoder_layers)
        : ModuleOptions({}, {.d_model = d_model,
                             .nhead = nhead,
                             .num_encoder_layers = num_encoder_layers,
                             .num_decoder_layers = num_decoder_layers})
    {}
    REPRISE_OPTION(d_model)
    REPRISE_OPTION(nhead)
    REPRISE_OPTION(num_encoder_layers)
    REPRISE_OPTION(num_decoder_layers)
    REPRISE_TRANSFORMER
};
#undef REPRISE_TRANSFORMER

// Options of TransformerEncoder and TransformerDecoder: a layer, which is copied, or its options, and how
// many.
template <class Stack, class Layer> class TransformerStackOptions {
public:
    // With these arguments; all else has its default.
    TransformerStackOptions(const Layer& layer, std::int64_t num_layers)
        : layer_(std::make_shared<Layer>(layer.copy())), num_layers_(num_layers)
    {}
    // Of the options of a layer.
    template <class Options>
    requires(!std::same_as<Options, Layer> && std::convertible_to<const Options&, Layer>)
        TransformerStackOptions(const Options& layer, std::int64_t num_layers)
        : layer_(std::make_shared<Layer>(layer)), num_layers_(num_layers)
    {}
    REPRISE_SETTING(std::int64_t, num_layers, num_layers_)
    // Makes the module.
    template <std::same_as<Stack> M> operator M() const { return M(*layer_, num_layers_); }

private:
    std::shared_ptr<const Layer> layer_;
    std::int64_t num_layers_;
};
using TransformerEncoderOptions =
    TransformerStackOptions<TransformerEncoder, TransformerEncoderLayer>; // of TransformerEncoder
using TransformerDecoderOptions =
    TransformerStackOptions<TransformerDecoder, TransformerDecoderLayer>; // of TransformerDecoder

} // namespace reprise::nn
