// Steps of optimizers.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

using Call = std::function<std::vector<Tensor>(const Tensor& param, const Tensor& grad,
                                               const std::vector<Tensor>& moments,
                                               const std::vector<StepNumber>& numbers)>;

struct Case {
    const char* what;
    std::vector<std::pair<double, double>> moments, numbers; // from where they are drawn
    Call call;
    bool in_memory = false; // the numbers; else the host knows them
};

// Inputs: param, grad, moments, numbers.
Sample sample(const Case& c)
{
    Sample s{
        .what = c.what, .arguments = {arg({n(), 3}), arg({n(), 3})}, .call = {}, .sizes = {0, 1, 5, 300}};
    for (const auto& [low, high] : c.moments) s.arguments.push_back(arg({n(), 3}, low, high));
    for (const auto& [low, high] : c.numbers)
        s.arguments.push_back(c.in_memory ? arg({}, low, high) : number(low, high));
    s.call = [call = c.call, moments = c.moments.size()](const Inputs& in) {
        const auto first = in.begin() + 2 + static_cast<std::ptrdiff_t>(moments);
        std::vector<StepNumber> numbers;
        for (auto i = first; i != in.end(); ++i) numbers.emplace_back(cast(*i, f32));
        return call(in[0], in[1], {in.begin() + 2, first}, numbers);
    };
    return s;
}

constexpr std::pair<double, double> rate{0.01, 0.1}, share{0.1, 0.4}, kept{0.6, 0.9}, signed_moment{-1, 1},
    square{0.5, 1}, corrected{0.3, 0.9}, decay{0.05, 0.2}, none{0, 0}, large_share{0.6, 0.9};

Call sgd(bool nesterov, bool maximize)
{
    return [=](const Tensor& p, const Tensor& g, const std::vector<Tensor>& m,
               const std::vector<StepNumber>& x) {
        return sgd_step(p, g, m,
                        {.lr = x[0],
                         .momentum = x[1],
                         .share = x[2],
                         .weight_decay = x[3],
                         .nesterov = nesterov,
                         .maximize = maximize});
    };
}

Call adam(bool maximize)
{
    return [=](const Tensor& p, const Tensor& g, const std::vector<Tensor>& m,
               const std::vector<StepNumber>& x) {
        return adam_step(p, g, m,
                         {.step_size = x[0],
                          .share1 = x[1],
                          .beta2 = x[2],
                          .share2 = x[3],
                          .root = x[4],
                          .eps = 1e-8,
                          .weight_decay = x[5],
                          .kept = x[6],
                          .maximize = maximize});
    };
}

Call rmsprop(bool centered, bool maximize)
{
    return [=](const Tensor& p, const Tensor& g, const std::vector<Tensor>& m,
               const std::vector<StepNumber>& x) {
        return rmsprop_step(p, g, m,
                            {.lr = x[0],
                             .alpha = x[1],
                             .share = x[2],
                             .eps = 1e-8,
                             .momentum = x[3],
                             .weight_decay = x[4],
                             .centered = centered,
                             .maximize = maximize});
    };
}

Call adagrad(bool maximize)
{
    return [=](const Tensor& p, const Tensor& g, const std::vector<Tensor>& m,
               const std::vector<StepNumber>& x) {
        return adagrad_step(p, g, m, {.lr = x[0], .eps = x[1], .weight_decay = x[2], .maximize = maximize});
    };
}

Call lion(bool maximize)
{
    return [=](const Tensor& p, const Tensor& g, const std::vector<Tensor>& m,
               const std::vector<StepNumber>& x) {
        return lion_step(p, g, m,
                         {.lr = x[0],
                          .beta1 = x[1],
                          .share1 = x[2],
                          .beta2 = x[3],
                          .share2 = x[4],
                          .kept = x[5],
                          .maximize = maximize});
    };
}

OpInfo row(const char* name, const std::vector<Case>& cases, std::vector<Mistake> mistakes)
{
    OpInfo info{.name = name, .differentiable = false, .samples = {}, .mistakes = std::move(mistakes)};
    for (const Case& c : cases) info.samples.push_back(sample(c));
    return info;
}

} // namespace

void add_updates(std::vector<OpInfo>& rows)
{
    const auto p = [] { return ones({3}); };
    rows.push_back(row("sgd_step",
                       {{"plain", {}, {rate, none, none, none}, sgd(false, false)},
                        {"decay and maximize", {}, {rate, none, none, decay}, sgd(false, true), true},
                        {"momentum", {signed_moment}, {rate, kept, share, none}, sgd(false, false), true},
                        {"nesterov", {signed_moment}, {rate, kept, share, decay}, sgd(true, false)}},
                       {{"shapes", [=] { sgd_step(p(), ones({2}), {}, {.lr = 0.1}); }, ErrorKind::shape,
                         "The grad is f32[2]"},
                        {"dtypes", [=] { sgd_step(p(), ones({3}, {.dtype = f16}), {}, {.lr = 0.1}); },
                         ErrorKind::dtype, "f16"},
                        {"a rate of two elements", [=] { sgd_step(p(), p(), {}, {.lr = ones({2})}); },
                         ErrorKind::shape, "The lr"},
                        {"two moments",
                         [=] {
                             sgd_step(p(), p(), {p(), p()}, {.lr = 0.1});
                         },
                         ErrorKind::argument, "There are (2) moments: give 0 to 1"}}));
    rows.push_back(row(
        "adam_step",
        {{"plain", {signed_moment, square}, {rate, share, kept, share, corrected, none, {1, 1}}, adam(false)},
         {"from the gradient",
          {signed_moment, square},
          {rate, large_share, kept, share, corrected, decay, {1, 1}},
          adam(false),
          true},
         {"decoupled",
          {signed_moment, square},
          {rate, share, kept, share, corrected, none, kept},
          adam(true)},
         {"amsgrad",
          {signed_moment, square, square},
          {rate, share, kept, share, corrected, decay, kept},
          adam(false)}},
        {{"shapes",
          [=] {
              adam_step(p(), p(), {ones({2}), p()}, {.step_size = 0.1});
          },
          ErrorKind::shape, "The exp_avg is"},
         {"one moment", [=] { adam_step(p(), p(), {p()}, {.step_size = 0.1}); }, ErrorKind::argument,
          "There are (1) moments: give 2 to 3"},
         {"integers",
          [=] {
              adam_step(p(), ones({3}, {.dtype = i32}), {p(), p()}, {.step_size = 0.1});
          },
          ErrorKind::dtype, "The grad is i32[3]"}}));
    rows.push_back(row(
        "rmsprop_step",
        {{"plain", {square}, {rate, kept, share, none, none}, rmsprop(false, false)},
         {"centered", {square, {-0.1, 0.1}}, {rate, kept, share, none, decay}, rmsprop(true, false), true},
         {"centered, from the gradient",
          {{3, 4}, {-0.1, 0.1}},
          {rate, kept, large_share, none, none},
          rmsprop(true, false)},
         {"momentum", {square, signed_moment}, {rate, kept, share, kept, none}, rmsprop(false, true)},
         {"centered with momentum",
          {square, {-0.1, 0.1}, signed_moment},
          {rate, kept, share, kept, decay},
          rmsprop(true, false)}},
        {{"shapes", [=] { rmsprop_step(p(), p(), {ones({2})}, {.lr = 0.1}); }, ErrorKind::shape,
          "The square_avg is"},
         {"no moments", [=] { rmsprop_step(p(), p(), {}, {.lr = 0.1}); }, ErrorKind::argument,
          "There are (0) moments: give 1"},
         {"centered without an average",
          [=] { rmsprop_step(p(), p(), {p()}, {.lr = 0.1, .centered = true}); }, ErrorKind::argument,
          "There are (1) moments: give 2"}}));
    rows.push_back(row("adagrad_step",
                       {{"plain", {square}, {rate, {1e-9, 1e-8}, none}, adagrad(false)},
                        {"decay and maximize", {square}, {rate, {0.1, 0.2}, decay}, adagrad(true), true}},
                       {{"shapes", [=] { adagrad_step(p(), p(), {ones({2})}, {.lr = 0.1}); },
                         ErrorKind::shape, "The sum is"},
                        {"no moments", [=] { adagrad_step(p(), p(), {}, {.lr = 0.1}); }, ErrorKind::argument,
                         "There are (0) moments: give 1"}}));
    rows.push_back(row(
        "lion_step",
        {{"plain", {signed_moment}, {rate, kept, share, kept, share, {1, 1}}, lion(false)},
         {"decay and maximize", {signed_moment}, {rate, kept, share, kept, share, kept}, lion(true), true}},
        {{"shapes", [=] { lion_step(p(), p(), {ones({2})}, {.lr = 0.1}); }, ErrorKind::shape,
          "The exp_avg is"},
         {"no moments", [=] { lion_step(p(), p(), {}, {.lr = 0.1}); }, ErrorKind::argument,
          "There are (0) moments: give 1"}}));
}

} // namespace reprise::test
