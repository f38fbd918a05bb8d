// Tensors of numbers in a row, and of numbers in braces.
#include <algorithm>
#include <cmath>
#include <ostream>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/registry.hpp"

namespace reprise {

namespace {

Tensor with_grad(Tensor t, const CreationOptions& o)
{
    if (o.requires_grad) t.requires_grad_();
    return t;
}

// 0, 1, ..., count - 1, of which the options' numbers are computed: of f16 and bf16 as f32.
Tensor counted(const Dim& count, DType dtype, const CreationOptions& o)
{
    return arange(count, {.dtype = dtype == f16 || dtype == bf16 ? f32 : dtype, .device = o.device});
}

void check_steps(const char* op, const Dim& steps)
{
    if (steps.is_constant() && steps.value() < 0)
        detail::fail(ErrorKind::argument, op, "The number of steps (", steps, ") is below 0.");
}

Tensor line(const char* op, double start, double end, const Dim& steps, const CreationOptions& o)
{
    check_steps(op, steps);
    const DType dtype = o.dtype_or(f32);
    const Tensor i = counted(steps, is_floating(dtype) ? dtype : f32, o), last = ops::size_like(i, steps - 1);
    const Tensor step = (end - start) / maximum(last, 1.0);
    // from both ends, so that both are exact
    return where(i + i < ops::size_like(i, steps), i * step + start, end - (last - i) * step);
}

} // namespace

Tensor scalar_tensor(double value, const CreationOptions& options) { return full({}, value, options); }
Tensor empty(const Shape& shape, const CreationOptions& options) { return zeros(shape, options); }
Tensor empty_like(const Tensor& t, const CreationOptions& options) { return zeros_like(t, options); }

CreationOptions detail::like(const Tensor& t, const CreationOptions& options)
{
    return {.dtype = options.dtype_or(t.dtype()),
            .device = options.device ? options.device : t.device(),
            .requires_grad = options.requires_grad};
}

Tensor arange(const Dim& start, const Dim& end, std::int64_t step, const CreationOptions& options)
{
    if (step == 0) detail::fail(ErrorKind::argument, "arange", "The step is 0: numbers never reach the end.");
    const Dim span = step > 0 ? end - start : start - end;
    if (span.is_constant() && span.value() < 0)
        detail::fail(ErrorKind::argument, "arange", "From (", start, ") no steps of (", step,
                     ") reach the end (", end, ").");
    const DType dtype = options.dtype_or(i32);
    const Tensor i = counted(ceil_div(span, step > 0 ? step : -step), dtype, options);
    const Tensor scaled = step == 1 ? i : i * static_cast<double>(step);
    return with_grad(cast(same(start, 0) ? scaled : scaled + ops::size_like(i, start), dtype), options);
}

Tensor arange(double start, double end, double step, const CreationOptions& options)
{
    const double count = std::ceil((end - start) / step);
    if (!(step != 0 && count >= 0 && count < 0x1p53))
        detail::fail(ErrorKind::argument, "arange", "From (", start, ") no steps of (", step,
                     ") reach the end (", end, ").");
    const DType dtype = options.dtype_or(f32);
    const Tensor i = counted(static_cast<std::int64_t>(count), is_floating(dtype) ? dtype : f32, options);
    return with_grad(cast(i * step + start, dtype), options);
}

Tensor linspace(double start, double end, const Dim& steps, const CreationOptions& options)
{
    return with_grad(cast(line("linspace", start, end, steps, options), options.dtype_or(f32)), options);
}

Tensor logspace(double start, double end, const Dim& steps, double base, const CreationOptions& options)
{
    return with_grad(cast(pow(base, line("logspace", start, end, steps, options)), options.dtype_or(f32)),
                     options);
}

Tensor eye(const Dim& n, const Dim& m, const CreationOptions& options)
{
    check_steps("eye", n);
    check_steps("eye", m);
    const Tensor columns = arange(m, {.dtype = i32, .device = options.device});
    return with_grad(cast(eq(unsqueeze(ops::count_like(columns, n), 1), columns), options.dtype_or(f32)),
                     options);
}
Tensor eye(const Dim& n, const CreationOptions& options) { return eye(n, n, options); }

Tensor from_blob(const void* data, const Shape& shape, const CreationOptions& options)
{
    std::size_t count = 1;
    for (const Dim& size : shape) count *= static_cast<std::size_t>(size.value());
    return from_bytes({static_cast<const std::byte*>(data), count * size_of(options.dtype_or(f32))}, shape,
                      options);
}

NestedNumbers::NestedNumbers(std::initializer_list<NestedNumbers> parts)
    : kind_(parts.size() ? Kind::logical : Kind::floating)
{
    sizes_ = {parts.size()};
    for (const NestedNumbers& part : parts) {
        if (part.sizes_ != parts.begin()->sizes_)
            detail::fail(ErrorKind::shape, "tensor", "The parts in braces have the shapes (",
                         to_string(parts.begin()->shape()), ") and (", to_string(part.shape()),
                         "): all must have one.");
        kind_ = std::max(kind_, part.kind_);
        values_.insert(values_.end(), part.values_.begin(), part.values_.end());
        whole_.insert(whole_.end(), part.whole_.begin(), part.whole_.end());
    }
    if (parts.size()) sizes_.insert(sizes_.end(), parts.begin()->sizes_.begin(), parts.begin()->sizes_.end());
}

Tensor Tensor::new_tensor(const NestedNumbers& n) const
{
    return tensor(n, {.dtype = dtype(), .device = device()});
}

namespace {
DType dtype_of(const NestedNumbers& n)
{
    return n.kind() == NestedNumbers::Kind::floating ? f32
           : n.kind() == NestedNumbers::Kind::whole  ? i64
                                                     : boolean;
}
} // namespace

Tensor tensor(const NestedNumbers& n, const CreationOptions& options)
{
    const CreationOptions place{.device = options.device};
    const DType dtype = options.dtype_or(dtype_of(n));
    const Tensor t =
        n.kind() == NestedNumbers::Kind::floating
            ? dtype == f64
                  ? from_vector(n.values(), n.shape(), place)
                  : from_vector(std::vector<float>(n.values().begin(), n.values().end()), n.shape(), place)
            : from_vector(n.whole(), n.shape(), place);
    return with_grad(cast(t, dtype), options);
}

std::ostream& operator<<(std::ostream& out, const CreationOptions& o)
{
    out << (o.dtype ? name_of(*o.dtype) : "default dtype") << ", "
        << (o.device ? o.device->name() : "default device");
    return o.requires_grad ? out << ", requires_grad" : out;
}

} // namespace reprise
