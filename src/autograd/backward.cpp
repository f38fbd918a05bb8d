// Each function builds the forward op on aliases of its inputs and asks the reverse walk for their cotangents.  What
// the VJP does not read of the forward is never computed.
#include <reprise/backward.hpp>

#include <functional>

#include <reprise/autograd.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/reductions.hpp>
#include <reprise/ops/shapes.hpp>
#include <reprise/ops/updates.hpp>

#include "autograd/walk.hpp"
#include "graph/cell.hpp"
#include "ops/registry.hpp"
#include "shape/guard.hpp"

namespace reprise::backward {

namespace {

using Inputs = std::vector<Tensor>;
using Forward = std::function<Tensor(const Inputs&)>;

class GradMode {
public:
    explicit GradMode(bool on) : before_(graph::grad_mode()) { graph::grad_mode() = on; }
    ~GradMode() { graph::grad_mode() = before_; }
    GradMode(const GradMode&) = delete;
    GradMode& operator=(const GradMode&) = delete;

private:
    bool before_;
};

struct Result {
    Tensor forward;
    Inputs gradients;
};

void check_grad(const char* name, const Tensor& g, const Tensor& y)
{
    const auto sentence = [&] {
        return std::string("The grad_output is ") + name_of(g.dtype()) + to_string(g.shape()) +
               " but the result of the forward is " + name_of(y.dtype()) + to_string(y.shape()) +
               ": both must be alike.";
    };
    if (g.dtype() != y.dtype()) detail::fail(ErrorKind::dtype, name, sentence());
    shape::require_same(name, g.shape(), y.shape(), sentence);
}

// `aliases` are where the walk ends: of all inputs, then of those beside them that have a history.
Tensor forward_on_aliases(const char* name, const Inputs& inputs, const Inputs& beside,
                          const Forward& forward, std::vector<graph::Value>& aliases)
{
    Inputs tensors;
    const auto alias = [&](const Tensor& t) {
        aliases.push_back(graph::identity(graph::read(t)));
        tensors.push_back(graph::make_tensor(aliases.back()));
    };
    try {
        for (const Tensor& t : inputs) alias(t);
        for (const Tensor& t : beside)
            if (t.defined() && t.requires_grad()) alias(t);
            else tensors.push_back(t);
        const GradMode on(true);
        return forward(tensors);
    } catch (const Error& e) {
        throw Error(e.kind(), std::string("[") + name + "] " + e.what());
    }
}

// Without a grad_output the gradient of the result is 1.  `forward` is called with the inputs, whose gradients are
// wanted, and what stands beside them: all that it reads, or gradients of gradients would miss it.
Result run(const char* name, const Tensor& grad_output, const Inputs& inputs, const Inputs& beside,
           const Forward& forward)
{
    bool differentiable = grad_output.defined() && grad_output.requires_grad();
    std::vector<graph::Value> aliases;
    const Tensor y = forward_on_aliases(name, inputs, beside, forward, aliases);
    for (const Tensor& t : inputs) {
        if (!is_floating(t.dtype()))
            detail::fail(ErrorKind::dtype, name, "An input is ", name_of(t.dtype()),
                         ": only floating dtypes have gradients.");
        differentiable |= t.requires_grad();
    }
    for (const Tensor& t : beside) differentiable |= t.requires_grad();
    differentiable &= grad_enabled();
    Tensor seed = grad_output.defined() ? grad_output : ones_like(y);
    check_grad(name, seed, y);
    if (!same(seed.shape(), y.shape())) seed = reshape(seed, y.shape());

    const GradMode mode(differentiable);
    const graph::Value output = graph::read(y);
    const autograd::WalkOptions options{
        .create_graph = differentiable, .retain_graph = true, .stop_at_inputs = true};
    Result r{differentiable ? y : graph::detached_copy(y),
             autograd::cotangents_of(std::span(&output, 1), std::span(&seed, 1), aliases, options)};
    for (std::size_t i = 0; i < inputs.size(); ++i)
        if (!r.gradients[i].defined()) r.gradients[i] = zeros_like(inputs[i]);
    return r;
}

void require_grad_output(const char* name, const Tensor& grad_output)
{
    if (!grad_output.defined())
        detail::fail(ErrorKind::argument, name,
                     "The grad_output is undefined: give the gradient of the result.");
}

Inputs all(const char* name, const Tensor& grad_output, const Inputs& inputs, const Forward& forward)
{
    require_grad_output(name, grad_output);
    return run(name, grad_output, inputs, {}, forward).gradients;
}

template <class F> Tensor one(const char* name, const Tensor& grad_output, const Tensor& x, const F& forward)
{
    return all(name, grad_output, {x}, [&](const Inputs& in) { return forward(in[0]); })[0];
}

// Of x alone.
template <class F> Tensor one(const char* name, const Tensor& grad_output, const Tensor& x,
                              const Tensor& beside, const F& forward)
{
    require_grad_output(name, grad_output);
    return run(name, grad_output, {x}, {beside}, [&](const Inputs& in) { return forward(in[0], in[1]); })
        .gradients[0];
}

template <class F>
Two two(const char* name, const Tensor& grad_output, const Tensor& a, const Tensor& b, const F& forward)
{
    const Inputs g = all(name, grad_output, {a, b}, [&](const Inputs& in) { return forward(in[0], in[1]); });
    return {g[0], g[1]};
}

// Of x and of the weight and bias that there are.
template <class F> OfLayer layer(const char* name, const Tensor& grad_output, const Tensor& x,
                                 const Tensor& weight, const Tensor& bias, const F& forward)
{
    Inputs inputs{x};
    if (weight.defined()) inputs.push_back(weight);
    if (bias.defined()) inputs.push_back(bias);
    const std::size_t b = weight.defined() ? 2 : 1;
    const auto pick = [&](const Inputs& from, const Tensor& given, std::size_t i) {
        return given.defined() ? from[i] : Tensor();
    };
    const Inputs g = all(name, grad_output, inputs, [&](const Inputs& in) {
        return forward(in[0], pick(in, weight, 1), pick(in, bias, b));
    });
    return {g[0], pick(g, weight, 1), pick(g, bias, b)};
}

template <class F> LossAndGrad loss(const char* name, const Tensor& input, const Tensor& target,
                                    Reduction reduction, const F& forward)
{
    if (reduction == Reduction::none)
        detail::fail(ErrorKind::argument, name, "A loss of one element is needed: take mean or sum.");
    Result r =
        run(name, {}, {input}, {target}, [&](const Inputs& in) { return forward(in[0], in[1], reduction); });
    return {r.forward, r.gradients[0]};
}

// An input of which only the shape is read.
Tensor placeholder(const Shape& shape, const Tensor& beside)
{
    return zeros(shape, {.dtype = beside.dtype(), .device = beside.device()});
}

void check_probability(const char* name, double p)
{
    if (!(p >= 0 && p <= 1))
        detail::fail(ErrorKind::argument, name, "The probability (", p, ") must be from 0 to 1.");
}

Tensor masked(const char* name, const Tensor& grad_output, const Tensor& mask, double p)
{
    check_probability(name, p);
    require_grad_output(name, grad_output);
    return one(name, grad_output, zeros_like(grad_output), mask, [=](const Tensor& t, const Tensor& m) {
        return t * cast(m, t.dtype()) * (p < 1 ? 1 / (1 - p) : 0);
    });
}

// What dropout makes of t with the numbers that follow from this state.
Tensor dropped(const Tensor& t, const GeneratorState& state, double p)
{
    return graph::apply1(ops::dropout_op, {t},
                         {{"seed_low", Dim(static_cast<std::int64_t>(state.seed & 0xFFFFFFFFu))},
                          {"seed_high", Dim(static_cast<std::int64_t>(state.seed >> 32))},
                          {"ordinal", Dim(static_cast<std::int64_t>(state.ordinal))},
                          {"p", p}});
}

// [N, C, 1, 1] of [N, C, H, W]
Shape channels_of(const char* name, const Tensor& grad_output)
{
    require_grad_output(name, grad_output);
    Shape channels = grad_output.shape();
    if (channels.size() != 3 && channels.size() != 4)
        detail::fail(ErrorKind::shape, name, "The grad_output is ", to_string(channels),
                     ": it must be [N, C, H, W] or [N, C, L].");
    for (std::size_t d = 2; d < channels.size(); ++d) channels[d] = 1;
    return channels;
}

void update(const char* name, std::vector<Variable> parameters, const std::vector<Tensor>& grads, double lr)
{
    if (parameters.size() != grads.size())
        detail::fail(ErrorKind::argument, name, "There are (", grads.size(), ") gradients for (",
                     parameters.size(), ") parameters: give one for each.");
    const no_grad guard;
    std::vector<Tensor> values; // all before the first is assigned
    for (std::size_t i = 0; i < grads.size(); ++i) {
        try {
            values.push_back(sgd_step(parameters[i], grads[i], {}, {.lr = lr})[0]);
        } catch (const Error& e) {
            throw Error(e.kind(), std::string("[") + name + "] " + e.what());
        }
    }
    for (std::size_t i = 0; i < values.size(); ++i) parameters[i].assign(values[i]);
}

} // namespace

// ---- activations ----

Tensor relu_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("relu_backward", grad_output, x, relu);
}

Tensor leaky_relu_backward(const Tensor& grad_output, const Tensor& x, double negative_slope)
{
    return one("leaky_relu_backward", grad_output, x,
               [=](const Tensor& t) { return leaky_relu(t, negative_slope); });
}

Two prelu_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight)
{
    return two("prelu_backward", grad_output, x, weight, prelu);
}

Tensor sigmoid_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("sigmoid_backward", grad_output, x, sigmoid);
}

Tensor tanh_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("tanh_backward", grad_output, x, [](const Tensor& t) { return reprise::tanh(t); });
}

Tensor gelu_backward(const Tensor& grad_output, const Tensor& x, GeluApproximation approximation)
{
    return one("gelu_backward", grad_output, x, [=](const Tensor& t) { return gelu(t, approximation); });
}

Tensor softmax_backward(const Tensor& grad_output, const Tensor& x, std::int64_t dim)
{
    return one("softmax_backward", grad_output, x, [=](const Tensor& t) { return softmax(t, dim); });
}

Tensor swish_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("swish_backward", grad_output, x, swish);
}

Tensor mish_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("mish_backward", grad_output, x, mish);
}

Tensor elu_backward(const Tensor& grad_output, const Tensor& x, double alpha)
{
    return one("elu_backward", grad_output, x, [=](const Tensor& t) { return reprise::elu(t, alpha); });
}

// ---- losses ----

Tensor binary_cross_entropy_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target,
                                     Reduction reduction)
{
    return one("binary_cross_entropy_backward", grad_output, input, target,
               [=](const Tensor& t, const Tensor& wanted) { return bce_loss(t, wanted, reduction); });
}

Tensor mean_squared_error_backward(const Tensor& grad_output, const Tensor& input, const Tensor& target,
                                   Reduction reduction)
{
    return one("mean_squared_error_backward", grad_output, input, target,
               [=](const Tensor& t, const Tensor& wanted) { return mse_loss(t, wanted, reduction); });
}

Tensor cross_entropy_backward(const Tensor& grad_output, const Tensor& logits, const Tensor& target,
                              Reduction reduction)
{
    return one("cross_entropy_backward", grad_output, logits, target,
               [=](const Tensor& t, const Tensor& wanted) { return cross_entropy(t, wanted, reduction); });
}

LossAndGrad mse_loss_and_grad(const Tensor& input, const Tensor& target, Reduction reduction)
{
    return loss("mse_loss_and_grad", input, target, reduction, mse_loss);
}

LossAndGrad bce_loss_and_grad(const Tensor& input, const Tensor& target, Reduction reduction)
{
    return loss("bce_loss_and_grad", input, target, reduction,
                [](const Tensor& t, const Tensor& wanted, Reduction r) { return bce_loss(t, wanted, r); });
}

LossAndGrad ce_loss_and_grad(const Tensor& logits, const Tensor& target, Reduction reduction)
{
    return loss(
        "ce_loss_and_grad", logits, target, reduction,
        [](const Tensor& t, const Tensor& wanted, Reduction r) { return cross_entropy(t, wanted, r); });
}

// ---- arithmetic ----

Two add_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b)
{
    return two("add_backward", grad_output, a, b, [](const Tensor& x, const Tensor& y) { return x + y; });
}

Two subtract_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b)
{
    return two("subtract_backward", grad_output, a, b,
               [](const Tensor& x, const Tensor& y) { return x - y; });
}

Two multiply_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b)
{
    return two("multiply_backward", grad_output, a, b,
               [](const Tensor& x, const Tensor& y) { return x * y; });
}

Two divide_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b)
{
    return two("divide_backward", grad_output, a, b, [](const Tensor& x, const Tensor& y) { return x / y; });
}

Tensor add_scalar_backward(const Tensor& grad_output, const Tensor& x, double number)
{
    return one("add_scalar_backward", grad_output, x, [=](const Tensor& t) { return t + number; });
}

Tensor subtract_scalar_backward(const Tensor& grad_output, const Tensor& x, double number)
{
    return one("subtract_scalar_backward", grad_output, x, [=](const Tensor& t) { return t - number; });
}

Tensor multiply_scalar_backward(const Tensor& grad_output, const Tensor& x, double number)
{
    return one("multiply_scalar_backward", grad_output, x, [=](const Tensor& t) { return t * number; });
}

Tensor divide_scalar_backward(const Tensor& grad_output, const Tensor& x, double number)
{
    return one("divide_scalar_backward", grad_output, x, [=](const Tensor& t) { return t / number; });
}

Tensor exp_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("exp_backward", grad_output, x, [](const Tensor& t) { return reprise::exp(t); });
}

Tensor log_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("log_backward", grad_output, x, [](const Tensor& t) { return reprise::log(t); });
}

Tensor log10_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("log10_backward", grad_output, x, [](const Tensor& t) { return reprise::log10(t); });
}

Tensor log2_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("log2_backward", grad_output, x, [](const Tensor& t) { return reprise::log2(t); });
}

Tensor sqrt_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("sqrt_backward", grad_output, x, [](const Tensor& t) { return reprise::sqrt(t); });
}

Tensor abs_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("abs_backward", grad_output, x, [](const Tensor& t) { return reprise::abs(t); });
}

Tensor clip_backward(const Tensor& grad_output, const Tensor& x, double min, double max)
{
    return one("clip_backward", grad_output, x, [=](const Tensor& t) { return clamp(t, min, max); });
}

// ---- reductions ----

Tensor sum_backward(const Tensor& grad_output, const Tensor& x, const Dims& dims, bool keepdim)
{
    return one("sum_backward", grad_output, x,
               [&](const Tensor& t) { return reprise::sum(t, dims, keepdim); });
}

Tensor mean_backward(const Tensor& grad_output, const Tensor& x, const Dims& dims, bool keepdim)
{
    return one("mean_backward", grad_output, x,
               [&](const Tensor& t) { return reprise::mean(t, dims, keepdim); });
}

Tensor max_reduce_backward(const Tensor& grad_output, const Tensor& x, const Dims& dims, bool keepdim)
{
    return one("max_reduce_backward", grad_output, x,
               [&](const Tensor& t) { return amax(t, dims, keepdim); });
}

Tensor min_reduce_backward(const Tensor& grad_output, const Tensor& x, const Dims& dims, bool keepdim)
{
    return one("min_reduce_backward", grad_output, x,
               [&](const Tensor& t) { return amin(t, dims, keepdim); });
}

// ---- products ----

Two matmul_backward(const Tensor& grad_output, const Tensor& a, const Tensor& b)
{
    return two("matmul_backward", grad_output, a, b, matmul);
}

OfLayer linear_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight, const Tensor& bias)
{
    return layer("linear_backward", grad_output, x, weight, bias, linear);
}

Two linear_no_bias_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight)
{
    return two("linear_no_bias_backward", grad_output, x, weight,
               [](const Tensor& t, const Tensor& w) { return linear(t, w); });
}

OfLayer conv2d_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight, const Tensor& bias,
                        const ConvOptions<2>& options)
{
    return layer("conv2d_backward", grad_output, x, weight, bias,
                 [&](const Tensor& t, const Tensor& w, const Tensor& b) { return conv2d(t, w, b, options); });
}

Two conv2d_no_bias_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight,
                            const ConvOptions<2>& options)
{
    return two("conv2d_no_bias_backward", grad_output, x, weight,
               [&](const Tensor& t, const Tensor& w) { return conv2d(t, w, {}, options); });
}

Tensor conv2d_backward_input(const Tensor& grad_output, const Shape& x, const Tensor& weight,
                             const ConvOptions<2>& options)
{
    return one("conv2d_backward_input", grad_output, placeholder(x, weight), weight,
               [&](const Tensor& t, const Tensor& w) { return conv2d(t, w, {}, options); });
}

Tensor conv2d_backward_weight(const Tensor& grad_output, const Tensor& x, const Shape& weight,
                              const ConvOptions<2>& options)
{
    return one("conv2d_backward_weight", grad_output, placeholder(weight, x), x,
               [&](const Tensor& w, const Tensor& t) { return conv2d(t, w, {}, options); });
}

// ---- pooling, normalisation, dropout ----

Tensor maxpool2d_backward(const Tensor& grad_output, const Tensor& x, const MaxPoolOptions<2>& options)
{
    return one("maxpool2d_backward", grad_output, x, [&](const Tensor& t) { return max_pool2d(t, options); });
}

Tensor avgpool2d_backward(const Tensor& grad_output, const Tensor& x, const AvgPoolOptions<2>& options)
{
    return one("avgpool2d_backward", grad_output, x, [&](const Tensor& t) { return avg_pool2d(t, options); });
}

Tensor global_avgpool2d_backward(const Tensor& grad_output, const Tensor& x)
{
    return one("global_avgpool2d_backward", grad_output, x,
               [](const Tensor& t) { return adaptive_avg_pool2d(t, 1); });
}

OfLayer batch_norm2d_backward(const Tensor& grad_output, const Tensor& x, const Tensor& weight,
                              const Tensor& bias, double eps)
{
    return layer("batch_norm2d_backward", grad_output, x, weight, bias,
                 [&](const Tensor& t, const Tensor& w, const Tensor& b) {
                     if (t.dim() != 4)
                         detail::fail(ErrorKind::shape, "batch_norm2d", "The input is ", to_string(t.shape()),
                                      ": it must be [N, C, H, W].");
                     return batch_norm(t, {}, {}, w, b, {.training = true, .eps = eps});
                 });
}

OfLayer layer_norm_backward(const Tensor& grad_output, const Tensor& x, const Shape& normalized_shape,
                            const Tensor& weight, const Tensor& bias, double eps)
{
    return layer("layer_norm_backward", grad_output, x, weight, bias,
                 [&](const Tensor& t, const Tensor& w, const Tensor& b) {
                     return layer_norm(t, normalized_shape, w, b, eps);
                 });
}

Tensor dropout_backward(const Tensor& grad_output, const Tensor& mask, double p)
{
    return masked("dropout_backward", grad_output, mask, p);
}

Tensor dropout_backward(const Tensor& grad_output, const GeneratorState& state, double p)
{
    constexpr const char* name = "dropout_backward";
    check_probability(name, p);
    require_grad_output(name, grad_output);
    if (p == 0) return grad_output;
    return dropped(grad_output, state, p);
}

Tensor dropout2d_backward(const Tensor& grad_output, const Tensor& mask, double p)
{
    constexpr const char* name = "dropout2d_backward";
    channels_of(name, grad_output);
    return masked(name, grad_output, mask, p);
}

Tensor dropout2d_backward(const Tensor& grad_output, const GeneratorState& state, double p)
{
    constexpr const char* name = "dropout2d_backward";
    check_probability(name, p);
    const Shape channels = channels_of(name, grad_output);
    if (p == 0) return grad_output;
    return grad_output * dropped(placeholder(channels, grad_output) + 1.0, state, p);
}

// ---- shapes ----

Tensor transpose_backward(const Tensor& grad_output, const Tensor& x, std::int64_t a, std::int64_t b)
{
    return one("transpose_backward", grad_output, x, [=](const Tensor& t) { return transpose(t, a, b); });
}

std::vector<Tensor> concat_backward(const Tensor& grad_output, const std::vector<Tensor>& parts,
                                    std::int64_t dim)
{
    return all("concat_backward", grad_output, parts, [=](const Inputs& in) { return cat(in, dim); });
}

std::vector<Tensor> stack_backward(const Tensor& grad_output, const std::vector<Tensor>& parts,
                                   std::int64_t dim)
{
    return all("stack_backward", grad_output, parts, [=](const Inputs& in) { return stack(in, dim); });
}

Tensor reshape_backward(const Tensor& grad_output, const Tensor& x, const Shape& shape)
{
    return one("reshape_backward", grad_output, x, [&](const Tensor& t) { return reshape(t, shape); });
}

Tensor expand_dims_backward(const Tensor& grad_output, const Tensor& x, std::int64_t dim)
{
    return one("expand_dims_backward", grad_output, x, [=](const Tensor& t) { return unsqueeze(t, dim); });
}

Tensor squeeze_backward(const Tensor& grad_output, const Tensor& x, std::int64_t dim)
{
    return one("squeeze_backward", grad_output, x, [=](const Tensor& t) { return squeeze(t, dim); });
}

Tensor flatten_backward(const Tensor& grad_output, const Tensor& x, std::int64_t from, std::int64_t to)
{
    return one("flatten_backward", grad_output, x, [=](const Tensor& t) { return flatten(t, from, to); });
}

// ---- parameters ----

void apply_gradient(Variable parameter, const Tensor& grad, double lr)
{
    update("apply_gradient", {std::move(parameter)}, {grad}, lr);
}

void apply_gradients(const std::vector<Variable>& parameters, const std::vector<Tensor>& grads, double lr)
{
    update("apply_gradients", parameters, grads, lr);
}

} // namespace reprise::backward
