// Steps of optimizers.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

using Results = std::vector<std::vector<Tensor>>;
using Call = std::function<Results(const std::vector<StepOf>&, const std::vector<StepNumber>& numbers)>;

struct Case {
    const char* what;
    std::vector<std::pair<double, double>> moments, numbers; // from where they are drawn
    Call call;
    bool in_memory = false;     // the numbers; else the host knows them
    std::size_t parameters = 1; // of different shapes
};

// Inputs: of each parameter param, grad and moments, then the numbers.
Sample sample(const Case& c)
{
    Sample s{.what = c.what, .arguments = {}, .call = {}, .sizes = {0, 1, 5, 300}};
    for (std::size_t p = 0; p < c.parameters; ++p) {
        const Shape shape = p == 0 ? Shape{n(), 3} : Shape{n() + static_cast<std::int64_t>(p)};
        s.arguments.push_back(arg(shape));
        s.arguments.push_back(arg(shape));
        for (const auto& [low, high] : c.moments) s.arguments.push_back(arg(shape, low, high));
    }
    for (const auto& [low, high] : c.numbers)
        s.arguments.push_back(c.in_memory ? arg({}, low, high) : number(low, high));
    s.call = [call = c.call, parameters = c.parameters, moments = c.moments.size()](const Inputs& in) {
        std::vector<StepOf> of;
        auto at = in.begin();
        for (std::size_t p = 0; p < parameters; ++p) {
            const auto end = at + 2 + static_cast<std::ptrdiff_t>(moments);
            of.push_back({at[0], at[1], {at + 2, end}});
            at = end;
        }
        std::vector<StepNumber> numbers;
        for (; at != in.end(); ++at) numbers.emplace_back(cast(*at, f32));
        std::vector<Tensor> out;
        for (const auto& next : call(of, numbers)) out.insert(out.end(), next.begin(), next.end());
        return out;
    };
    return s;
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
                             .maximize = maximize});
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
                              .maximize = maximize});
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
                                 .maximize = maximize});
    };
}

Call adagrad(bool maximize)
{
    return [=](const std::vector<StepOf>& of, const std::vector<StepNumber>& x) {
        return adagrad_step(of, {.lr = x[0], .eps = x[1], .weight_decay = x[2], .maximize = maximize});
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
    rows.push_back(row(
        "sgd_step",
        {{"plain", {}, {rate, none, none, none}, sgd(false, false)},
         {"decay and maximize", {}, {rate, none, none, decay}, sgd(false, true), true},
         {"momentum", {signed_moment}, {rate, kept, share, none}, sgd(false, false), true},
         {"nesterov", {signed_moment}, {rate, kept, share, decay}, sgd(true, false)},
         {"of two", {}, {rate, none, none, decay}, sgd(false, false), false, 2},
         {"of three with momentum", {signed_moment}, {rate, kept, share, none}, sgd(false, false), true, 3}},
        {{"shapes", [=] { sgd_step(p(), ones({2}), {}, {.lr = 0.1}); }, ErrorKind::shape,
          "The grad is f32[2]"},
         {"dtypes", [=] { sgd_step(p(), ones({3}, {.dtype = f16}), {}, {.lr = 0.1}); }, ErrorKind::dtype,
          "f16"},
         {"a rate of two elements", [=] { sgd_step(p(), p(), {}, {.lr = ones({2})}); }, ErrorKind::shape,
          "The lr"},
         {"two moments",
          [=] {
              sgd_step(p(), p(), {p(), p()}, {.lr = 0.1});
          },
          ErrorKind::argument, "There are (2) moments: give 0 to 1"},
         {"shapes of the second",
          [=] {
              sgd_step({{p(), p()}, {p(), ones({2})}}, {.lr = 0.1});
          },
          ErrorKind::shape, "The grad is f32[2]"},
         {"moments of one",
          [=] {
              sgd_step({{p(), p(), {p()}}, {p(), p()}}, {.lr = 0.1});
          },
          ErrorKind::argument, "One parameter has (1) moments, another (0)"}}));
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
          adam(false)},
         {"of three",
          {signed_moment, square},
          {rate, share, kept, share, corrected, none, kept},
          adam(false),
          true,
          3},
         {"amsgrad of two",
          {signed_moment, square, square},
          {rate, share, kept, share, corrected, decay, kept},
          adam(false),
          false,
          2}},
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
          rmsprop(true, false)},
         {"of two with momentum",
          {square, signed_moment},
          {rate, kept, share, kept, none},
          rmsprop(false, false),
          false,
          2}},
        {{"shapes", [=] { rmsprop_step(p(), p(), {ones({2})}, {.lr = 0.1}); }, ErrorKind::shape,
          "The square_avg is"},
         {"no moments", [=] { rmsprop_step(p(), p(), {}, {.lr = 0.1}); }, ErrorKind::argument,
          "There are (0) moments: give 1"},
         {"centered without an average",
          [=] { rmsprop_step(p(), p(), {p()}, {.lr = 0.1, .centered = true}); }, ErrorKind::argument,
          "There are (1) moments: give 2"}}));
    rows.push_back(row("adagrad_step",
                       {{"plain", {square}, {rate, {1e-9, 1e-8}, none}, adagrad(false)},
                        {"decay and maximize", {square}, {rate, {0.1, 0.2}, decay}, adagrad(true), true},
                        {"of two", {square}, {rate, {0.1, 0.2}, none}, adagrad(false), false, 2}},
                       {{"shapes", [=] { adagrad_step(p(), p(), {ones({2})}, {.lr = 0.1}); },
                         ErrorKind::shape, "The sum is"},
                        {"no moments", [=] { adagrad_step(p(), p(), {}, {.lr = 0.1}); }, ErrorKind::argument,
                         "There are (0) moments: give 1"}}));
    rows.push_back(row(
        "lion_step",
        {{"plain", {signed_moment}, {rate, kept, share, kept, share, {1, 1}}, lion(false)},
         {"decay and maximize", {signed_moment}, {rate, kept, share, kept, share, kept}, lion(true), true},
         {"of two", {signed_moment}, {rate, kept, share, kept, share, kept}, lion(false), false, 2}},
        {{"shapes", [=] { lion_step(p(), p(), {ones({2})}, {.lr = 0.1}); }, ErrorKind::shape,
          "The exp_avg is"},
         {"no moments", [=] { lion_step(p(), p(), {}, {.lr = 0.1}); }, ErrorKind::argument,
          "There are (0) moments: give 1"}}));
}

} // namespace reprise::test
