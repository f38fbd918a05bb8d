// Creates tensors of sequences (arange, linspace, ...) and of numbers in braces.
#include <algorithm>
#include <cmath>
#include <functional>
#include <ostream>

#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "ops/reference.hpp"
#include "ops/registry.hpp"

namespace reprise {

namespace {

using ops::with_grad;

// Returns 0, 1, ..., count - 1, from which a sequence of this dtype is computed; f32 for f16 and bf16.
Tensor counted(const Dim& count, DType dtype, const CreationOptions& o)
{
    return arange(count, {.dtype = dtype == f16 || dtype == bf16 ? f32 : dtype, .device = o.device});
}

// Computes numbers on the host in double, since f32 has only 24 bits and not every device has f64, and rounds them to
// the dtype.
template <class F>
Tensor of_doubles(const Shape& shape, std::int64_t count, DType dtype, const CreationOptions& o, F number)
{
    std::vector<std::byte> bytes(static_cast<std::size_t>(count) * size_of(dtype));
    const ops::HostTensor to{dtype, bytes.data(), {count}, {1}};
    for (std::int64_t i = 0; i < count; ++i) to.set(i, number(i));
    return from_bytes(bytes, shape, {.dtype = dtype, .device = o.device});
}

// Whether a sequence is computed on the host: integers, except for sizes that the op would refuse.
bool for_the_host(DType dtype, std::int64_t count)
{
    return is_integer(dtype) && count >= 0 && count < std::int64_t{1} << 31;
}

bool is_whole(double v) { return v == std::trunc(v) && std::fabs(v) < 0x1p63; }

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
    // Computed from both ends, so that both are exact.
    return where(i + i < ops::size_like(i, steps), i * step + start, end - (last - i) * step);
}

// Returns f(line) in the options' dtype.  Integers are computed in double if the number of steps is constant, else in
// f32.
template <class F, class G> Tensor along_line(const char* op, double start, double end, const Dim& steps,
                                              const CreationOptions& o, F of_tensor, G of_number)
{
    const DType dtype = o.dtype_or(f32);
    if (!steps.is_constant() || !for_the_host(dtype, steps.value()))
        return with_grad(cast(of_tensor(line(op, start, end, steps, o)), dtype), o);
    const std::int64_t count = steps.value();
    const double last = static_cast<double>(count - 1), step = (end - start) / std::max(last, 1.0);
    return with_grad(of_doubles({count}, count, dtype, o,
                                [&](std::int64_t n) {
                                    const auto i = static_cast<double>(n);
                                    return of_number(n + n < count ? i * step + start
                                                                   : end - (last - i) * step);
                                }),
                     o);
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
    const auto n = static_cast<std::int64_t>(count);
    if (for_the_host(dtype, n) && !(is_whole(start) && is_whole(step)))
        return with_grad(of_doubles({n}, n, dtype, options,
                                    [&](std::int64_t i) { return static_cast<double>(i) * step + start; }),
                         options);
    const Tensor i = counted(n, is_floating(dtype) ? dtype : is_integer(dtype) ? i64 : f32, options);
    return with_grad(cast(i * step + start, dtype), options);
}

Tensor linspace(double start, double end, const Dim& steps, const CreationOptions& options)
{
    return along_line("linspace", start, end, steps, options, std::identity(), std::identity());
}

Tensor logspace(double start, double end, const Dim& steps, double base, const CreationOptions& options)
{
    return along_line(
        "logspace", start, end, steps, options, [&](const Tensor& t) { return pow(base, t); },
        [&](double t) { return std::pow(base, t); });
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
    const CreationOptions on_device{.device = options.device};
    const DType dtype = options.dtype_or(dtype_of(n));
    if (n.kind() != NestedNumbers::Kind::floating)
        return with_grad(cast(from_vector(n.whole(), n.shape(), on_device), dtype), options);
    const std::vector<double>& all = n.values();
    return with_grad(of_doubles(n.shape(), static_cast<std::int64_t>(all.size()), dtype, options,
                                [&](std::int64_t i) { return all[static_cast<std::size_t>(i)]; }),
                     options);
}

std::ostream& operator<<(std::ostream& out, const CreationOptions& o)
{
    out << (o.dtype ? name_of(*o.dtype) : "default dtype") << ", "
        << (o.device ? o.device->name() : "default device");
    return o.requires_grad ? out << ", requires_grad" : out;
}

} // namespace reprise
