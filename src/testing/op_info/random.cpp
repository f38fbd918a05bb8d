// Numbers drawn from distributions.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

OpInfo drawn(const char* name, std::vector<Sample> samples, std::vector<Mistake> mistakes, bool is_op = false)
{
    OpInfo row{.name = name, .is_op = is_op, .differentiable = false, .samples = std::move(samples)};
    row.mistakes = std::move(mistakes);
    return row;
}

// The same numbers at each evaluation.
Sample seeded(const char* what, std::vector<Argument> arguments,
              std::function<std::vector<Tensor>(const Inputs&)> f,
              std::vector<std::int64_t> sizes = {0, 1, 7, 300})
{
    return {.what = what,
            .arguments = std::move(arguments),
            .call =
                [f = std::move(f)](const Inputs& in) {
                    reseed();
                    return f(in);
                },
            .sizes = std::move(sizes)};
}

void add_draws(std::vector<OpInfo>& rows)
{
    rows.push_back(drawn(
        "random_integers",
        {seeded("of a few and of many", {whole({n(), 3}, 0, 9)},
                [](const Inputs& in) {
                    return std::vector{randint_like(in[0], -3, 5),
                                       randint_like(in[0], -2147483648LL, 2147483647LL)};
                })},
        {{"none", [] { randint(3, 3, {2}); }, ErrorKind::argument, "[randint] There are no integers"},
         {"too large", [] { randint(1LL << 40, {2}); }, ErrorKind::argument, "32 bits"},
         {"a dtype too narrow", [] { randint(0, 300, {2}, {.dtype = u8}); }, ErrorKind::argument, "(299)"},
         {"a negative size", [] { randint(3, {-1}); }, ErrorKind::shape, "[randint]"}},
        true));
    rows.push_back(
        drawn("randperm",
              {seeded("of so many", {arg({n()})},
                      [](const Inputs& in) { return std::vector{randperm(in[0].size(0))}; }, {0, 1, 7, 300})},
              {{"bool", [] { randperm(3, {.dtype = boolean}); }, ErrorKind::dtype, "[randperm]"},
               {"a negative size", [] { randperm(-1); }, ErrorKind::shape, "[randperm]"}}));
    rows.push_back(
        drawn("bernoulli",
              {seeded("by tensors and numbers", {arg({n(), 3}, 0, 1), whole({n()}, 0, 9)},
                      [](const Inputs& in) {
                          return std::vector{bernoulli(in[0]), bernoulli(in[0], 0.25), bernoulli(in[1], 0.5)};
                      })},
              {{"no probability", [] { bernoulli(ones({2}), 1.5); }, ErrorKind::argument, "(1.5)"},
               {"integers", [] { bernoulli(arange(3)); }, ErrorKind::dtype, "[bernoulli]"}}));
    rows.push_back(
        drawn("normal",
              {seeded("by tensors and numbers", {arg({n(), 3}), arg({3}, 0.5, 2)},
                      [](const Inputs& in) {
                          return std::vector{normal(in[0], in[1]), normal(in[0], 2), normal(1, in[1])};
                      })},
              {{"a negative deviation", [] { normal(0, -1, {2}); }, ErrorKind::argument, "(-1)"},
               {"shapes that do not fit", [] { normal(ones({2}), ones({3})); }, ErrorKind::shape, "[normal]"},
               {"integers", [] { normal(arange(3)); }, ErrorKind::dtype, "[normal]"}}));
    rows.push_back(drawn(
        "multinomial",
        {seeded("without replacement", {arg({n(), 5}, 0.1, 1)},
                [](const Inputs& in) { return std::vector{multinomial(in[0], 3)}; }),
         seeded("with replacement", {arg({n(), 5}, 0, 1)},
                [](const Inputs& in) { return std::vector{multinomial(in[0], 8, true)}; }),
         seeded("of a vector", {arg({n()}, 0.1, 1)},
                [](const Inputs& in) {
                    return std::vector{multinomial(in[0], 2), multinomial(in[0], 9, true)};
                },
                {2, 7, 300})},
        {{"more than there are", [] { multinomial(ones({3}), 4); }, ErrorKind::shape, "without replacement"},
         {"three dimensions",
          [] {
              multinomial(ones({2, 2, 2}), 1);
          },
          ErrorKind::shape, "[N, C]"},
         {"integers", [] { multinomial(arange(3), 1); }, ErrorKind::dtype, "[multinomial]"},
         {"none", [] { multinomial(ones({3}), 0, true); }, ErrorKind::shape, "(0)"}}));
}

void add_drops(std::vector<OpInfo>& rows)
{
    OpInfo channels{.name = "dropout1d_2d_3d", .is_op = false};
    channels.samples = {seeded("of channels", {arg({n(), 3, 4}), arg({n(), 3, 2, 2}), arg({2, n(), 2, 1, 2})},
                               [](const Inputs& in) {
                                   return std::vector{dropout1d(in[0]), dropout2d(in[0], 0.3),
                                                      dropout2d(in[1]), dropout3d(in[2], 0.9)};
                               },
                               {0, 1, 5}),
                        seeded("without a batch, and of nothing", {arg({n(), 4}), arg({n(), 2, 2, 3})},
                               [](const Inputs& in) {
                                   return std::vector{dropout1d(in[0]), dropout3d(in[1]), dropout1d(in[0], 0),
                                                      dropout1d(in[0], 0.5, false), dropout1d(in[0], 1)};
                               },
                               {0, 1, 5})};
    channels.mistakes = {{"a vector", [] { dropout1d(ones({3})); }, ErrorKind::shape, "[dropout1d]"},
                         {"no probability",
                          [] {
                              dropout2d(ones({1, 1, 1}), -1);
                          },
                          ErrorKind::argument, "(-1)"},
                         {"integers",
                          [] {
                              dropout3d(zeros({1, 1, 1, 1}, {.dtype = i32}));
                          },
                          ErrorKind::dtype, "[dropout3d]"}};
    rows.push_back(channels);

    OpInfo alpha{.name = "alpha_dropout", .is_op = false};
    alpha.samples = {seeded("half, all and nothing", {arg({n(), 3})}, [](const Inputs& in) {
        return std::vector{alpha_dropout(in[0], 0.5, true), alpha_dropout(in[0], 1, true),
                           alpha_dropout(in[0], 0.2, false)};
    })};
    alpha.mistakes = {{"no probability", [] { alpha_dropout(ones({3}), 2, true); }, ErrorKind::argument,
                       "[alpha_dropout]"}};
    rows.push_back(alpha);
}

} // namespace

void add_random(std::vector<OpInfo>& rows)
{
    add_draws(rows);
    add_drops(rows);
}

} // namespace reprise::test
