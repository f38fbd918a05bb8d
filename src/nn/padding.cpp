
#include <reprise/nn/padding.hpp>

#include "nn/repr.hpp"

namespace reprise::nn {

namespace {

template <std::size_t N> DimVector amounts(const Sizes<N>& padding)
{
    return {padding.array().begin(), padding.array().end()};
}

} // namespace

template <std::size_t N, PaddingMode mode> Tensor Padding<N, mode>::forward(Tensor x)
{
    return pad(x, amounts(padding_), mode);
}

template <std::size_t N, PaddingMode mode> std::string Padding<N, mode>::name() const
{
    const char* kind = mode == PaddingMode::constant    ? "Zero"
                       : mode == PaddingMode::reflect   ? "Reflection"
                       : mode == PaddingMode::replicate ? "Replication"
                                                        : "Circular";
    return kind + ("Pad" + std::to_string(N)) + "d";
}

template <std::size_t N, PaddingMode mode> std::string Padding<N, mode>::extra_repr() const
{
    return Repr().sizes("padding", padding_).text();
}

template <std::size_t N> std::string ConstantPad<N>::extra_repr() const
{
    return Repr().sizes("padding", padding_).option("value", value_).text();
}

template <std::size_t N> Tensor ConstantPad<N>::forward(Tensor x)
{
    return pad(x, amounts(padding_), value_);
}

template class Padding<1, PaddingMode::constant>;
template class Padding<2, PaddingMode::constant>;
template class Padding<3, PaddingMode::constant>;
template class Padding<1, PaddingMode::reflect>;
template class Padding<2, PaddingMode::reflect>;
template class Padding<3, PaddingMode::reflect>;
template class Padding<1, PaddingMode::replicate>;
template class Padding<2, PaddingMode::replicate>;
template class Padding<3, PaddingMode::replicate>;
template class Padding<1, PaddingMode::circular>;
template class Padding<2, PaddingMode::circular>;
template class Padding<3, PaddingMode::circular>;
template class ConstantPad<1>;
template class ConstantPad<2>;
template class ConstantPad<3>;

} // namespace reprise::nn
