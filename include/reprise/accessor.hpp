// Reading the elements of a tensor by their indices.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/tensor.hpp>

namespace reprise {

// A copy of a tensor's elements on the host, or a part of it: a[i] is an accessor with one dimension fewer or, in the
// last dimension, an element.  Indices are not checked.  It is read-only: write by copy_() or index_put_().
template <class T, std::size_t N> class TensorAccessor {
public:
    // For the library itself: creates the part that begins at `offset`, whose N sizes are those in `sizes` from `dim`
    // on.
    TensorAccessor(std::shared_ptr<const std::vector<T>> values,
                   std::shared_ptr<const std::vector<std::int64_t>> sizes, std::size_t dim = 0,
                   std::size_t offset = 0)
        : values_(std::move(values)), sizes_(std::move(sizes)), dim_(dim), offset_(offset)
    {}
    // Returns part or element i along the first dimension.
    auto operator[](std::int64_t i) const
    {
        std::size_t step = 1;
        for (std::size_t d = dim_ + 1; d < sizes_->size(); ++d)
            step *= static_cast<std::size_t>((*sizes_)[d]);
        const std::size_t at = offset_ + static_cast<std::size_t>(i) * step;
        if constexpr (N == 1) return static_cast<T>((*values_)[at]);
        else return TensorAccessor<T, N - 1>(values_, sizes_, dim_ + 1, at);
    }
    std::int64_t size(std::size_t dim) const { return (*sizes_)[dim_ + dim]; } // the size of a dimension
    std::size_t dim() const { return N; }                                      // the number of dimensions

private:
    std::shared_ptr<const std::vector<T>> values_; // row-major
    std::shared_ptr<const std::vector<std::int64_t>> sizes_;
    std::size_t dim_, offset_;
};

template <class T, std::size_t N> TensorAccessor<T, N> Tensor::accessor() const
{
    if (dim() != static_cast<std::int64_t>(N))
        detail::fail(ErrorKind::shape, "accessor", "The shape (", to_string(shape()), ") has (", dim(),
                     ") dimensions, but the accessor has (", N, ").");
    std::vector<std::int64_t> sizes = shape().vec();
    return TensorAccessor<T, N>(std::make_shared<const std::vector<T>>(to_vector<T>()),
                                std::make_shared<const std::vector<std::int64_t>>(std::move(sizes)));
}

} // namespace reprise
