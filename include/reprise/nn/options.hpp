// libtorch's options of modules, each setting by a call: Conv2d(Conv2dOptions(1, 8,
// 3).stride(2).bias(false)).
//
// XOptions takes the arguments of X's constructor that have no default.  Its functions set the members of
// X::Options, the structure of options in braces, and return the XOptions; without an argument they return
// the value.  It converts to X.
#pragma once
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
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
#include <reprise/settings.hpp>

namespace reprise::detail {

// The base class of options Self (CRTP) with these values and settings.
template <class Self, class Values, class... Settings> class SettingsOf
    : public Settings::template Functions<Self, TypeIn<Settings, Values>>... {
public:
    const Values& values() const noexcept { return values_; } // the structure

protected:
    SettingsOf() = default;
    explicit SettingsOf(Values values) : values_(std::move(values)) {}
    Values values_{};

private:
    friend SettingAccess;
    template <class Setting> void set(TypeIn<Setting, Values> value)
    {
        Setting::in(values_) = std::move(value);
    }
    template <class Setting> const auto& get() const { return Setting::in(values_); }
};

// Marks an optional argument in the list of a constructor's arguments.
template <class Setting> struct Optional : Setting {
    static constexpr bool is_optional = true;
};
// Sets the type of an argument in the same list.
template <class Setting, class T> struct Of : Setting {
    using Type = T;
};

template <class Values, class Setting>
concept HasSetting = requires(Values& values)
{
    Setting::in(values);
};

// Stores an argument of a constructor that is no member of the values.
template <class Setting, class Values> struct Argument : Setting::template Member<typename Setting::Type> {};
template <class Setting, HasSetting<Setting> Values> struct Argument<Setting, Values> {};

// Finds the structure of a module's options, which is empty if it has none; or Made itself, if that is a structure.
template <class Made> struct OptionsIn {
    using Type = Made;
};
template <std::derived_from<nn::Module> Made> struct OptionsIn<Made> {
    struct Type {};
};
template <std::derived_from<nn::Module> Made>
requires requires { typename Made::Options; }
struct OptionsIn<Made> {
    using Type = typename Made::Options;
};

// That structure, extended by the constructor's arguments that it lacks.
template <class Made, class... Given>
struct ValuesFor : OptionsIn<Made>::Type, Argument<Given, typename OptionsIn<Made>::Type>... {};

// Whether the options of Made are those of several modules, which derive from it.
template <class Made> inline constexpr bool is_base_of_modules = false;

// OptionsFor<Linear(in_features, out_features), bias>: options that are constructed from in_features and
// out_features, have these two settings and bias, and convert to a Linear.  Arguments that Linear::Options
// lacks are passed to Linear's constructor, followed by the Linear::Options.  Instead of a module, a
// structure of values may be given.
template <class Constructor, class... Settings> class OptionsFor;
template <class Made, class... Given, class... More> class OptionsFor<Made(Given...), More...>
    : public SettingsOf<OptionsFor<Made(Given...), More...>, ValuesFor<Made, Given...>, Given..., More...> {
    using Options = typename OptionsIn<Made>::Type;

public:
    OptionsFor() requires(Given::is_optional&&...) = default;
    OptionsFor(TypeIn<Given, ValuesFor<Made, Given...>>... given) requires(sizeof...(Given) > 0)
    {
        ((Given::in(this->values_) = std::move(given)), ...);
    }
    // Creates the module or the structure; of a base of several modules, one that derives from it.
    template <class M>
    requires(std::same_as<M, Made> != is_base_of_modules<Made> && std::derived_from<M, Made>) operator M()
        const
    {
        return std::apply([](const auto&... arguments) { return M(arguments...); },
                          std::tuple_cat(argument<Given>()..., options()));
    }

private:
    template <class Setting> auto argument() const
    {
        if constexpr (HasSetting<Options, Setting>) return std::tuple<>();
        else return std::tie(Setting::in(this->values_));
    }
    auto options() const
    {
        if constexpr (std::is_empty_v<Options>) return std::tuple<>();
        else return std::tie(static_cast<const Options&>(this->values_));
    }
};

// The setting of an image's size, which is given by a vector.
struct ImageSize : setting::size {
    using Setting = ImageSize;
    template <class Options, class T> struct Functions {
        Options& size(const std::vector<std::int64_t>& sizes)
        {
            auto& options = static_cast<Options&>(*this);
            SettingAccess::set<Setting>(options, T(sizes.begin(), sizes.end()));
            return options;
        }
    };
};

template <> inline constexpr bool is_base_of_modules<nn::BatchNorm> = true;
template <> inline constexpr bool is_base_of_modules<nn::InstanceNorm> = true;
template <> inline constexpr bool is_base_of_modules<nn::bases::DropoutLayer> = true;

} // namespace reprise::detail

namespace reprise::nn {

// ---- linear layers, embeddings ----

// Options of Linear.
using LinearOptions = detail::OptionsFor<Linear(setting::in_features, setting::out_features), setting::bias>;
// Options of Bilinear.
using BilinearOptions =
    detail::OptionsFor<Bilinear(setting::in1_features, setting::in2_features, setting::out_features),
                       setting::bias>;
// Options of Embedding.
using EmbeddingOptions =
    detail::OptionsFor<Embedding(setting::num_embeddings, setting::embedding_dim), setting::padding_idx>;
// Options of EmbeddingBag.
using EmbeddingBagOptions =
    detail::OptionsFor<EmbeddingBag(setting::num_embeddings, setting::embedding_dim), setting::mode,
                       setting::include_last_offset, setting::padding_idx>;
// For Embedding::from_pretrained(weight, options).
using EmbeddingFromPretrainedOptions =
    detail::OptionsFor<EmbeddingFromPretrainedSettings(), setting::freeze, setting::padding_idx>;

// ---- convolutions and their windows ----

// Options of Conv<N>.
template <std::size_t N> using ConvModuleOptions =
    detail::OptionsFor<Conv<N>(setting::in_channels, setting::out_channels, setting::kernel_size),
                       setting::stride, setting::padding, setting::dilation, setting::groups, setting::bias,
                       setting::padding_mode>;
using Conv1dOptions = ConvModuleOptions<1>; // of Conv1d
using Conv2dOptions = ConvModuleOptions<2>; // of Conv2d
using Conv3dOptions = ConvModuleOptions<3>; // of Conv3d

// Options of ConvTranspose<N>.
template <std::size_t N> using ConvTransposeModuleOptions =
    detail::OptionsFor<ConvTranspose<N>(setting::in_channels, setting::out_channels, setting::kernel_size),
                       setting::stride, setting::padding, setting::output_padding, setting::dilation,
                       setting::groups, setting::bias>;
using ConvTranspose1dOptions = ConvTransposeModuleOptions<1>; // of ConvTranspose1d
using ConvTranspose2dOptions = ConvTransposeModuleOptions<2>; // of ConvTranspose2d
using ConvTranspose3dOptions = ConvTransposeModuleOptions<3>; // of ConvTranspose3d

// Options of MaxPool<N>.
template <std::size_t N> using MaxPoolModuleOptions =
    detail::OptionsFor<MaxPool<N>(setting::kernel_size), setting::stride, setting::padding, setting::dilation,
                       setting::ceil_mode>;
// Options of MaxUnpool<N>.
template <std::size_t N> using MaxUnpoolModuleOptions =
    detail::OptionsFor<MaxUnpool<N>(setting::kernel_size), setting::stride, setting::padding>;
// Options of AvgPool<N>.
template <std::size_t N> using AvgPoolModuleOptions =
    detail::OptionsFor<AvgPool<N>(setting::kernel_size), setting::stride, setting::padding,
                       setting::ceil_mode, setting::count_include_pad, setting::divisor_override>;
using MaxPool1dOptions = MaxPoolModuleOptions<1>;     // of MaxPool1d
using MaxPool2dOptions = MaxPoolModuleOptions<2>;     // of MaxPool2d
using MaxPool3dOptions = MaxPoolModuleOptions<3>;     // of MaxPool3d
using MaxUnpool1dOptions = MaxUnpoolModuleOptions<1>; // of MaxUnpool1d
using MaxUnpool2dOptions = MaxUnpoolModuleOptions<2>; // of MaxUnpool2d
using MaxUnpool3dOptions = MaxUnpoolModuleOptions<3>; // of MaxUnpool3d
using AvgPool1dOptions = AvgPoolModuleOptions<1>;     // of AvgPool1d
using AvgPool2dOptions = AvgPoolModuleOptions<2>;     // of AvgPool2d
using AvgPool3dOptions = AvgPoolModuleOptions<3>;     // of AvgPool3d

// Options of AdaptiveAvgPool<N> and AdaptiveMaxPool<N>, which are `Pool`.
template <class Pool, std::size_t N> using AdaptivePoolOptions =
    detail::OptionsFor<Pool(setting::output_size)>;
using AdaptiveAvgPool1dOptions = AdaptivePoolOptions<AdaptiveAvgPool1d, 1>; // of AdaptiveAvgPool1d
using AdaptiveAvgPool2dOptions = AdaptivePoolOptions<AdaptiveAvgPool2d, 2>; // of AdaptiveAvgPool2d
using AdaptiveAvgPool3dOptions = AdaptivePoolOptions<AdaptiveAvgPool3d, 3>; // of AdaptiveAvgPool3d
using AdaptiveMaxPool1dOptions = AdaptivePoolOptions<AdaptiveMaxPool1d, 1>; // of AdaptiveMaxPool1d
using AdaptiveMaxPool2dOptions = AdaptivePoolOptions<AdaptiveMaxPool2d, 2>; // of AdaptiveMaxPool2d
using AdaptiveMaxPool3dOptions = AdaptivePoolOptions<AdaptiveMaxPool3d, 3>; // of AdaptiveMaxPool3d

// Options of Unfold.
using UnfoldOptions = detail::OptionsFor<Unfold(detail::Of<setting::kernel_size, Sizes<2>>),
                                         setting::dilation, setting::padding, setting::stride>;
// Options of Fold.
using FoldOptions = detail::OptionsFor<Fold(detail::Of<setting::output_size, Sizes<2>>,
                                            detail::Of<setting::kernel_size, Sizes<2>>),
                                       setting::dilation, setting::padding, setting::stride>;

// ---- norms ----

// Options of BatchNorm.
using BatchNormOptions = detail::OptionsFor<BatchNorm(setting::num_features), setting::eps, setting::momentum,
                                            setting::affine, setting::track_running_stats>;
using BatchNorm1dOptions = BatchNormOptions; // of BatchNorm1d
using BatchNorm2dOptions = BatchNormOptions; // of BatchNorm2d
using BatchNorm3dOptions = BatchNormOptions; // of BatchNorm3d
// Options of InstanceNorm.
using InstanceNormOptions =
    detail::OptionsFor<InstanceNorm(setting::num_features), setting::eps, setting::momentum, setting::affine,
                       setting::track_running_stats>;
using InstanceNorm1dOptions = InstanceNormOptions; // of InstanceNorm1d
using InstanceNorm2dOptions = InstanceNormOptions; // of InstanceNorm2d
using InstanceNorm3dOptions = InstanceNormOptions; // of InstanceNorm3d
// Options of GroupNorm.
using GroupNormOptions =
    detail::OptionsFor<GroupNorm(setting::num_groups, setting::num_channels), setting::eps, setting::affine>;
// Options of LayerNorm.
using LayerNormOptions =
    detail::OptionsFor<LayerNorm(detail::Of<setting::normalized_shape, std::vector<std::int64_t>>),
                       setting::eps, setting::elementwise_affine, setting::bias>;
// Options of LocalResponseNorm.
using LocalResponseNormOptions =
    detail::OptionsFor<LocalResponseNorm(setting::size), setting::alpha, setting::beta, setting::k>;

// ---- recurrent networks, attention ----

// Options of RNN.
using RNNOptions =
    detail::OptionsFor<RNN(setting::input_size, setting::hidden_size), setting::bias, setting::num_layers,
                       setting::batch_first, setting::dropout, setting::bidirectional, setting::nonlinearity>;
// Options of GRU.
using GRUOptions =
    detail::OptionsFor<GRU(setting::input_size, setting::hidden_size), setting::bias, setting::num_layers,
                       setting::batch_first, setting::dropout, setting::bidirectional>;
// Options of LSTM.
using LSTMOptions =
    detail::OptionsFor<LSTM(setting::input_size, setting::hidden_size), setting::bias, setting::num_layers,
                       setting::batch_first, setting::dropout, setting::bidirectional>;
// Options of RNNCell.
using RNNCellOptions = detail::OptionsFor<RNNCell(setting::input_size, setting::hidden_size), setting::bias,
                                          setting::nonlinearity>;
// Options of GRUCell.
using GRUCellOptions = detail::OptionsFor<GRUCell(setting::input_size, setting::hidden_size), setting::bias>;
// Options of LSTMCell.
using LSTMCellOptions =
    detail::OptionsFor<LSTMCell(setting::input_size, setting::hidden_size), setting::bias>;

// Options of MultiheadAttention.
using MultiheadAttentionOptions =
    detail::OptionsFor<MultiheadAttention(setting::embed_dim, setting::num_heads), setting::dropout,
                       setting::bias, setting::kdim, setting::vdim, setting::batch_first>;
// Options of TransformerEncoderLayer and TransformerDecoderLayer, which are `Layer`.
template <class Layer> using TransformerLayerOptions =
    detail::OptionsFor<Layer(setting::d_model, setting::nhead), setting::dim_feedforward, setting::dropout,
                       setting::activation, setting::layer_norm_eps, setting::batch_first,
                       setting::norm_first, setting::bias>;
// Options of TransformerEncoderLayer.
using TransformerEncoderLayerOptions = TransformerLayerOptions<TransformerEncoderLayer>;
// Options of TransformerDecoderLayer.
using TransformerDecoderLayerOptions = TransformerLayerOptions<TransformerDecoderLayer>;

// Options of Transformer.
class TransformerOptions
    : public detail::SettingsOf<TransformerOptions, TransformerSettings, setting::d_model, setting::nhead,
                                setting::num_encoder_layers, setting::num_decoder_layers,
                                setting::dim_feedforward, setting::dropout, setting::activation,
                                setting::layer_norm_eps, setting::batch_first, setting::norm_first,
                                setting::bias> {
public:
    TransformerOptions() = default;
    // Takes these arguments; other options have their defaults.
    TransformerOptions(std::int64_t d_model, std::int64_t nhead)
        : SettingsOf({.d_model = d_model, .nhead = nhead})
    {}
    // Takes these arguments; other options have their defaults.
    TransformerOptions(std::int64_t d_model, std::int64_t nhead, std::int64_t num_encoder_layers,
                       std::int64_t num_decoder_layers)
        : SettingsOf({.d_model = d_model,
                      .nhead = nhead,
                      .num_encoder_layers = num_encoder_layers,
                      .num_decoder_layers = num_decoder_layers})
    {}
    // Creates the module.
    template <std::same_as<Transformer> M> operator M() const { return M(values()); }
};

// Values of the options of a stack of layers.
template <class Layer> struct TransformerStackValues {
    std::shared_ptr<const Layer> layer; // which is copied
    std::int64_t num_layers;            // number of copies
};
// Options of TransformerEncoder and TransformerDecoder: a layer, which is copied, or its options, and the
// number of layers.
template <class Stack, class Layer> class TransformerStackOptions
    : public detail::SettingsOf<TransformerStackOptions<Stack, Layer>, TransformerStackValues<Layer>,
                                setting::num_layers> {
public:
    // Takes these arguments; other options have their defaults.
    TransformerStackOptions(const Layer& layer, std::int64_t num_layers)
        : TransformerStackOptions::SettingsOf({std::make_shared<Layer>(layer.copy()), num_layers})
    {}
    // Takes the options of a layer.
    template <class Options>
    requires(!std::same_as<Options, Layer> && std::convertible_to<const Options&, Layer>)
        TransformerStackOptions(const Options& layer, std::int64_t num_layers)
        : TransformerStackOptions::SettingsOf({std::make_shared<Layer>(layer), num_layers})
    {}
    // Creates the module.
    template <std::same_as<Stack> M> operator M() const
    {
        return M(*this->values().layer, this->values().num_layers);
    }
};
using TransformerEncoderOptions =
    TransformerStackOptions<TransformerEncoder, TransformerEncoderLayer>; // of TransformerEncoder
using TransformerDecoderOptions =
    TransformerStackOptions<TransformerDecoder, TransformerDecoderLayer>; // of TransformerDecoder

} // namespace reprise::nn
