#include <reprise/optim/lbfgs.hpp>

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include <reprise/autograd/grad.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "optim/clear_gradients.hpp"
#include "optim/line_search.hpp"

namespace reprise::optim {

using detail::fail;

namespace {

double number(const Tensor& t)
{
    if (t.dtype() == f64) return t.item<double>();
    return static_cast<double>(cast(t, f32).item<float>());
}
double product(const Tensor& a, const Tensor& b) { return number(dot(a, b)); }
double largest(const Tensor& t) { return number(max(abs(t))); }

void check(const Parameters& parameters, const LBFGS::Options& o)
{
    constexpr const char* op = "LBFGS";
    if (parameters.empty())
        fail(ErrorKind::argument, op, "There are no parameters: give those of a module, net.parameters().");
    for (const Variable& p : parameters) {
        if (!p.defined() || !p.requires_grad() || !p.is_leaf())
            fail(ErrorKind::argument, op,
                 "A parameter is no leaf that requires a gradient: can't optimize a non-leaf tensor.");
        if (p.dtype() != parameters[0].dtype() || !(p.device() == parameters[0].device()))
            fail(ErrorKind::argument, op, "The parameters are of (", name_of(parameters[0].dtype()), ") on (",
                 parameters[0].device().name(), ") and of (", name_of(p.dtype()), ") on (", p.device().name(),
                 "): they must be of one dtype and device.");
    }
    if (!(o.lr >= 0)) fail(ErrorKind::argument, op, "The lr (", o.lr, ") must be at least 0.");
    for (const std::int64_t count : {o.max_iter, o.max_eval.value_or(1), o.history_size})
        if (count < 1)
            fail(ErrorKind::argument, op, "The number (", count,
                 ") of iterations, evaluations or pairs must be at least 1.");
    if (!o.line_search_fn.empty() && o.line_search_fn != "strong_wolfe")
        fail(ErrorKind::argument, op, "The line_search_fn (", o.line_search_fn,
             ") must be strong_wolfe, or none.");
}

} // namespace

struct LBFGS::State {
    std::vector<Variable> parameters;
    Options options;

    struct Pair { // the changes of the parameters and of the gradient in one iteration
        Tensor change, gradient_change;
        double rho; // 1 / (change . gradient_change)
    };
    std::int64_t iterations = 0; // of all steps
    Tensor direction{}, gradient_before{};
    std::deque<Pair> history{};
    double scale = 1; // the inverse Hessian matrix is first approximated by scale * identity
    double t = 0, loss_before = 0;

    // Concatenates all gradients to one vector.
    Tensor gradient() const
    {
        std::vector<Tensor> parts;
        for (const Variable& p : parameters) {
            const Tensor g = p.grad();
            parts.push_back(reshape(g.defined() ? g : zeros_like(p), {-1}));
        }
        return cat(parts);
    }
    std::vector<Tensor> values() const
    {
        std::vector<Tensor> out;
        for (const Variable& p : parameters) out.push_back(p.detach());
        return out;
    }
    // Sets the parameters to start + by * direction.
    void move(const std::vector<Tensor>& start, double by)
    {
        std::int64_t from = 0;
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            const std::int64_t length = parameters[i].numel().value();
            const Tensor part = reshape(narrow(direction, 0, from, length), parameters[i].shape());
            parameters[i].assign(start[i] + part * by);
            from += length;
        }
    }

    void find_direction(const Tensor& g)
    {
        if (iterations == 1) {
            direction = -g;
            history.clear();
            scale = 1;
            return;
        }
        const Tensor y = g - gradient_before, s = direction * t;
        const double ys = product(y, s);
        if (ys > 1e-10) {
            if (static_cast<std::int64_t>(history.size()) == options.history_size) history.pop_front();
            history.push_back({s, y, 1 / ys});
            scale = ys / product(y, y);
        }
        std::vector<double> alpha(history.size());
        Tensor q = -g;
        for (std::size_t i = history.size(); i-- > 0;) {
            alpha[i] = product(history[i].change, q) * history[i].rho;
            q = q - history[i].gradient_change * alpha[i];
        }
        direction = q * scale;
        for (std::size_t i = 0; i < history.size(); ++i) {
            const double beta = product(history[i].gradient_change, direction) * history[i].rho;
            direction = direction + history[i].change * (alpha[i] - beta);
        }
        direction.eval();
    }

    Tensor step(const std::function<Tensor()>& closure);
};

Tensor LBFGS::State::step(const std::function<Tensor()>& closure)
{
    const no_grad guard;
    const auto evaluate = [&] {
        const enable_grad on;
        return closure();
    };
    const std::int64_t max_evaluations = options.max_eval.value_or(options.max_iter * 5 / 4);
    const Tensor first = evaluate();
    double loss = number(first);
    Tensor g = gradient();
    if (largest(g) <= options.tolerance_grad) return first;
    std::int64_t evaluations = 1;
    for (std::int64_t i = 1; i <= options.max_iter; ++i) {
        ++iterations;
        find_direction(g);
        gradient_before = g;
        loss_before = loss;
        t = iterations == 1 ? std::min(1.0, 1 / number(sum(abs(g)))) * options.lr : options.lr;
        const double slope = product(g, direction), size = largest(direction);
        if (slope > -options.tolerance_change) break;
        const std::vector<Tensor> start = values();
        std::int64_t new_evaluations = 0;
        if (!options.line_search_fn.empty()) {
            const auto at = [&](double by) {
                move(start, by);
                LinePoint p{by, number(evaluate()), gradient(), 0};
                p.slope = product(p.gradient, direction);
                return p;
            };
            const LineSearchResult found = strong_wolfe(
                at, {0, loss, g, slope}, t, size, options.tolerance_change, max_evaluations - evaluations);
            t = found.point.t;
            loss = found.point.loss;
            g = found.point.gradient;
            new_evaluations = found.evaluations;
            move(start, t);
        } else {
            move(start, t);
            if (i != options.max_iter) { // nothing reads the loss after the last iteration
                loss = number(evaluate());
                g = gradient();
                new_evaluations = 1;
            }
        }
        evaluations += new_evaluations;
        if (evaluations >= max_evaluations || largest(g) <= options.tolerance_grad ||
            size * std::abs(t) <= options.tolerance_change ||
            std::abs(loss - loss_before) < options.tolerance_change)
            break;
    }
    return first;
}

LBFGS::LBFGS(Parameters parameters, Options options)
{
    check(parameters, options);
    state_ = std::make_unique<State>(State{std::move(parameters), std::move(options)});
}
LBFGS::~LBFGS() = default;

void LBFGS::zero_grad(bool set_to_none) { clear_gradients(state_->parameters, set_to_none); }

Tensor LBFGS::step(const std::function<Tensor()>& closure)
{
    if (!closure)
        fail(ErrorKind::argument, "LBFGS",
             "The closure is a null function: give one that computes the loss.");
    if (is_recording())
        fail(ErrorKind::state, "LBFGS",
             "A step reads the loss, so that it can't be recorded: record the closure.");
    return state_->step(closure);
}

const std::vector<Variable>& LBFGS::parameters() const noexcept { return state_->parameters; }
double LBFGS::get_lr() const noexcept { return state_->options.lr; }
void LBFGS::set_lr(double lr)
{
    if (!(lr >= 0)) fail(ErrorKind::argument, "LBFGS", "The lr (", lr, ") must be at least 0.");
    state_->options.lr = lr;
}

} // namespace reprise::optim
