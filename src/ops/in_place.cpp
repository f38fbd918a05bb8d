// Tensor's members that write into it, but for those that have a function (tensor_methods.cpp).
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/full.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"

namespace reprise {

namespace {

// PyTorch drops ones in front of what is copied.
Tensor fitted(const Tensor& value, const Tensor& to)
{
    Tensor v = cast(value, to.dtype());
    while (v.dim() > to.dim() && same(v.size(0), 1)) v = squeeze(v, 0);
    return expand(v, to.shape());
}

Tensor filled_as(const char* op, const Tensor& like, double value)
{
    const double held = ops::rounded_to(like.dtype(), value);
    ops::require_holds(op, like.dtype(), held);
    return ops::full_on(ops::evaluator_of(like), like.shape(), held, like.dtype());
}

} // namespace

#define REPRISE_IN_PLACE(symbol)                                                                             \
    Tensor& Tensor::operator symbol##=(const Tensor& b)&                                                     \
    {                                                                                                        \
        return write("operator" #symbol "=", *this symbol b);                                                \
    }                                                                                                        \
    Tensor& Tensor::operator symbol##=(const Tensor& b)&&                                                    \
    {                                                                                                        \
        return write("operator" #symbol "=", *this symbol b, true);                                          \
    }                                                                                                        \
    Tensor& Tensor::operator symbol##=(double b)& { return write("operator" #symbol "=", *this symbol b); }  \
    Tensor& Tensor::operator symbol##=(double b)&&                                                           \
    {                                                                                                        \
        return write("operator" #symbol "=", *this symbol b, true);                                          \
    }
REPRISE_IN_PLACE(+)
REPRISE_IN_PLACE(-)
REPRISE_IN_PLACE(*)
REPRISE_IN_PLACE(/)
#undef REPRISE_IN_PLACE

Tensor& Tensor::operator=(const Tensor& value) && { return write("operator=", fitted(value, *this), true); }
Tensor& Tensor::operator=(double value) &&
{
    return write("operator=", filled_as("operator=", *this, value), true);
}

Tensor& Tensor::copy_(const Tensor& from) { return write("copy_", fitted(from, *this)); }
Tensor& Tensor::fill_(double value) { return write("fill_", filled_as("fill_", *this, value)); }
Tensor& Tensor::fill_(const Tensor& value)
{
    if (value.dim() != 0)
        detail::fail(ErrorKind::shape, "fill_", "The value's shape (", to_string(value.shape()),
                     ") is not that of one element: use copy_().");
    return write("fill_", fitted(value, *this));
}
Tensor& Tensor::zero_() { return write("zero_", filled_as("zero_", *this, 0)); }
Tensor& Tensor::uniform_(double from, double to)
{
    return write("uniform_", rand_like(*this) * (to - from) + from);
}
Tensor& Tensor::normal_(double mean, double std) { return write("normal_", randn_like(*this) * std + mean); }
Tensor& Tensor::bernoulli_(double p) { return write("bernoulli_", bernoulli(*this, p)); }

Tensor Tensor::to(const Tensor& other) const { return to(other.device(), other.dtype()); }
Tensor Tensor::cpu() const { return to(Device("reference")); }
Tensor Tensor::new_zeros(const Shape& shape, const CreationOptions& options) const
{
    return new_full(shape, 0, options);
}
Tensor Tensor::new_ones(const Shape& shape, const CreationOptions& options) const
{
    return new_full(shape, 1, options);
}
Tensor Tensor::new_full(const Shape& shape, double value, const CreationOptions& options) const
{
    return full(shape, value, detail::like(*this, options));
}

} // namespace reprise
