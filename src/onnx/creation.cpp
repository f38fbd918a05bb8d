// Operators that create tensors: constants, sequences and random numbers.
#include <algorithm>
#include <cmath>

#include "onnx/call.hpp"
#include "onnx/host.hpp"

namespace reprise::onnx {

namespace {

Value constant(Call& call)
{
    const Device& device = call.device;
    if (const auto* a = call.attribute("value")) return Value(decode_tensor(a->t(), {}));
    if (const auto* a = call.attribute("value_float"))
        return full(Shape{}, static_cast<double>(a->f()), {.dtype = f32, .device = device});
    if (call.attribute("value_floats")) {
        const std::vector<double> all = call.reals("value_floats");
        return call.from_host(all, Shape{all.size()}, f32);
    }
    if (const auto* a = call.attribute("value_int")) return Value::scalar(Dim(std::int64_t{a->i()}));
    if (call.attribute("value_ints")) return Value::sizes(DimVector(call.list("value_ints")));
    call.fail("The constant has no value of a type that the library holds.");
}

Value constant_of_shape(Call& call)
{
    const Shape shape = call.sizes(0);
    const auto* attribute = call.attribute("value");
    if (!attribute) return zeros(shape, {.dtype = f32, .device = call.device});
    const Value value(decode_tensor(attribute->t(), {}));
    return Value(expand(reshape(value.tensor(call.device), Shape(shape.size(), 1)), shape), &value.type());
}

Value range(Call& call)
{
    const DType dtype = call.type(0).held;
    if (!is_floating(dtype)) {
        const Dim start = call.sizes(0).at(0), limit = call.sizes(1).at(0);
        const std::int64_t step = call.integers(2).at(0);
        if (step == 0) call.fail("The step of a range is (0).");
        if (start.is_constant() && limit.is_constant() && (step > 0 ? limit < start : start < limit))
            return zeros(Shape{0}, {.dtype = dtype, .device = call.device});
        return arange(start, limit, step, {.dtype = dtype, .device = call.device});
    }
    const double start = call.number(0, 0), limit = call.number(1, 0), step = call.number(2, 1);
    const double count = std::ceil((limit - start) / step);
    if (!(count < 1e12))
        call.fail("The range from (", start, ") to (", limit, ") by (", step, ") is too long.");
    const Tensor positions =
        arange(Dim(static_cast<std::int64_t>(std::max(count, 0.0))), {.dtype = dtype, .device = call.device});
    return affine(positions, step, start);
}

Value eye_like(Call& call)
{
    const Shape shape = call.shape(0);
    if (shape.size() != 2) call.fail("The shape ", to_string(shape), " is no matrix.");
    const ElementType& type = call.element_type("dtype", call.type(0));
    const std::int64_t k = call.integer("k", 0);
    const CreationOptions options{.dtype = i32, .device = call.device};
    const Tensor row = unsqueeze(arange(shape[0], options), 1),
                 column = unsqueeze(arange(shape[1], options), 0);
    return Value(eq(sub(column, row), static_cast<double>(k)).to(type.held), &type);
}

CreationOptions random_options(const Call& call, const ElementType& otherwise)
{
    return {.dtype = call.element_type("dtype", otherwise).held, .device = call.device};
}

Value random_uniform(Call& call)
{
    const double low = call.real("low", 0), high = call.real("high", 1);
    return affine(rand(Shape(call.list("shape")), random_options(call, element_type_of(f32))), high - low,
                  low);
}

Value random_normal(Call& call)
{
    const Tensor z = randn(Shape(call.list("shape")), random_options(call, element_type_of(f32)));
    return affine(z, call.real("scale", 1), call.real("mean", 0));
}

Value random_uniform_like(Call& call)
{
    const double low = call.real("low", 0), high = call.real("high", 1);
    return affine(rand(call.shape(0), random_options(call, call.type(0))), high - low, low);
}

Value random_normal_like(Call& call)
{
    const Tensor z = randn(call.shape(0), random_options(call, call.type(0)));
    return affine(z, call.real("scale", 1), call.real("mean", 0));
}

Value bernoulli_of(Call& call)
{
    const ElementType& type = call.element_type("dtype", call.type(0));
    return Value(bernoulli(call[0]).to(type.held), &type);
}

Value multinomial_of(Call& call)
{
    const Tensor drawn = multinomial(softmax(call[0], -1), Dim(call.integer("sample_size", 1)), true);
    return drawn.to(call.element_type("dtype", element_type_of(i32)).held);
}

const Operator rows[] = {
    {"Bernoulli", bernoulli_of, {.limits = "random numbers are the library's; `seed` is not used"}},
    {"Constant", constant, {.limits = "no strings and no sparse tensors"}},
    {"ConstantOfShape", constant_of_shape, {.on_host = host_constant_of_shape}},
    {"EyeLike", eye_like},
    {"Multinomial", multinomial_of, {.limits = "random numbers are the library's; `seed` is not used"}},
    {"RandomNormal", random_normal, {.limits = "random numbers are the library's; `seed` is not used"}},
    {"RandomNormalLike",
     random_normal_like,
     {.limits = "random numbers are the library's; `seed` is not used"}},
    {"RandomUniform", random_uniform, {.limits = "random numbers are the library's; `seed` is not used"}},
    {"RandomUniformLike",
     random_uniform_like,
     {.limits = "random numbers are the library's; `seed` is not used"}},
    {"Range", range, {.on_host = host_range, .limits = "limits of floating types must be constant"}},
};

} // namespace

Operators creation_operators() { return rows; }

} // namespace reprise::onnx
