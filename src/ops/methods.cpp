// Tensor's members that are ops, and tensors from host memory.
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {

Tensor Tensor::reshape(const Shape& s) const { return reprise::reshape(*this, s); }
Tensor Tensor::flatten(std::int64_t from, std::int64_t to) const { return reprise::flatten(*this, from, to); }
Tensor Tensor::transpose(std::int64_t a, std::int64_t b) const { return reprise::transpose(*this, a, b); }
Tensor Tensor::t() const
{
    if (dim() > 2)
        detail::fail(ErrorKind::shape, "t", "The shape (", to_string(shape()),
                     ") is not a matrix's: use transpose(a, b).");
    return dim() < 2 ? *this : reprise::transpose(*this, 0, 1);
}
Tensor Tensor::permute(const std::vector<std::int64_t>& dims) const { return reprise::permute(*this, dims); }
Tensor Tensor::expand(const Shape& s) const { return reprise::expand(*this, s); }
Tensor Tensor::squeeze() const { return reprise::squeeze(*this); }
Tensor Tensor::squeeze(std::int64_t d) const { return reprise::squeeze(*this, d); }
Tensor Tensor::unsqueeze(std::int64_t d) const { return reprise::unsqueeze(*this, d); }
Tensor Tensor::narrow(std::int64_t d, const Dim& start, const Dim& length) const
{
    return reprise::narrow(*this, d, start, length);
}
Tensor Tensor::contiguous() const { return graph::apply1(ops::contiguous_op, {*this}); }
Tensor Tensor::to(DType t) const { return cast(*this, t); }
Tensor Tensor::sum(const Dims& dims, bool keepdim) const { return reprise::sum(*this, dims, keepdim); }
Tensor Tensor::mean(const Dims& dims, bool keepdim) const { return reprise::mean(*this, dims, keepdim); }
Tensor Tensor::max() const { return reprise::max(*this); }
Tensor Tensor::argmax(std::int64_t d, bool keepdim) const { return reprise::argmax(*this, d, keepdim); }
Tensor Tensor::matmul(const Tensor& other) const { return reprise::matmul(*this, other); }
Tensor Tensor::relu() const { return reprise::relu(*this); }
Tensor Tensor::exp() const { return reprise::exp(*this); }
Tensor Tensor::log() const { return reprise::log(*this); }
Tensor Tensor::sqrt() const { return reprise::sqrt(*this); }
Tensor Tensor::tanh() const { return reprise::tanh(*this); }
Tensor Tensor::abs() const { return reprise::abs(*this); }
Tensor Tensor::pow(double exponent) const { return reprise::pow(*this, exponent); }

Tensor from_bytes(std::span<const std::byte> bytes, const Shape& shape, const TensorOptions& options)
{
    for (const Dim& d : shape)
        if (d.value() < 0)
            detail::fail(ErrorKind::shape, "from_vector", "The shape (", to_string(shape),
                         ") has a negative size: sizes start at 0.");
    const std::size_t values = bytes.size() / size_of(options.dtype);
    if (bytes.size() % size_of(options.dtype) != 0 ||
        !same(shape::element_count(shape), Dim(static_cast<std::int64_t>(values))))
        detail::fail(ErrorKind::shape, "from_vector", "There are (", values, ") values for the shape (",
                     to_string(shape), ").");
    const graph::TensorType type{options.dtype, shape};
    const auto evaluator = ops::evaluator_for(options);
    Tensor t = graph::make_tensor(
        graph::leaf(type, evaluator, evaluator->upload("from_vector", type, bytes), false));
    if (options.requires_grad) t.requires_grad_();
    return t;
}

Tensor from_vector(const std::vector<bool>& v, const Shape& shape, const TensorOptions& options)
{
    const std::vector<std::uint8_t> bytes(v.begin(), v.end());
    TensorOptions o = options;
    o.dtype = boolean;
    return from_bytes(std::as_bytes(std::span(bytes)), shape, o);
}

} // namespace reprise
