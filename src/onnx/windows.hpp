// The windows of convolutions and pooling: attributes that several operators share.
#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "onnx/call.hpp"

namespace reprise::onnx {

// Windows over the last dimensions of x [N, C, ...].
struct Windows {
    std::vector<std::int64_t> kernel, stride, dilation;
    DimVector before, after; // elements of padding
    bool ceil_mode = false;  // whether the number of windows is rounded up
    std::size_t rank() const { return kernel.size(); }
    std::int64_t extent(std::size_t i) const { return dilation[i] * (kernel[i] - 1) + 1; }
    // Whether each padding is a constant that is equal on both sides.
    bool symmetric() const;
    // Whether there is no padding.
    bool unpadded() const;
};

// Reads the attributes for an input of this shape.  The kernel's sizes may come from a weight.
Windows read_windows(const Call&, const Shape& shape, std::vector<std::int64_t> kernel);
// The padding that makes the number of windows along axis i exact: windows that would begin in the padding at the end
// are left out, and `after` reaches to the end of the last window.  Returns nothing to round.
Windows exact_windows(Windows, const Shape& shape);
// A size of padding for pooling, which leaves elements out that no window reaches.  Constants below 0 cut them off;
// a size that depends on symbols can't be cut and is 0 instead.
Dim padding_size(const Dim&);
// Pads the last dimensions by constants.
Tensor pad_images(const Tensor&, const DimVector& before, const DimVector& after, double value);
// Positions of elements along a dimension as grid_sample() takes them: its borders are -1 and 1.
Tensor grid_positions(const Tensor& elements, const Dim& size);
// The first N numbers of a list.
template <std::size_t N> std::array<std::int64_t, N> numbers_of(const std::vector<std::int64_t>& list)
{
    std::array<std::int64_t, N> out{};
    for (std::size_t i = 0; i < N; ++i) out[i] = list[i];
    return out;
}
// The padding before the dimensions, where it is constant.
template <std::size_t N> std::array<std::int64_t, N> padding_of(const Windows& windows)
{
    return numbers_of<N>(windows.before.vec());
}
// Calls f.template operator()<N>() for N of 1 to 3 dimensions of windows.
template <class F> auto with_rank(const Call& call, std::size_t rank, const F& f)
{
    if (rank == 1) return f.template operator()<1>();
    if (rank == 2) return f.template operator()<2>();
    if (rank == 3) return f.template operator()<3>();
    call.fail("There are (", rank, ") dimensions of windows, but the library has 1 to 3.");
}

} // namespace reprise::onnx
