// Functions of elements that are made of rows of the table.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

using OfOne = Tensor (*)(const Tensor&);
using OfTwo = Tensor (*)(const Tensor&, const Tensor&);

OpInfo of_one(const char* name, OfOne f, double low = -3, double high = 3, bool takes_integers = true)
{
    OpInfo row{.name = name, .is_op = false};
    row.samples = {{.what = "numbers",
                    .arguments = {arg({n(), 3}, low, high)},
                    .call = [f](const Inputs& in) { return std::vector{f(in[0])}; }}};
    if (takes_integers)
        row.samples.push_back({.what = "integers",
                               .arguments = {whole({n(), 3}, low < 0 ? -9 : 0, high > 1 ? 9 : 1)},
                               .call = [f](const Inputs& in) { return std::vector{f(in[0])}; },
                               .differentiable = false});
    return row;
}

OpInfo of_two(const char* name, OfTwo f, double low = -3)
{
    return {.name = name,
            .is_op = false,
            .samples = {{.what = "broadcast",
                         .arguments = {arg({n(), 1, 4}, low, 3), arg({3, 1}, low, 3)},
                         .call = [f](const Inputs& in) { return std::vector{f(in[0], in[1])}; }},
                        {.what = "two dtypes",
                         .arguments = {arg({n(), 3}, low, 3), whole({n(), 1}, low < 0 ? -3 : 1, 3)},
                         .call = [f](const Inputs& in) { return std::vector{f(in[0], in[1])}; },
                         .differentiable = false}}};
}

} // namespace

void add_element_functions(std::vector<OpInfo>& rows)
{
    rows.push_back(of_one("exp2", exp2));
    rows.push_back(of_one("frac", frac, -3, 3, false));
    rows.back().mistakes = {{"integers", [] { frac(arange(1)); }, ErrorKind::dtype, "a floating dtype"}};
    rows.push_back(of_one("sinc", sinc));
    rows.push_back(of_one("deg2rad", deg2rad));
    rows.push_back(of_one("rad2deg", rad2deg));
    rows.push_back(of_one("tanhshrink", tanhshrink));
    rows.push_back(of_one(
        "softshrink", [](const Tensor& x) { return softshrink(x, 0.7); }, -3, 3, false));
    rows.back().mistakes = {
        {"a negative lambda", [] { softshrink(ones({1}), -1); }, ErrorKind::argument, "(-1)"}};
    rows.push_back(of_one(
        "hardshrink", [](const Tensor& x) { return hardshrink(x); }, -3, 3, false));
    rows.back().mistakes = {
        {"integers", [] { hardshrink(arange(1)); }, ErrorKind::dtype, "a floating dtype"}};
    rows.push_back(of_one("threshold", [](const Tensor& x) { return threshold(x, 0.5, -2); }));
    rows.push_back(of_one(
        "logit", [](const Tensor& x) { return logit(x); }, 0.1, 0.9, false));
    rows.push_back(of_one(
        "logit_clamped", [](const Tensor& x) { return logit(x, 0.2); }, 0, 1));
    rows.push_back(of_one("nan_to_num", [](const Tensor& x) {
        const Tensor over = is_floating(x.dtype()) ? 1.0 / relu(x) : x;
        return nan_to_num(over, 0.5, 7) * 0.5;
    }));
    OpInfo sign = of_one("signbit", signbit);
    sign.differentiable = false;
    rows.push_back(sign);
    rows.push_back(of_two("copysign", copysign));
    rows.push_back(of_two("hypot", hypot));
    rows.push_back(of_two("xlogy", xlogy, 0.2));
    rows.push_back(of_two("logaddexp", logaddexp));
    rows.push_back(of_two("logaddexp2", logaddexp2));
    rows.push_back(of_two("fmax", fmax));
    rows.push_back(of_two("fmin", fmin));
    OpInfo close =
        of_two("isclose", [](const Tensor& a, const Tensor& b) { return isclose(a, b, 0.1, 0.2, true); });
    close.differentiable = false;
    close.mistakes = {
        {"a negative tolerance", [] { isclose(ones({1}), ones({1}), -1); }, ErrorKind::argument, "-1"}};
    rows.push_back(close);
    OpInfo step{.name = "heaviside", .is_op = false, .differentiable = false};
    step.samples = {
        {.what = "around 0", .arguments = {whole({n(), 4}, -1, 1), arg({4})}, .call = [](const Inputs& in) {
             return std::vector{heaviside(cast(in[0], in[1].dtype()), in[1]), heaviside(in[0], in[0] + 5)};
         }}};
    step.mistakes = {
        {"two dtypes", [] { heaviside(ones({1}), arange(1)); }, ErrorKind::dtype, "(f32 and i32)"}};
    rows.push_back(step);
}

} // namespace reprise::test
