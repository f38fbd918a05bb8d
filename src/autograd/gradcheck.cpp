// Gradients against central differences: along a random direction d, <grad, d> must be (f(x + hd) - f(x -
// hd)) / 2h.
#include <cmath>
#include <random>
#include <sstream>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>

namespace reprise {

namespace {

using Doubles = std::vector<std::vector<double>>;

struct Problem {
    const std::function<Tensor(const std::vector<Tensor>&)>& f;
    const std::vector<Tensor>& inputs;
    Device device{"reference"};
    std::vector<double> weights{}; // of the outputs' elements: a scalar is checked

    bool floating(std::size_t i) const { return is_floating(inputs[i].dtype()); }

    std::vector<Tensor> tensors(const Doubles& x, bool requires_grad) const
    {
        std::vector<Tensor> out;
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            Tensor t = from_vector(x[i], inputs[i].shape(), {.device = device});
            if (!floating(i)) t = cast(t, inputs[i].dtype());
            else if (requires_grad) t.requires_grad_();
            out.push_back(t);
        }
        return out;
    }

    double value(const Doubles& x) const
    {
        const std::vector<double> y = f(tensors(x, false)).to_vector<double>();
        double sum = 0;
        for (std::size_t i = 0; i < y.size(); ++i) sum += weights[i] * y[i];
        return sum;
    }
};

template <class T> std::vector<double> as_doubles(const Tensor& t)
{
    const std::vector<T> v = t.to_vector<T>();
    return {v.begin(), v.end()};
}

// Read in the tensor's own dtype: its device need not know f64.
std::vector<double> values_of(const Tensor& t)
{
    switch (t.dtype()) {
    case DType::f64: return t.to_vector<double>();
    case DType::i64: return as_doubles<std::int64_t>(t);
    case DType::boolean: return as_doubles<bool>(t);
    case DType::i32: return as_doubles<std::int32_t>(t);
    case DType::i16:
    case DType::i8:
    case DType::u8: return as_doubles<std::int32_t>(cast(t, i32));
    case DType::f32:
    case DType::f16:
    case DType::bf16: return as_doubles<float>(t);
    }
    return {};
}

} // namespace

GradCheck gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                    const std::vector<Tensor>& inputs, const GradCheckOptions& options)
{
    Problem p{f, inputs};
    std::mt19937_64 random(options.seed + 1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Doubles x;
    for (const Tensor& t : inputs) x.push_back(values_of(t));

    std::vector<Tensor> in = p.tensors(x, true);
    const Tensor y = f(in);
    for (std::int64_t i = 0, n = y.numel().value(); i < n; ++i) p.weights.push_back(uniform(random));
    std::vector<Tensor> differentiable;
    for (std::size_t i = 0; i < in.size(); ++i)
        if (p.floating(i)) differentiable.push_back(in[i]);
    const auto g =
        grad({y}, differentiable,
             {.allow_unused = true, .cotangents = {from_vector(p.weights, y.shape(), {.device = p.device})}});

    GradCheck result;
    result.passed = true;
    for (std::size_t i = 0, k = 0; i < in.size(); ++i) {
        if (!p.floating(i)) continue;
        const Tensor& gi = g[k++];
        const std::vector<double> gradient =
            gi.defined() ? gi.to_vector<double>() : std::vector<double>(x[i].size(), 0.0);
        for (int d = 0; d < options.directions; ++d) {
            Doubles up = x, down = x;
            double found = 0;
            for (std::size_t e = 0; e < x[i].size(); ++e) {
                const double step = uniform(random);
                up[i][e] += options.step * step;
                down[i][e] -= options.step * step;
                found += gradient[e] * step;
            }
            const double want = (p.value(up) - p.value(down)) / (2 * options.step);
            const double error = std::fabs(found - want) / (1 + std::fabs(want));
            if (!std::isnan(result.error) && !(error <= result.error)) { // a NaN stays
                result.error = error;
                std::ostringstream text;
                text << "input " << i << ", direction " << d << ": the gradient gives " << found
                     << ", central differences give " << want;
                result.message = text.str();
            }
            if (!(error <= options.tolerance)) result.passed = false;
        }
    }
    return result;
}

} // namespace reprise
