// Elementwise functions that are composed of ops of the table.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

using OfOne = Tensor (*)(const Tensor&);
using OfTwo = Tensor (*)(const Tensor&, const Tensor&);

void of_one(Rows& rows, const char* name, OfOne f, double low = -3, double high = 3,
            bool takes_integers = true)
{
    rows.composed(name);
    rows.sample("numbers", {arg({n(), 3}, low, high)}, f);
    if (takes_integers) rows.forward("integers", {whole({n(), 3}, low < 0 ? -9 : 0, high > 1 ? 9 : 1)}, f);
}

void of_two(Rows& rows, const char* name, OfTwo f, double low = -3)
{
    rows.composed(name);
    rows.sample("broadcast", {arg({n(), 1, 4}, low, 3), arg({3, 1}, low, 3)}, f);
    rows.forward("two dtypes", {arg({n(), 3}, low, 3), whole({n(), 1}, low < 0 ? -3 : 1, 3)}, f);
}

} // namespace

void add_element_functions(Rows& rows)
{
    of_one(rows, "exp2", exp2);
    of_one(rows, "frac", frac, -3, 3, false);
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] { frac(arange(1)); });
    of_one(rows, "sinc", sinc);
    of_one(rows, "deg2rad", deg2rad);
    of_one(rows, "rad2deg", rad2deg);
    of_one(rows, "tanhshrink", tanhshrink);
    of_one(
        rows, "softshrink", [](const Tensor& x) { return softshrink(x, 0.7); }, -3, 3, false);
    rows.mistake("a negative lambda", ErrorKind::argument, "(-1)", [] { softshrink(ones({1}), -1); });
    of_one(
        rows, "hardshrink", [](const Tensor& x) { return hardshrink(x); }, -3, 3, false);
    rows.mistake("integers", ErrorKind::dtype, "a floating dtype", [] { hardshrink(arange(1)); });
    of_one(rows, "threshold", [](const Tensor& x) { return threshold(x, 0.5, -2); });
    of_one(
        rows, "logit", [](const Tensor& x) { return logit(x); }, 0.1, 0.9, false);
    of_one(
        rows, "logit_clamped", [](const Tensor& x) { return logit(x, 0.2); }, 0, 1);
    of_one(rows, "nan_to_num", [](const Tensor& x) {
        const Tensor over = is_floating(x.dtype()) ? 1.0 / relu(x) : x;
        return nan_to_num(over, 0.5, 7) * 0.5;
    });
    of_one(rows, "signbit", signbit);
    rows.last().differentiable = false;
    of_two(rows, "copysign", copysign);
    of_two(rows, "hypot", hypot);
    of_two(rows, "xlogy", xlogy, 0.2);
    of_two(rows, "logaddexp", logaddexp);
    of_two(rows, "logaddexp2", logaddexp2);
    of_two(rows, "fmax", fmax);
    of_two(rows, "fmin", fmin);
    of_two(rows, "isclose", [](const Tensor& a, const Tensor& b) { return isclose(a, b, 0.1, 0.2, true); });
    rows.last().differentiable = false;
    rows.mistake("a negative tolerance", ErrorKind::argument, "-1",
                 [] { isclose(ones({1}), ones({1}), -1); });

    rows.composed("heaviside").differentiable = false;
    rows.sample("around 0", {whole({n(), 4}, -1, 1), arg({4})}, [](const Inputs& in) {
        return std::vector{heaviside(cast(in[0], in[1].dtype()), in[1]), heaviside(in[0], in[0] + 5)};
    });
    rows.mistake("two dtypes", ErrorKind::dtype, "(f32 and i32)", [] { heaviside(ones({1}), arange(1)); });
}

} // namespace reprise::test
