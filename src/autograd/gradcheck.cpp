// Compares gradients with central differences: along a random direction d, <grad, d> must be
// (f(x + hd) - f(x - hd)) / 2h.
#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

#include <reprise/autograd/check.hpp>
#include <reprise/autograd/grad.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/reductions.hpp>

namespace reprise {

namespace {

using Doubles = std::vector<std::vector<double>>;

struct Problem {
    const std::function<Tensor(const std::vector<Tensor>&)>& f;
    const std::vector<Tensor>& inputs;
    Device device{"reference"};
    std::vector<double> weights{}; // of the output's elements, whose weighted sum is differentiated

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

// Returns the elements in f64.  Converts on the reference device, as the tensor's device may not support f64.
std::vector<double> values_of(const Tensor& t, const Device& reference)
{
    return t.detach().to(reference).to(f64).to_vector<double>();
}

std::string index_text(std::size_t index, const Shape& shape) // "[1, 2]"
{
    std::string text;
    for (std::size_t d = shape.size(); d-- > 0;) {
        const auto size = static_cast<std::size_t>(shape[d].value());
        text = std::to_string(index % size) + (text.empty() ? "" : ", ") + text;
        index /= size;
    }
    return '[' + text + ']';
}

// One comparison of the slopes along a direction in one input: by the gradient and by central differences.
struct Slopes {
    double found = 0, wanted = 0, error = 0;
};

Slopes compare(const Problem& p, const Doubles& x, std::size_t input, const std::vector<double>& direction,
               const std::vector<double>& gradient, double step)
{
    Doubles up = x, down = x;
    Slopes s;
    for (std::size_t e = 0; e < direction.size(); ++e) {
        up[input][e] += step * direction[e];
        down[input][e] -= step * direction[e];
        s.found += gradient[e] * direction[e];
    }
    s.wanted = (p.value(up) - p.value(down)) / (2 * step);
    s.error = std::fabs(s.found - s.wanted) / (1 + std::fabs(s.wanted));
    return s;
}

// Describes the entry whose slope differs most, since a random direction mixes all entries.
std::string worst_entry(const Problem& p, const Doubles& x, std::size_t input,
                        const std::vector<double>& gradient, double step)
{
    constexpr std::size_t max_entries = 4096; // two evaluations each
    Slopes worst;
    std::size_t at = 0;
    for (std::size_t e = 0; e < std::min(max_entries, gradient.size()); ++e) {
        std::vector<double> unit(gradient.size(), 0.0);
        unit[e] = 1;
        const Slopes s = compare(p, x, input, unit, gradient, step);
        if (e > 0 && !(s.error > worst.error) && !std::isnan(s.error)) continue;
        worst = s;
        at = e;
        if (std::isnan(s.error)) break;
    }
    std::ostringstream text;
    text << "; worst at entry " << index_text(at, p.inputs[input].shape()) << ": " << worst.found << " and "
         << worst.wanted;
    return text.str();
}

} // namespace

GradCheck gradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                    const std::vector<Tensor>& inputs, const GradCheckOptions& options)
{
    Problem p{f, inputs};
    std::mt19937_64 random(options.seed + 1);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Doubles x;
    for (const Tensor& t : inputs) x.push_back(values_of(t, p.device));

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
    std::size_t worst_input = 0;
    std::vector<double> worst_gradient;
    for (std::size_t i = 0, k = 0; i < in.size(); ++i) {
        if (!p.floating(i)) continue;
        const Tensor& gi = g[k++];
        const std::vector<double> gradient =
            gi.defined() ? gi.to_vector<double>() : std::vector<double>(x[i].size(), 0.0);
        for (int d = 0; d < options.directions; ++d) {
            std::vector<double> direction(x[i].size());
            for (double& v : direction) v = uniform(random);
            const Slopes s = compare(p, x, i, direction, gradient, options.step);
            if (!(s.error <= options.tolerance)) result.passed = false;
            if (std::isnan(result.error) || s.error <= result.error) continue; // the first NaN is reported
            result.error = s.error;
            worst_input = i;
            worst_gradient = gradient;
            std::ostringstream text;
            text << "input " << i << ", direction " << d << ": the gradient gives " << s.found
                 << ", central differences give " << s.wanted;
            result.message = text.str();
        }
    }
    if (!result.passed && options.find_entry)
        result.message += worst_entry(p, x, worst_input, worst_gradient, options.step);
    return result;
}

GradCheck gradgradcheck(const std::function<Tensor(const std::vector<Tensor>&)>& f,
                        const std::vector<Tensor>& inputs, const GradCheckOptions& options)
{
    const Problem p{f, inputs};
    std::mt19937_64 random(options.seed + 2);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const auto draw = [&](const Shape& shape) {
        std::int64_t count = 1;
        for (const Dim& d : shape) count *= d.value();
        std::vector<double> values(static_cast<std::size_t>(count));
        for (double& v : values) v = uniform(random);
        return from_vector(values, shape, {.device = p.device});
    };
    Doubles x;
    for (const Tensor& t : inputs) x.push_back(values_of(t, p.device));
    const Tensor y = f(p.tensors(x, true));
    std::vector<Tensor> all = inputs, weights;
    all.push_back(draw(y.shape())); // the cotangent
    for (std::size_t i = 0; i < inputs.size(); ++i)
        weights.push_back(p.floating(i) ? draw(inputs[i].shape()) : Tensor());
    const auto gradient = [&](const std::vector<Tensor>& given) {
        std::vector<Tensor> in(given.begin(), given.end() - 1), by;
        for (std::size_t i = 0; i < in.size(); ++i) {
            if (!p.floating(i)) continue;
            if (!in[i].requires_grad()) in[i].requires_grad_();
            by.push_back(in[i]);
        }
        Tensor total = zeros({}, {.dtype = f64, .device = p.device});
        const Tensor out = f(in);
        if (!out.requires_grad()) return total;
        const auto g =
            grad({out}, by, {.create_graph = true, .allow_unused = true, .cotangents = {given.back()}});
        for (std::size_t i = 0, k = 0; i < in.size(); ++i)
            if (p.floating(i))
                if (const Tensor& d = g[k++]; d.defined()) total = total + sum(d * weights[i]);
        return total;
    };
    return gradcheck(gradient, all, options);
}

} // namespace reprise
