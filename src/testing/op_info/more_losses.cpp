// Losses of pairs, and the options of those of classes.
#include "testing/op_info/tools.hpp"

namespace reprise::test {
namespace {

using Loss = std::function<Tensor(const Inputs&, Reduction)>;

// With every reduction, and the mistake that all share.
OpInfo loss(const char* name, std::vector<Argument> arguments, Loss f, std::vector<Mistake> mistakes = {})
{
    OpInfo row{.name = name, .is_op = false, .mistakes = std::move(mistakes)};
    for (const Reduction r : {Reduction::none, Reduction::sum, Reduction::mean})
        row.samples.push_back({.what = r == Reduction::none  ? "each"
                                       : r == Reduction::sum ? "sum"
                                                             : "mean",
                               .arguments = arguments,
                               .call = [f, r](const Inputs& in) { return std::vector{f(in, r)}; },
                               .sizes = r == Reduction::mean ? sizes({1, 5}) : sizes({0, 1, 5})});
    return row;
}

} // namespace

void add_more_losses(std::vector<OpInfo>& rows)
{
    const std::vector<Argument> pair = {arg({n(), 3}, -2, 2), arg({n(), 3}, -2, 2)};
    const auto two = [](auto f) {
        return Mistake{"two shapes",
                       [f] {
                           f(ones({2, 3}), ones({3}), Reduction::mean);
                       },
                       ErrorKind::shape, "[2, 3] and [3]"};
    };
    rows.push_back(loss("l1_loss", pair,
                        [](const Inputs& in, Reduction r) { return l1_loss(in[0], in[1], r); },
                        {two(l1_loss)}));
    rows.push_back(
        loss("smooth_l1_loss", pair,
             [](const Inputs& in, Reduction r) { return smooth_l1_loss(in[0], in[1], r, 0.7); },
             {{"a negative bound", [] { smooth_l1_loss(ones({2}), ones({2}), Reduction::mean, -1); },
               ErrorKind::argument, "beta"}}));
    rows.push_back(loss("huber_loss", pair,
                        [](const Inputs& in, Reduction r) { return huber_loss(in[0], in[1], r, 0.7); },
                        {{"no bound", [] { huber_loss(ones({2}), ones({2}), Reduction::mean, 0); },
                          ErrorKind::argument, "delta"}}));
    rows.push_back(
        loss("bce_loss", {arg({n(), 3}, 0.2, 0.8), arg({n(), 3}, 0, 1), arg({3}, 0.5, 2)},
             [](const Inputs& in, Reduction r) { return bce_loss(in[0], in[1], r, in[2]); },
             {{"two shapes", [] { bce_loss(ones({2}), ones({1})); }, ErrorKind::shape, "[2] and [1]"}}));
    rows.push_back(
        loss("bce_with_logits_loss",
             {arg({n(), 3}, -3, 3), arg({n(), 3}, 0, 1), fixed(arg({3}, 0.5, 2)), arg({3}, 0.5, 2)},
             [](const Inputs& in, Reduction r) {
                 return bce_with_logits_loss(in[0], in[1], r, in[2], in[3]) +
                        bce_with_logits_loss(in[0], in[1], r);
             }));
    rows.push_back(
        loss("kl_div", {arg({n(), 3}, -3, 0), arg({n(), 3}, 0.1, 1)},
             [](const Inputs& in, Reduction r) {
                 return kl_div(in[0], in[1], r) + kl_div(in[0], log(in[1]), r, true);
             },
             {{"another loss's batchmean", [] { mse_loss(ones({2}), ones({2}), Reduction::batchmean); },
               ErrorKind::argument, "kl_div"}}));
    rows.back().samples.push_back({.what = "by the batch, targets of 0 too",
                                   .arguments = {arg({n(), 3}, -3, 0), fixed(arg({n(), 3}, -1, 1))},
                                   .call =
                                       [](const Inputs& in) {
                                           return std::vector{
                                               kl_div(in[0], clamp_min(in[1], 0), Reduction::batchmean)};
                                       },
                                   .sizes = {1, 5}});
    rows.push_back(loss("cosine_embedding_loss", {arg({n(), 4}), arg({n(), 4}), whole({n()}, 0, 1)},
                        [](const Inputs& in, Reduction r) {
                            return cosine_embedding_loss(in[0], in[1], in[2] * 2 - 1, 0.1, r);
                        },
                        {{"a target of another rank",
                          [] {
                              cosine_embedding_loss(ones({2, 3}), ones({2, 3}), ones({2, 3}));
                          },
                          ErrorKind::shape, "without the last dimension"}}));
    rows.push_back({.name = "cosine_similarity",
                    .is_op = false,
                    .samples = {{.what = "along the second dimension",
                                 .arguments = {arg({n(), 4, 2}), arg({n(), 4, 2})},
                                 .call = [](const Inputs& in) {
                                     return std::vector{cosine_similarity(in[0], in[1])};
                                 }}}});

    OpInfo classes =
        loss("cross_entropy_options", {arg({n(), 6}, -3, 3), whole({n()}, 0, 5), fixed(arg({6}, 0.5, 2))},
             [](const Inputs& in, Reduction r) {
                 const ClassLossOptions o{
                     .weight = in[2], .ignore_index = 2, .reduction = r, .label_smoothing = 0.1};
                 return cross_entropy(in[0], in[1], {.ignore_index = 7, .reduction = r}) +
                        cross_entropy(in[0], in[1], o) * 0.5 +
                        nll_loss(in[0], in[1], {.weight = in[2], .reduction = r});
             },
             {{"weights of other classes",
               [] {
                   cross_entropy(ones({2, 3}), zeros({2}, {.dtype = i32}), {.weight = ones({2})});
               },
               ErrorKind::shape, "(3) classes"},
              {"smoothing above 1",
               [] {
                   cross_entropy(ones({2, 3}), zeros({2}, {.dtype = i32}), {.label_smoothing = 2});
               },
               ErrorKind::argument, "(2)"},
              {"smoothing of another loss",
               [] {
                   nll_loss(ones({2, 3}), zeros({2}, {.dtype = i32}), {.label_smoothing = 0.1});
               },
               ErrorKind::argument, "cross_entropy"}});
    for (Sample& s : classes.samples)
        if (s.what == "mean") s.sizes = {40}; // some target counts
    classes.samples.push_back(
        {.what = "pixels, some ignored",
         .arguments = {arg({n(), 4, 2, 3}, -3, 3), whole({n(), 2, 3}, 0, 3)},
         .call =
             [](const Inputs& in) {
                 return std::vector{cross_entropy(in[0], in[1], {.ignore_index = 1, .label_smoothing = 0.2})};
             },
         .sizes = {4}});
    rows.push_back(classes);
    rows.push_back(loss("cross_entropy_probabilities",
                        {arg({n(), 4, 2}, -3, 3), arg({n(), 4, 2}, 0, 1), fixed(arg({4}, 0.5, 2))},
                        [](const Inputs& in, Reduction r) {
                            return cross_entropy(in[0], in[1],
                                                 {.weight = in[2], .reduction = r, .label_smoothing = 0.1});
                        },
                        {{"probabilities of other classes",
                          [] {
                              cross_entropy(ones({2, 3}), ones({2, 4}));
                          },
                          ErrorKind::shape, "[2, 4]"}}));
}

} // namespace reprise::test
