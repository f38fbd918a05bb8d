// What stands between the brackets of x.index({...}) and x[...].
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

inline constexpr std::nullopt_t None = std::nullopt; // a new dimension of size 1; in a Slice: not given

struct EllipsisType {};
inline constexpr EllipsisType Ellipsis{}; // all dimensions that nothing else names

// start:stop:step as in Python: negative numbers count from the end, what lies beyond is cut; the step is at least 1.
struct Slice {
    Slice(std::optional<Dim> from = None, std::optional<Dim> to = None, std::int64_t by = 1)
        : start(std::move(from)), stop(std::move(to)), step(by)
    {}
    std::optional<Dim> start, stop;
    std::int64_t step;
};

// One of: a number, None, Ellipsis (or "..."), a Slice, a bool, a tensor of indices (i32 or i64) or a mask (bool).
class TensorIndex {
public:
    using Kinds = std::variant<std::nullopt_t, EllipsisType, Slice, bool, Dim, Tensor>;
    TensorIndex(std::nullopt_t) : kind_(None) {}
    TensorIndex(EllipsisType) : kind_(Ellipsis) {}
    TensorIndex(Slice slice) : kind_(std::move(slice)) {}
    TensorIndex(Dim number) : kind_(std::move(number)) {}
    TensorIndex(Tensor indices) : kind_(std::move(indices)) {}
    template <std::integral T> TensorIndex(T number) : kind_(None)
    {
        if constexpr (std::same_as<T, bool>) kind_.template emplace<bool>(number);
        else kind_.template emplace<Dim>(number);
    }
    // "...", else Error(argument).
    template <class Text>
    requires std::convertible_to<Text, std::string_view> TensorIndex(const Text& text) : kind_(Ellipsis)
    {
        if (std::string_view(text) != "...")
            detail::fail(ErrorKind::argument, "index", "The text (", text, ") is no index: only \"...\" is.");
    }
    const Kinds& kind() const { return kind_; }

private:
    Kinds kind_;
};

} // namespace indexing

using indexing::Ellipsis;
using indexing::None;
using indexing::Slice;
using indexing::TensorIndex;

} // namespace reprise
