// full: a tensor filled with one value; zeros, ones and the _like functions.
#include "ops/full.hpp"

#include <limits>

#include <reprise/ops/creation.hpp>

#include "ops/launch_where.hpp"
#include "ops/records.hpp"
#include "ops/reference.hpp"
#include "ops/registry.hpp"
#include "shape/rules.hpp"

namespace reprise {
namespace ops {
namespace {

TensorTypes infer(const Op& op, const InputTypes&, const Attributes& a)
{
    const Shape sizes = a.shape("shape");
    require_sizes(op.name, sizes);
    return {{a.get<DType>("dtype"), sizes}};
}

// Stores the value in s: a number, or, in plans that eager code replays, a host scalar.
bool number(const Node& n, Scalar& s)
{
    if (n.attributes.has_source("value")) {
        s = Scalar(1);
        s.source = n.attributes.get<std::shared_ptr<const graph::HostScalar>>("value");
    } else s = Scalar(n.attributes.number("value"));
    s.factor = n.attributes.get<Dim>("factor");
    return true;
}

void lower(Lowering& l, const Node& n)
{
    Scalar s;
    number(n, s);
    launch_full(l, l.output(), s);
}

void reference(const ReferenceArguments& a)
{
    const HostTensor& out = a.outputs[0];
    const double given = a.attributes.has_source("value") ? a.scalars[0] : a.attributes.number("value");
    const double value = given * static_cast<double>(a.dims[0]);
    for (std::int64_t i = 0, count = out.count(); i < count; ++i) out.put(i, value);
}

template <class T> bool holds(double value)
{
    // The upper bound is exclusive and exact in double: 2^63 for i64, while max() itself would be rounded.
    const double least = static_cast<double>(std::numeric_limits<T>::min());
    return value >= least && value < static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2;
}

// Returns whether the value, truncated to an integer, is in range of the dtype.
bool holds(DType dtype, double value)
{
    switch (dtype) {
    case DType::i64: return holds<std::int64_t>(value);
    case DType::i32: return holds<std::int32_t>(value);
    case DType::i16: return holds<std::int16_t>(value);
    case DType::i8: return holds<std::int8_t>(value);
    case DType::u8: return holds<std::uint8_t>(value);
    default: return true;
    }
}

// Returns a filled tensor; errors have the name `op` of the function that the user called.
Tensor filled(const char* op, const std::shared_ptr<graph::Evaluator>& evaluator, const Shape& shape,
              double value, DType dtype)
{
    require_sizes(op, shape);
    const double held = rounded_to(dtype, value);
    require_holds(op, dtype, held);
    return full_on(evaluator, shape, held, dtype);
}

Tensor filled(const char* op, const Shape& shape, double value, const CreationOptions& options)
{
    return with_grad(filled(op, evaluator_for(options), shape, value, options.dtype_or(f32)), options);
}

} // namespace

void require_holds(const char* op, DType dtype, double value)
{
    if (!holds(dtype, value))
        detail::fail(ErrorKind::argument, op, "The value (", value, ") is none of the dtype (",
                     name_of(dtype), "): choose another dtype.");
}

void require_sizes(const char* op, const Shape& sizes)
{
    for (const Dim& size : sizes)
        if (size.is_constant() && size.value() < 0)
            detail::fail(ErrorKind::shape, op, "The shape (", to_string(sizes), ") has a negative size (",
                         size, "): sizes start at 0.");
}

// Integers are passed to the kernel as ints, since a float has only 24 bits of precision.
void launch_full(Lowering& l, const View& to, const Scalar& value)
{
    const Dim count = shape::element_count(to.sizes());
    Dim whole = 0;
    if (to.dtype == boolean) whole = value.constant != 0 ? value.factor : Dim(0);
    else if (is_integer(to.dtype)) whole = Dim(static_cast<std::int64_t>(value.constant)) * value.factor;
    DimVector words;
    if (to.dtype == i64) add_words(words, whole);
    else words.push_back(whole);
    const records::full record{.y = to, .number = value, .count = count, .whole = std::move(words)};
    launch_with_texels(l, size_of(to.dtype) == 4,
                       record.launch({.constants = {static_cast<std::uint32_t>(to.dtype)},
                                      .groups = ceil_div(count, 256),
                                      .words = to.dtype == i64}));
}

Tensor full_on(const std::shared_ptr<graph::Evaluator>& evaluator, const Shape& shape, double value,
               DType dtype, const Dim& factor)
{
    require_holds("full", dtype, value);
    return graph::create(full_op, evaluator,
                         {{"shape", shape}, {"value", value}, {"factor", factor}, {"dtype", dtype}});
}

const Op full_op{.name = "full",
                 .infer = infer,
                 .number = number,
                 .lower = lower,
                 .reference = reference,
                 .narrow = true,
                 .doubles = true};

} // namespace ops

Tensor full(const Shape& shape, double value, const CreationOptions& options)
{
    return ops::filled("full", shape, value, options);
}
Tensor zeros(const Shape& shape, const CreationOptions& options)
{
    return ops::filled("zeros", shape, 0, options);
}
Tensor ones(const Shape& shape, const CreationOptions& options)
{
    return ops::filled("ones", shape, 1, options);
}

Tensor full_like(const Tensor& t, double value, const CreationOptions& options)
{
    const auto evaluator = options.device ? ops::evaluator_for(options) : ops::evaluator_of(t);
    const DType dtype = options.dtype_or(t.dtype());
    return ops::with_grad(ops::filled("full_like", evaluator, t.shape(), value, dtype), options);
}
Tensor zeros_like(const Tensor& t, const CreationOptions& options) { return full_like(t, 0, options); }
Tensor ones_like(const Tensor& t, const CreationOptions& options) { return full_like(t, 1, options); }

} // namespace reprise
