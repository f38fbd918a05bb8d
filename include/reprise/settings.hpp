// Options in libtorch's style, SGDOptions(0.1).momentum(0.9): for each setting, name(value) sets it and
// returns the options, and name() returns it.
//
// A class of options lists its settings.  It stores the values in the structure of options in braces, which
// has a member of the same name for each setting.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>

namespace reprise::detail {

// Gives settings access to set<Setting>(value) and get<Setting>() of the options that list them, of which it
// is a friend.
struct SettingAccess {
    template <class Setting, class Options, class T> static void set(Options& options, T value)
    {
        options.template set<Setting>(std::move(value));
    }
    template <class Setting, class Options> static decltype(auto) get(const Options& options)
    {
        return options.template get<Setting>();
    }
};

// The type of a setting in a structure of values.
template <class Setting, class Values> using TypeIn =
    std::remove_reference_t<decltype(Setting::in(std::declval<Values&>()))>;

} // namespace reprise::detail

// Defines a setting: in() returns its member in a structure of values, and options derive from its Functions.
// If no structure has it, as it is an argument of a module's constructor, a Member of this Type stores it.
#define REPRISE_SETTING(setting)                                                                             \
    struct setting {                                                                                         \
        using Setting = setting;                                                                             \
        using Type = std::int64_t;                                                                           \
        static constexpr const char* name = #setting;                                                        \
        static constexpr bool is_optional = false;                                                           \
        template <class Values> static auto in(Values& values) -> decltype((values.setting))                 \
        {                                                                                                    \
            return values.setting;                                                                           \
        }                                                                                                    \
        template <class T> struct Member {                                                                   \
            T setting = T(0);                                                                                \
        };                                                                                                   \
        template <class Options, class T> struct Functions {                                                 \
            Options& setting(T value)                                                                        \
            {                                                                                                \
                auto& options = static_cast<Options&>(*this);                                                \
                ::reprise::detail::SettingAccess::set<Setting>(options, std::move(value));                   \
                return options;                                                                              \
            }                                                                                                \
            decltype(auto) setting() const                                                                   \
            {                                                                                                \
                return ::reprise::detail::SettingAccess::get<Setting>(static_cast<const Options&>(*this));   \
            }                                                                                                \
        };                                                                                                   \
    };

namespace reprise::setting {

REPRISE_SETTING(activation)
REPRISE_SETTING(affine)
REPRISE_SETTING(align_corners)
REPRISE_SETTING(alpha)
REPRISE_SETTING(amsgrad)
REPRISE_SETTING(approximate)
REPRISE_SETTING(batch_first)
REPRISE_SETTING(beta)
REPRISE_SETTING(betas)
REPRISE_SETTING(bias)
REPRISE_SETTING(bidirectional)
REPRISE_SETTING(ceil_mode)
REPRISE_SETTING(centered)
REPRISE_SETTING(count_include_pad)
REPRISE_SETTING(d_model)
REPRISE_SETTING(dampening)
REPRISE_SETTING(decoupled_weight_decay)
REPRISE_SETTING(delta)
REPRISE_SETTING(dilation)
REPRISE_SETTING(dim)
REPRISE_SETTING(dim_feedforward)
REPRISE_SETTING(divisor_override)
REPRISE_SETTING(downscale_factor)
REPRISE_SETTING(dropout)
REPRISE_SETTING(dtype)
REPRISE_SETTING(elementwise_affine)
REPRISE_SETTING(embed_dim)
REPRISE_SETTING(embedding_dim)
REPRISE_SETTING(end_dim)
REPRISE_SETTING(eps)
REPRISE_SETTING(freeze)
REPRISE_SETTING(full)
REPRISE_SETTING(groups)
REPRISE_SETTING(hidden_size)
REPRISE_SETTING(history_size)
REPRISE_SETTING(ignore_index)
REPRISE_SETTING(in1_features)
REPRISE_SETTING(in2_features)
REPRISE_SETTING(in_channels)
REPRISE_SETTING(in_features)
REPRISE_SETTING(include_last_offset)
REPRISE_SETTING(init)
REPRISE_SETTING(initial_accumulator_value)
REPRISE_SETTING(inplace)
REPRISE_SETTING(input_size)
REPRISE_SETTING(k)
REPRISE_SETTING(kdim)
REPRISE_SETTING(keepdim)
REPRISE_SETTING(kernel_size)
REPRISE_SETTING(label_smoothing)
REPRISE_SETTING(lambd)
REPRISE_SETTING(layer_norm_eps)
REPRISE_SETTING(line_search_fn)
REPRISE_SETTING(log_input)
REPRISE_SETTING(log_target)
REPRISE_SETTING(lr)
REPRISE_SETTING(lr_decay)
REPRISE_SETTING(margin)
REPRISE_SETTING(max_eval)
REPRISE_SETTING(max_iter)
REPRISE_SETTING(max_val)
REPRISE_SETTING(maximize)
REPRISE_SETTING(min_val)
REPRISE_SETTING(mode)
REPRISE_SETTING(momentum)
REPRISE_SETTING(momentum_decay)
REPRISE_SETTING(negative_slope)
REPRISE_SETTING(nesterov)
REPRISE_SETTING(nhead)
REPRISE_SETTING(nonlinearity)
REPRISE_SETTING(norm_first)
REPRISE_SETTING(normalized_shape)
REPRISE_SETTING(num_channels)
REPRISE_SETTING(num_decoder_layers)
REPRISE_SETTING(num_embeddings)
REPRISE_SETTING(num_encoder_layers)
REPRISE_SETTING(num_features)
REPRISE_SETTING(num_groups)
REPRISE_SETTING(num_heads)
REPRISE_SETTING(num_layers)
REPRISE_SETTING(num_parameters)
REPRISE_SETTING(out_channels)
REPRISE_SETTING(out_features)
REPRISE_SETTING(output_padding)
REPRISE_SETTING(output_size)
REPRISE_SETTING(p)
REPRISE_SETTING(pad)
REPRISE_SETTING(padding)
REPRISE_SETTING(padding_idx)
REPRISE_SETTING(padding_mode)
REPRISE_SETTING(pos_weight)
REPRISE_SETTING(precision)
REPRISE_SETTING(reduction)
REPRISE_SETTING(rho)
REPRISE_SETTING(running_mean)
REPRISE_SETTING(running_var)
REPRISE_SETTING(scale_factor)
REPRISE_SETTING(size)
REPRISE_SETTING(sizes)
REPRISE_SETTING(start_dim)
REPRISE_SETTING(stride)
REPRISE_SETTING(swap)
REPRISE_SETTING(threshold)
REPRISE_SETTING(tolerance_change)
REPRISE_SETTING(tolerance_grad)
REPRISE_SETTING(track_running_stats)
REPRISE_SETTING(training)
REPRISE_SETTING(upscale_factor)
REPRISE_SETTING(use_input_stats)
REPRISE_SETTING(value)
REPRISE_SETTING(vdim)
REPRISE_SETTING(weight)
REPRISE_SETTING(weight_decay)

} // namespace reprise::setting

#undef REPRISE_SETTING
