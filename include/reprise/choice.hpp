// Choices among a few named values: an option is given as a value of an enum, or by PyTorch's name for it.
#pragma once
#include <array>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <reprise/error.hpp>

namespace reprise {

namespace detail {
// Throws Error(argument), as the text is none of the names.
[[noreturn]] void no_choice(std::string_view text, const std::string& names);

// A libtorch constant such as kMean, which converts to its name.
struct ChoiceName {
    std::string_view name; // as PyTorch writes it in Python
    constexpr operator std::string_view() const { return name; }
};
} // namespace detail

// PyTorch's names of the values of an enum, which names_of_choices() returns.
template <class Enum, std::size_t count> using ChoiceNames =
    std::array<std::pair<std::string_view, Enum>, count>;

// A value of Enum, constructed from the value, from PyTorch's name as text ("mean"), or from libtorch's constant
// (kMean).  Each such enum is declared with a function names_of_choices(Enum), which returns pairs of names and values.
template <class Enum> class Choice {
public:
    constexpr Choice(Enum value) : value_(value) {} // this value
    // Takes the value of that name. Throws Error(argument) for any other text.
    template <class Text>
    requires std::convertible_to<const Text&, std::string_view> Choice(const Text& text) : value_(named(text))
    {}
    constexpr operator Enum() const { return value_; } // the value

private:
    static Enum named(std::string_view text)
    {
        std::string names;
        for (const auto& [name, value] : names_of_choices(Enum())) {
            if (name == text) return value;
            names += (names.empty() ? "" : ", ") + std::string(name);
        }
        detail::no_choice(text, names);
    }
    Enum value_;
};

// -- libtorch's constants, for options and arguments that are choices --

inline constexpr detail::ChoiceName kNone{"none"};            // a loss for each element
inline constexpr detail::ChoiceName kMean{"mean"};            // the mean of the losses
inline constexpr detail::ChoiceName kSum{"sum"};              // the sum of the losses
inline constexpr detail::ChoiceName kBatchMean{"batchmean"};  // the sum of the losses over the batch size
inline constexpr detail::ChoiceName kReLU{"relu"};            // the function relu()
inline constexpr detail::ChoiceName kLeakyReLU{"leaky_relu"}; // the function leaky_relu()
inline constexpr detail::ChoiceName kGELU{"gelu"};            // the function gelu()
inline constexpr detail::ChoiceName kTanh{"tanh"};            // the function tanh()
inline constexpr detail::ChoiceName kSigmoid{"sigmoid"};      // the function sigmoid()
inline constexpr detail::ChoiceName kLinear{"linear"};        // linear interpolation; no nonlinearity
inline constexpr detail::ChoiceName kFanIn{"fan_in"};         // the number of inputs of a unit
inline constexpr detail::ChoiceName kFanOut{"fan_out"};       // the number of outputs of a unit
inline constexpr detail::ChoiceName kNearest{"nearest"};      // the nearest element
inline constexpr detail::ChoiceName kNearestExact{"nearest-exact"}; // the element around the output's centre
inline constexpr detail::ChoiceName kBilinear{"bilinear"};          // linear interpolation in two dimensions
inline constexpr detail::ChoiceName kBicubic{"bicubic"};            // cubic interpolation in two dimensions
inline constexpr detail::ChoiceName kTrilinear{"trilinear"};   // linear interpolation in three dimensions
inline constexpr detail::ChoiceName kArea{"area"};             // adaptive average pooling
inline constexpr detail::ChoiceName kConstant{"constant"};     // padding with one value
inline constexpr detail::ChoiceName kReflect{"reflect"};       // padding with the mirrored tensor
inline constexpr detail::ChoiceName kReplicate{"replicate"};   // padding with the border's element
inline constexpr detail::ChoiceName kCircular{"circular"};     // padding with the other end's elements
inline constexpr detail::ChoiceName kZeros{"zeros"};           // padding with zeros
inline constexpr detail::ChoiceName kBorder{"border"};         // sampling the border's element
inline constexpr detail::ChoiceName kReflection{"reflection"}; // sampling the mirrored image
inline constexpr detail::ChoiceName kSame{"same"};             // padding so that sizes stay the same
inline constexpr detail::ChoiceName kValid{"valid"};           // no padding

} // namespace reprise
