// Indices of x.index({...}) and x[...].
#pragma once
#include <concepts>
#include <cstdint>
#include <optional>
#include <string_view>
#include <variant>

#include <reprise/dim.hpp>
#include <reprise/tensor.hpp>

namespace reprise {
namespace indexing {

// As an index a new dimension of size 1; in a Slice a bound that is not given.
inline constexpr std::nullopt_t None = std::nullopt;

struct EllipsisType {};                   // the type of Ellipsis
inline constexpr EllipsisType Ellipsis{}; // all dimensions that no other index names

// start:stop:step as in Python: negative numbers count from the end, and bounds beyond the dimension are
// clamped to it.
struct Slice {
    // From `from` to before `to`, by steps of `by`.
    Slice(std::optional<Dim> from = None, std::optional<Dim> to = None, std::int64_t by = 1)
        : start(std::move(from)), stop(std::move(to)), step(by)
    {}
    std::optional<Dim> start, // the first index; None: 0
        stop;                 // the index behind the last one; None: the dimension's size
    std::int64_t step;        // at least 1, else Error(argument) where it is used
};

// An index of one dimension or several: a number, None, Ellipsis (or "..."), a Slice, a bool, a tensor of
// indices (i32 or i64) or a mask (a bool tensor).
class TensorIndex {
public:
    using Kinds = std::variant<std::nullopt_t, EllipsisType, Slice, bool, Dim, Tensor>; // what it may be
    TensorIndex(std::nullopt_t) : kind_(None) {}               // a new dimension of size 1
    TensorIndex(EllipsisType) : kind_(Ellipsis) {}             // all dimensions that no other index names
    TensorIndex(Slice slice) : kind_(std::move(slice)) {}      // a range of a dimension
    TensorIndex(Dim number) : kind_(std::move(number)) {}      // one element, without the dimension
    TensorIndex(Tensor indices) : kind_(std::move(indices)) {} // elements at indices, or where a mask is true
    // A number, as above; or a bool: a new dimension of size 1 for true, of size 0 for false.
    template <std::integral T> TensorIndex(T number) : kind_(None)
    {
        if constexpr (std::same_as<T, bool>) kind_.template emplace<bool>(number);
        else kind_.template emplace<Dim>(number);
    }
    // Ellipsis for "..."; Error(argument) for another text.
    template <class Text>
    requires std::convertible_to<Text, std::string_view> TensorIndex(const Text& text) : kind_(Ellipsis)
    {
        if (std::string_view(text) != "...")
            detail::fail(ErrorKind::argument, "index", "The text (", text, ") is no index: only \"...\" is.");
    }
    const Kinds& kind() const { return kind_; } // what it is

private:
    Kinds kind_;
};

} // namespace indexing

using indexing::Ellipsis;
using indexing::None;
using indexing::Slice;
using indexing::TensorIndex;

} // namespace reprise
