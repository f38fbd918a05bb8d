// Each function calls the forward op on aliases of its inputs and lets the reverse walk compute their cotangents.
// Evaluation is lazy, so values of the forward op that the VJP does not read are never computed.
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
#include "ops/dropout.hpp"
#include "ops/registry.hpp"

namespace reprise::backward {

namespace {

using Inputs = std::vector<Tensor>;
using Forward = std::function<Tensor(const Inputs&)>;

struct Result {
    Tensor forward;
    Inputs gradients;
};

// Calls `forward` on aliases, at which the walk ends: of all inputs, then of the other tensors that require a gradient.
Tensor forward_on_aliases(const char* name, const Inputs& inputs, const Inputs& others,
                          const Forward& forward, std::vector<graph::Value>& aliases)
{
    Inputs tensors;
    const auto alias = [&](const Tensor& t) {
        aliases.push_back(graph::identity(graph::read(t)));
        tensors.push_back(graph::make_tensor(aliases.back()));
    };
    try {
        for (const Tensor& t : inputs) alias(t);
        for (const Tensor& t : others)
            if (t.defined() && t.requires_grad()) alias(t);
            else tensors.push_back(t);
        const AutoGradMode on(true);
        const graph::NoAutocast in_given_dtypes;
        return forward(tensors);
    } catch (const Error& e) {
        throw Error(e.kind(), std::string("[") + name + "] " + e.what());
    }
}

// Computes the gradients of the inputs.  Without a grad_output the gradient of the result is 1.  `forward` is called
// with the inputs and the other tensors, which must be all that it reads, else second-order gradients would be wrong.
Result run(const char* name, const Tensor& grad_output, const Inputs& inputs, const Inputs& others,
           const Forward& forward)
{
    bool differentiable = grad_output.defined() && grad_output.requires_grad();
    std::vector<graph::Value> aliases;
    const Tensor y = forward_on_aliases(name, inputs, others, forward, aliases);
    for (const Tensor& t : inputs) {
        if (!is_floating(t.dtype()))
            detail::fail(ErrorKind::dtype, name, "An input is ", name_of(t.dtype()),
                         ": only floating dtypes have gradients.");
        differentiable |= t.requires_grad();
    }
    for (const Tensor& t : others) differentiable |= t.requires_grad();
    differentiable &= grad_enabled();
    Tensor seed = grad_output.defined() ? grad_output : ones_like(y);
    autograd::require_alike(name, "The grad_output is ", seed, " but the result of the forward is ", y,
                            ": both must be alike.");
    if (!same(seed.shape(), y.shape())) seed = reshape(seed, y.shape());

    const AutoGradMode mode(differentiable);
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

// Computes the gradient of x alone.
template <class F> Tensor one(const char* name, const Tensor& grad_output, const Tensor& x,
                              const Tensor& other, const F& forward)
{
    require_grad_output(name, grad_output);
    return run(name, grad_output, {x}, {other}, [&](const Inputs& in) { return forward(in[0], in[1]); })
        .gradients[0];
}

template <class F>
Two two(const char* name, const Tensor& grad_output, const Tensor& a, const Tensor& b, const F& forward)
{
    const Inputs g = all(name, grad_output, {a, b}, [&](const Inputs& in) { return forward(in[0], in[1]); });
    return {g[0], g[1]};
}

// Computes the gradients of x and, where they are defined, of the weight and the bias.
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
    Result r = run(name, {}, {input}, {target}, [&](const Inputs& in) { return forward(in[0], in[1]); });
    return {r.forward, r.gradients[0]};
}

// Returns an input whose values do not matter, as only its shape is read.
Tensor placeholder(const Shape& shape, const Tensor& like)
{
    return zeros(shape, {.dtype = like.dtype(), .device = like.device()});
}

Tensor masked(const char* name, const Tensor& grad_output, const Tensor& mask, double p)
{
    ops::require_probability(name, p);
    require_grad_output(name, grad_output);
    return one(name, grad_output, zeros_like(grad_output), mask, [=](const Tensor& t, const Tensor& m) {
        return t * cast(m, t.dtype()) * (p < 1 ? 1 / (1 - p) : 0);
    });
}

// Returns dropout of t with the random numbers of this generator state.
Tensor dropped(const Tensor& t, const GeneratorState& state, double p)
{
    return ops::dropped(t,
                        {.seed_low = static_cast<std::int64_t>(state.seed & 0xFFFFFFFFu),
                         .seed_high = static_cast<std::int64_t>(state.seed >> 32),
                         .ordinal = static_cast<std::int64_t>(state.ordinal)},
                        p);
}

// Returns [N, C, 1, 1] for [N, C, H, W].
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

const Tensor& images(const Tensor& t)
{
    if (t.dim() != 4)
        detail::fail(ErrorKind::shape, "batch_norm2d", "The input is ", to_string(t.shape()),
                     ": it must be [N, C, H, W].");
    return t;
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

// The table: a function's name, the forward op, and the arguments of the forward op after its inputs.
//
//   OF_ONE   of an input t
//   OF_TWO   of the inputs s and t, in this order
//   OF_LAYER of an input t with a weight w and a bias b, which may be undefined
//   OF_LOSS  of an input t with a target; LOSS_AND_GRAD returns the loss, too

#define OF_ONE(name, forward, ...)                                                                           \
    Tensor name(const Tensor& grad_output, const Tensor& x __VA_OPT__(, ) __VA_ARGS__)                       \
    {                                                                                                        \
        return one(#name, grad_output, x, [&](const Tensor& t) { return forward; });                         \
    }
#define OF_TWO(name, forward, ...)                                                                           \
    Two name(const Tensor& grad_output, const Tensor& a, const Tensor& b __VA_OPT__(, ) __VA_ARGS__)         \
    {                                                                                                        \
        return two(#name, grad_output, a, b, [&](const Tensor& s, const Tensor& t) { return forward; });     \
    }
#define OF_LAYER(name, forward, ...)                                                                         \
    OfLayer name(const Tensor& grad_output, const Tensor& x, const Tensor& weight,                           \
                 const Tensor& bias __VA_OPT__(, ) __VA_ARGS__)                                              \
    {                                                                                                        \
        return layer(#name, grad_output, x, weight, bias,                                                    \
                     [&](const Tensor& t, const Tensor& w, const Tensor& b) { return forward; });            \
    }
#define OF_LOSS(name, forward)                                                                               \
    Tensor name(const Tensor& grad_output, const Tensor& input, const Tensor& wanted, Reduction reduction)   \
    {                                                                                                        \
        return one(#name, grad_output, input, wanted,                                                        \
                   [&](const Tensor& t, const Tensor& target) { return forward; });                          \
    }
#define LOSS_AND_GRAD(name, forward)                                                                         \
    LossAndGrad name(const Tensor& input, const Tensor& wanted, Reduction reduction)                         \
    {                                                                                                        \
        return loss(#name, input, wanted, reduction,                                                         \
                    [&](const Tensor& t, const Tensor& target) { return forward; });                         \
    }

// -- activations --
OF_ONE(relu_backward, relu(t))
OF_ONE(leaky_relu_backward, leaky_relu(t, negative_slope), double negative_slope)
OF_TWO(prelu_backward, prelu(s, t))
OF_ONE(sigmoid_backward, sigmoid(t))
OF_ONE(tanh_backward, reprise::tanh(t))
OF_ONE(gelu_backward, gelu(t, approximation), GeluApproximation approximation)
OF_ONE(softmax_backward, softmax(t, dim), std::int64_t dim)
OF_ONE(swish_backward, swish(t))
OF_ONE(mish_backward, mish(t))
OF_ONE(elu_backward, elu(t, alpha), double alpha)

// -- losses --
OF_LOSS(binary_cross_entropy_backward, bce_loss(t, target, reduction))
OF_LOSS(mean_squared_error_backward, mse_loss(t, target, reduction))
OF_LOSS(cross_entropy_backward, cross_entropy(t, target, reduction))
LOSS_AND_GRAD(mse_loss_and_grad, mse_loss(t, target, reduction))
LOSS_AND_GRAD(bce_loss_and_grad, bce_loss(t, target, reduction))
LOSS_AND_GRAD(ce_loss_and_grad, cross_entropy(t, target, reduction))

// -- arithmetic --
OF_TWO(add_backward, s + t)
OF_TWO(subtract_backward, s - t)
OF_TWO(multiply_backward, (s * t))
OF_TWO(divide_backward, s / t)
OF_ONE(add_scalar_backward, t + number, double number)
OF_ONE(subtract_scalar_backward, t - number, double number)
OF_ONE(multiply_scalar_backward, (t * number), double number)
OF_ONE(divide_scalar_backward, t / number, double number)
OF_ONE(exp_backward, reprise::exp(t))
OF_ONE(log_backward, reprise::log(t))
OF_ONE(log10_backward, reprise::log10(t))
OF_ONE(log2_backward, reprise::log2(t))
OF_ONE(sqrt_backward, reprise::sqrt(t))
OF_ONE(abs_backward, reprise::abs(t))
OF_ONE(clip_backward, clamp(t, min, max), double min, double max)

// -- reductions --
OF_ONE(sum_backward, sum(t, dims, keepdim), const Dims& dims, bool keepdim)
OF_ONE(mean_backward, mean(t, dims, keepdim), const Dims& dims, bool keepdim)
OF_ONE(max_reduce_backward, amax(t, dims, keepdim), const Dims& dims, bool keepdim)
OF_ONE(min_reduce_backward, amin(t, dims, keepdim), const Dims& dims, bool keepdim)

// -- products --
OF_TWO(matmul_backward, matmul(s, t))
OF_LAYER(linear_backward, linear(t, w, b))
OF_TWO(linear_no_bias_backward, linear(s, t))
OF_LAYER(conv2d_backward, conv2d(t, w, b, options), const ConvOptions<2>& options)
OF_TWO(conv2d_no_bias_backward, conv2d(s, t, {}, options), const ConvOptions<2>& options)

// -- pooling and normalisation --
OF_ONE(maxpool2d_backward, max_pool2d(t, options), const MaxPoolOptions<2>& options)
OF_ONE(avgpool2d_backward, avg_pool2d(t, options), const AvgPoolOptions<2>& options)
OF_ONE(global_avgpool2d_backward, adaptive_avg_pool2d(t, 1))
OF_LAYER(batch_norm2d_backward, batch_norm(images(t), {}, {}, w, b, {.training = true, .eps = eps}),
         double eps)

// -- shapes --
OF_ONE(transpose_backward, transpose(t, a, b), std::int64_t a, std::int64_t b)
OF_ONE(reshape_backward, reshape(t, shape), const Shape& shape)
OF_ONE(expand_dims_backward, unsqueeze(t, dim), std::int64_t dim)
OF_ONE(squeeze_backward, squeeze(t, dim), std::int64_t dim)
OF_ONE(flatten_backward, flatten(t, from, to), std::int64_t from, std::int64_t to)

#undef OF_ONE
#undef OF_TWO
#undef OF_LAYER
#undef OF_LOSS
#undef LOSS_AND_GRAD

// -- functions of another form --

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
    ops::require_probability(name, p);
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
    ops::require_probability(name, p);
    const Shape channels = channels_of(name, grad_output);
    if (p == 0) return grad_output;
    return grad_output * dropped(placeholder(channels, grad_output) + 1.0, state, p);
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
