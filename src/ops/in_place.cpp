// Tensor's members that write into it, but for those that have a function (tensor_methods.inc, made by the build).
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "graph/cell.hpp"
#include "ops/full.hpp"
#include "ops/index_check.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"

namespace reprise {

namespace {

// Leading dimensions of size 1 of the source are dropped, as in PyTorch.
Tensor fitted(const Tensor& value, const Tensor& to)
{
    Tensor v = cast(value, to.dtype());
    while (v.dim() > to.dim() && same(v.size(0), 1)) v = squeeze(v, 0);
    return expand(v, to.shape());
}

Tensor filled_as(const char* op, const Tensor& like, const Shape& shape, double value)
{
    const double held = ops::rounded_to(like.dtype(), value);
    ops::require_holds(op, like.dtype(), held);
    return ops::full_on(ops::evaluator_of(like), shape, held, like.dtype());
}
Tensor filled_as(const char* op, const Tensor& like, double value)
{
    return filled_as(op, like, like.shape(), value);
}

} // namespace

#define REPRISE_IN_PLACE(symbol)                                                                             \
    Tensor& Tensor::operator symbol##=(const Tensor& b)&                                                     \
    {                                                                                                        \
        return write("operator" #symbol "=", graph::current(*this) symbol b);                                \
    }                                                                                                        \
    Tensor& Tensor::operator symbol##=(const Tensor& b)&&                                                    \
    {                                                                                                        \
        return write("operator" #symbol "=", graph::current(*this) symbol b, true);                          \
    }                                                                                                        \
    Tensor& Tensor::operator symbol##=(double b)&                                                            \
    {                                                                                                        \
        return write("operator" #symbol "=", graph::current(*this) symbol b);                                \
    }                                                                                                        \
    Tensor& Tensor::operator symbol##=(double b)&&                                                           \
    {                                                                                                        \
        return write("operator" #symbol "=", graph::current(*this) symbol b, true);                          \
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
Tensor& Tensor::bernoulli_(double p) { return write("bernoulli_", reprise::bernoulli(*this, p)); }

Tensor& Tensor::exponential_(double lambda)
{
    if (!(lambda > 0))
        detail::fail(ErrorKind::argument, "exponential_", "The lambda (", lambda, ") must be above 0.");
    return write("exponential_", reprise::log1p(-rand_like(*this)) / -lambda);
}
Tensor& Tensor::random_(std::int64_t from, std::int64_t to)
{
    const DType whole = is_floating(dtype()) ? i32 : dtype();
    return write("random_", cast(randint_like(cast(*this, whole), from, to), dtype()));
}
Tensor& Tensor::random_(std::int64_t to) { return random_(0, to); }
Tensor& Tensor::random_()
{
    constexpr std::int64_t one = 1;
    switch (dtype()) {
    case DType::boolean: return random_(0, 2);
    case DType::u8: return random_(0, one << 8);
    case DType::i8: return random_(0, one << 7);
    case DType::i16: return random_(0, one << 15);
    case DType::bf16: return random_(0, (one << 8) + 1);
    case DType::f16: return random_(0, (one << 11) + 1);
    case DType::f32: return random_(0, (one << 24) + 1);
    default: return random_(0, one << 31);
    }
}

Tensor& Tensor::fill_diagonal_(double value, bool wrap)
{
    constexpr const char* op = "fill_diagonal_";
    const Shape sizes = shape();
    if (sizes.size() < 2)
        detail::fail(ErrorKind::shape, op, "The shape (", to_string(sizes),
                     ") has no diagonal: give a matrix.");
    Dim step = 0, stride = 1; // between neighbours on the diagonal, of the flattened tensor
    for (std::size_t d = sizes.size(); d-- > 0; stride *= sizes[d]) {
        step += stride;
        if (sizes.size() > 2)
            shape::require_equal(op, sizes[d], sizes[0], [&] {
                return "The sizes of the shape (" + to_string(sizes) +
                       ") must be equal where there are more than two.";
            });
    }
    const Dim count = wrap && sizes.size() == 2 ? ceil_div(numel(), step) : reprise::min(sizes[0], sizes[1]);
    const Tensor numbers = ops::count_like(*this, count), at = numbers * ops::size_like(numbers, step);
    const ops::IndexChecksOff own;
    const Tensor flat = reprise::reshape(graph::current(*this), {numel()});
    return write(op, reprise::reshape(flat.index_put({at}, filled_as(op, *this, {}, value)), sizes));
}

// The handle is the view from now on; where it was a view of a base already, writes still reach that.
Tensor& Tensor::replace_by_view(const char* op, const Tensor& view)
{
    if (view.cell_ == cell_) return *this;
    const graph::Value v = graph::read(*this);
    if (v.node->is_leaf && v.node->requires_grad)
        detail::fail(ErrorKind::state, op, "A leaf that requires a gradient can't be changed in place.");
    const graph::Tracer* tracer = graph::current_tracer();
    if (cell_->trace != (tracer ? tracer->id() : 0))
        detail::fail(
            ErrorKind::state, op,
            "The tensor is from outside of the program that is recorded, whose state keeps its shape: "
            "use the form without _, which returns a view.");
    const std::shared_ptr<graph::ViewLink> outer = cell_->link, inner = view.cell_->link;
    auto link = std::make_shared<graph::ViewLink>();
    link->in_order = inner && inner->in_order;
    if (outer) {
        link->base = outer->base;
        link->outer = outer->outer;
        link->version = outer->version;
        link->layout = outer->layout;
        link->advanced_index = outer->advanced_index;
        link->detached = outer->detached;
        if (outer->scatter && inner && inner->scatter) {
            link->gather = [outer, inner](const Tensor& base) { return inner->gather(outer->gather(base)); };
            link->scatter = [before = graph::detached_copy(*this), outer, inner](const Tensor& base,
                                                                                 const Tensor& value) {
                return outer->scatter(base, inner->scatter(before, value));
            };
        }
    }
    graph::assign(*this, graph::read(view));
    ++cell_->layout;
    cell_->link = std::move(link);
    return *this;
}
Tensor& Tensor::transpose_(std::int64_t a, std::int64_t b)
{
    return replace_by_view("transpose_", reprise::transpose(*this, a, b));
}
Tensor& Tensor::squeeze_() { return replace_by_view("squeeze_", reprise::squeeze(*this)); }
Tensor& Tensor::squeeze_(const Dims& dims)
{
    return replace_by_view("squeeze_", reprise::squeeze(*this, dims));
}
Tensor& Tensor::unsqueeze_(std::int64_t dim)
{
    return replace_by_view("unsqueeze_", reprise::unsqueeze(*this, dim));
}
Tensor& Tensor::t_() { return replace_by_view("t_", t()); }

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
