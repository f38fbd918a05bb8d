// Steps of optimizers.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

Sample sgd(const char* what, double momentum, double dampening, double decay, bool nesterov)
{
    return {.what = what,
            .arguments = {arg({n(), 3}), arg({n(), 3}), arg({n(), 3}), number(0.05, 0.2)},
            .call =
                [=](const Inputs& in) {
                    const auto [param, velocity] = sgd_step(in[0], in[1], momentum != 0 ? in[2] : Tensor(),
                                                            {.lr = cast(in[3], f32),
                                                             .momentum = momentum,
                                                             .dampening = dampening,
                                                             .weight_decay = decay,
                                                             .nesterov = nesterov});
                    return momentum != 0 ? std::vector{param, velocity} : std::vector{param};
                },
            .sizes = {0, 1, 5, 300}};
}

Sample adam(const char* what, double decay, bool decoupled, bool numbers)
{
    const auto one = [&](double low, double high) {
        return numbers ? number(low, high) : arg({}, low, high);
    };
    return {.what = what,
            .arguments = {arg({n(), 3}), arg({n(), 3}), arg({n(), 3}), arg({n(), 3}, 0.01, 1), one(0.01, 0.1),
                          one(0.1, 0.9), one(0.1, 0.9)},
            .call =
                [=](const Inputs& in) {
                    const auto out = adam_step(in[0], in[1], in[2], in[3],
                                               {.lr = cast(in[4], f32),
                                                .correction1 = cast(in[5], f32),
                                                .correction2 = cast(in[6], f32),
                                                .weight_decay = decay,
                                                .decoupled = decoupled});
                    return std::vector<Tensor>(out.begin(), out.end());
                },
            .sizes = {0, 1, 5, 300}};
}

} // namespace

void add_updates(std::vector<OpInfo>& rows)
{
    const auto lr = [] { return full({}, 0.1); };
    rows.push_back(
        {.name = "sgd_step",
         .differentiable = false,
         .samples = {sgd("plain", 0, 0, 0, false), sgd("momentum", 0.9, 0, 0, false),
                     sgd("dampened", 0.9, 0.3, 0.01, false), sgd("nesterov", 0.9, 0, 0.01, true)},
         .mistakes = {{"shapes", [=] { sgd_step(ones({3}), ones({2}), {}, {.lr = lr()}); }, ErrorKind::shape,
                       "The grad is f32[2]"},
                      {"dtypes", [=] { sgd_step(ones({3}), ones({3}, {.dtype = f16}), {}, {.lr = lr()}); },
                       ErrorKind::dtype, "f16"},
                      {"a rate of two elements",
                       [] { sgd_step(ones({3}), ones({3}), {}, {.lr = ones({2})}); }, ErrorKind::shape,
                       "The lr"}}});
    rows.push_back({.name = "adam_step",
                    .differentiable = false,
                    .samples = {adam("plain", 0, false, true), adam("decay", 0.1, false, false),
                                adam("decoupled", 0.1, true, true)},
                    .mistakes = {{"shapes",
                                  [=] {
                                      adam_step(ones({3}), ones({3}), ones({2}), ones({3}),
                                                {.lr = lr(), .correction1 = lr(), .correction2 = lr()});
                                  },
                                  ErrorKind::shape, "The m is"}}});
}

} // namespace reprise::test
