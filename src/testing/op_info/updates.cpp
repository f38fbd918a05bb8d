// Steps of optimizers.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

using Results = std::vector<std::vector<Tensor>>;
using Call = std::function<Results(const std::vector<StepOf>&, const std::vector<StepNumber>& numbers)>;
using Ranges = std::vector<std::pair<double, double>>;

// Adds a sample to the last row.  Inputs: param, grad and moments of each parameter, then the numbers, in memory or as
// constants of the host; the last is `skip`.  Moments and numbers are drawn from these ranges.  Parameters differ in
// shape.
void step(Rows& rows, const char* what, const Ranges& moments, Ranges numbers, Call call,
          bool in_memory = false, std::size_t parameters = 1, double skip = 0)
{
    numbers.push_back({skip, skip});
    std::vector<Argument> arguments;
    for (std::size_t p = 0; p < parameters; ++p) {
        const Shape shape = p == 0 ? Shape{n(), 3} : Shape{n() + static_cast<std::int64_t>(p)};
        arguments.push_back(arg(shape));
        arguments.push_back(arg(shape));
        for (const auto& [low, high] : moments) arguments.push_back(arg(shape, low, high));
    }
    for (const auto& [low, high] : numbers)
        arguments.push_back(in_memory ? arg({}, low, high) : number(low, high));
    rows.sample(what, std::move(arguments), {0, 1, 5, 300},
                [call = std::move(call), parameters, count = moments.size()](const Inputs& in) {
                    std::vector<StepOf> of;
                    auto at = in.begin();
                    for (std::size_t p = 0; p < parameters; ++p) {
                        const auto end = at + 2 + static_cast<std::ptrdiff_t>(count);
                        of.push_back({at[0], at[1], {at + 2, end}});
                        at = end;
                    }
                    std::vector<StepNumber> given;
                    for (; at != in.end(); ++at) given.emplace_back(cast(*at, f32));
                    std::vector<Tensor> out;
                    for (const auto& next : call(of, given)) out.insert(out.end(), next.begin(), next.end());
                    return out;
                });
}

constexpr std::pair<double, double> rate{0.01, 0.1}, share{0.1, 0.4}, kept{0.6, 0.9}, signed_moment{-1, 1},
    square{0.5, 1}, corrected{0.3, 0.9}, decay{0.05, 0.2}, none{0, 0}, large_share{0.6, 0.9};

Call sgd(bool nesterov, bool maximize)
{
    return [=](const std::vector<StepOf>& of, const std::vector<StepNumber>& x) {
        return sgd_step(of, {.lr = x[0],
                             .momentum = x[1],
                             .share = x[2],
                             .weight_decay = x[3],
                             .nesterov = nesterov,
                             .maximize = maximize,
                             .skip = x.back()});
    };
}

Call adam(bool maximize)
{
    return [=](const std::vector<StepOf>& of, const std::vector<StepNumber>& x) {
        return adam_step(of, {.step_size = x[0],
                              .share1 = x[1],
                              .beta2 = x[2],
                              .share2 = x[3],
                              .root = x[4],
                              .eps = 1e-8,
                              .weight_decay = x[5],
                              .kept = x[6],
                              .maximize = maximize,
                              .skip = x.back()});
    };
}

Call rmsprop(bool centered, bool maximize)
{
    return [=](const std::vector<StepOf>& of, const std::vector<StepNumber>& x) {
        return rmsprop_step(of, {.lr = x[0],
                                 .alpha = x[1],
                                 .share = x[2],
                                 .eps = 1e-8,
                                 .momentum = x[3],
                                 .weight_decay = x[4],
                                 .centered = centered,
                                 .maximize = maximize,
                                 .skip = x.back()});
    };
}

Call adagrad(bool maximize)
{
    return [=](const std::vector<StepOf>& of, const std::vector<StepNumber>& x) {
        return adagrad_step(
            of, {.lr = x[0], .eps = x[1], .weight_decay = x[2], .maximize = maximize, .skip = x.back()});
    };
}

Call lion(bool maximize)
{
    return [=](const std::vector<StepOf>& of, const std::vector<StepNumber>& x) {
        return lion_step(of, {.lr = x[0],
                              .beta1 = x[1],
                              .share1 = x[2],
                              .beta2 = x[3],
                              .share2 = x[4],
                              .kept = x[5],
                              .maximize = maximize,
                              .skip = x.back()});
    };
}

Tensor three() { return ones({3}); }

void add_sgd_and_adam(Rows& rows)
{
    rows.op("sgd_step").differentiable = false;
    step(rows, "plain", {}, {rate, none, none, none}, sgd(false, false));
    step(rows, "decay and maximize", {}, {rate, none, none, decay}, sgd(false, true), true);
    step(rows, "momentum", {signed_moment}, {rate, kept, share, none}, sgd(false, false), true);
    step(rows, "nesterov", {signed_moment}, {rate, kept, share, decay}, sgd(true, false));
    step(rows, "of two", {}, {rate, none, none, decay}, sgd(false, false), false, 2);
    step(rows, "of three with momentum", {signed_moment}, {rate, kept, share, none}, sgd(false, false), true,
         3);
    step(rows, "skipped", {signed_moment}, {rate, kept, share, decay}, sgd(true, false), true, 2, 1);
    rows.mistake("shapes", ErrorKind::shape, "The grad is f32[2]",
                 [] { sgd_step(three(), ones({2}), {}, {.lr = 0.1}); });
    rows.mistake("dtypes", ErrorKind::dtype, "The grad is i32[3] but the param is f32[3]",
                 [] { sgd_step(three(), ones({3}, {.dtype = i32}), {}, {.lr = 0.1}); });
    rows.mistake("a rate of two elements", ErrorKind::shape, "The lr",
                 [] { sgd_step(three(), three(), {}, {.lr = ones({2})}); });
    rows.mistake("two moments", ErrorKind::argument, "There are (2) moments: give 0 to 1", [] {
        sgd_step(three(), three(), {three(), three()}, {.lr = 0.1});
    });
    rows.mistake("shapes of the second", ErrorKind::shape, "The grad is f32[2]", [] {
        sgd_step({{three(), three()}, {three(), ones({2})}}, {.lr = 0.1});
    });
    rows.mistake("moments of one", ErrorKind::argument, "One parameter has (1) moments, another (0)", [] {
        sgd_step({{three(), three(), {three()}}, {three(), three()}}, {.lr = 0.1});
    });

    rows.op("adam_step").differentiable = false;
    step(rows, "plain", {signed_moment, square}, {rate, share, kept, share, corrected, none, {1, 1}},
         adam(false));
    step(rows, "from the gradient", {signed_moment, square},
         {rate, large_share, kept, share, corrected, decay, {1, 1}}, adam(false), true);
    step(rows, "decoupled", {signed_moment, square}, {rate, share, kept, share, corrected, none, kept},
         adam(true));
    step(rows, "amsgrad", {signed_moment, square, square}, {rate, share, kept, share, corrected, decay, kept},
         adam(false));
    step(rows, "of three", {signed_moment, square}, {rate, share, kept, share, corrected, none, kept},
         adam(false), true, 3);
    step(rows, "amsgrad of two", {signed_moment, square, square},
         {rate, share, kept, share, corrected, decay, kept}, adam(false), false, 2);
    step(rows, "skipped", {signed_moment, square, square}, {rate, share, kept, share, corrected, decay, kept},
         adam(false), true, 2, 1);
    rows.mistake("shapes", ErrorKind::shape, "The exp_avg is", [] {
        adam_step(three(), three(), {ones({2}), three()}, {.step_size = 0.1});
    });
    rows.mistake("one moment", ErrorKind::argument, "There are (1) moments: give 2 to 3",
                 [] { adam_step(three(), three(), {three()}, {.step_size = 0.1}); });
    rows.mistake("integers", ErrorKind::dtype, "The grad is i32[3]", [] {
        adam_step(three(), ones({3}, {.dtype = i32}), {three(), three()}, {.step_size = 0.1});
    });
}

void add_other_steps(Rows& rows)
{
    rows.op("rmsprop_step").differentiable = false;
    step(rows, "plain", {square}, {rate, kept, share, none, none}, rmsprop(false, false));
    step(rows, "centered", {square, {-0.1, 0.1}}, {rate, kept, share, none, decay}, rmsprop(true, false),
         true);
    step(rows, "centered, from the gradient", {{3, 4}, {-0.1, 0.1}}, {rate, kept, large_share, none, none},
         rmsprop(true, false));
    step(rows, "momentum", {square, signed_moment}, {rate, kept, share, kept, none}, rmsprop(false, true));
    step(rows, "centered with momentum", {square, {-0.1, 0.1}, signed_moment},
         {rate, kept, share, kept, decay}, rmsprop(true, false));
    step(rows, "of two with momentum", {square, signed_moment}, {rate, kept, share, kept, none},
         rmsprop(false, false), false, 2);
    step(rows, "skipped", {square, {-0.1, 0.1}, signed_moment}, {rate, kept, share, kept, decay},
         rmsprop(true, false), true, 2, 1);
    rows.mistake("shapes", ErrorKind::shape, "The square_avg is",
                 [] { rmsprop_step(three(), three(), {ones({2})}, {.lr = 0.1}); });
    rows.mistake("no moments", ErrorKind::argument, "There are (0) moments: give 1",
                 [] { rmsprop_step(three(), three(), {}, {.lr = 0.1}); });
    rows.mistake("centered without an average", ErrorKind::argument, "There are (1) moments: give 2",
                 [] { rmsprop_step(three(), three(), {three()}, {.lr = 0.1, .centered = true}); });

    rows.op("adagrad_step").differentiable = false;
    step(rows, "plain", {square}, {rate, {1e-9, 1e-8}, none}, adagrad(false));
    step(rows, "decay and maximize", {square}, {rate, {0.1, 0.2}, decay}, adagrad(true), true);
    step(rows, "of two", {square}, {rate, {0.1, 0.2}, none}, adagrad(false), false, 2);
    step(rows, "skipped", {square}, {rate, {0.1, 0.2}, none}, adagrad(false), true, 2, 1);
    rows.mistake("shapes", ErrorKind::shape, "The sum is",
                 [] { adagrad_step(three(), three(), {ones({2})}, {.lr = 0.1}); });
    rows.mistake("no moments", ErrorKind::argument, "There are (0) moments: give 1",
                 [] { adagrad_step(three(), three(), {}, {.lr = 0.1}); });

    rows.op("lion_step").differentiable = false;
    step(rows, "plain", {signed_moment}, {rate, kept, share, kept, share, {1, 1}}, lion(false));
    step(rows, "decay and maximize", {signed_moment}, {rate, kept, share, kept, share, kept}, lion(true),
         true);
    step(rows, "of two", {signed_moment}, {rate, kept, share, kept, share, kept}, lion(false), false, 2);
    step(rows, "skipped", {signed_moment}, {rate, kept, share, kept, share, kept}, lion(false), true, 2, 1);
    rows.mistake("shapes", ErrorKind::shape, "The exp_avg is",
                 [] { lion_step(three(), three(), {ones({2})}, {.lr = 0.1}); });
    rows.mistake("no moments", ErrorKind::argument, "There are (0) moments: give 1",
                 [] { lion_step(three(), three(), {}, {.lr = 0.1}); });
}

void add_unscale(Rows& rows)
{
    rows.op("unscale").differentiable = false;
    for (const bool in_memory : {false, true})
        rows.sample(in_memory ? "by a factor in memory" : "by a number",
                    {arg({n(), 3}), arg({n()}), in_memory ? arg({}, 0.1, 0.5) : number(0.1, 0.5)},
                    {0, 1, 5, 300, 5000}, [](const Inputs& in) {
                        const Unscaled u = unscale({in[0], in[1]}, cast(in[2], f32));
                        return std::vector<Tensor>{u.gradients[0], u.gradients[1], u.nonfinite};
                    });
    rows.mistake("no gradients", ErrorKind::argument, "There are no gradients",
                 [] { unscale({}, ones({})); });
    rows.mistake("integers", ErrorKind::dtype, "i32", [] { unscale({ones({3}, {.dtype = i32})}, ones({})); });
    rows.mistake("two factors", ErrorKind::shape, "The factor is f32[2]",
                 [] { unscale({three()}, ones({2})); });
}

} // namespace

void add_updates(Rows& rows)
{
    add_sgd_and_adam(rows);
    add_other_steps(rows);
    add_unscale(rows);
}

} // namespace reprise::test
