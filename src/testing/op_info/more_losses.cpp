// Losses of pairs of tensors, and options of classification losses.
#include "testing/op_info/rows.hpp"

namespace reprise::test {
namespace {

using Loss = std::function<Tensor(const Inputs&, Reduction)>;

// Adds a loss with samples for each reduction.
void loss(Rows& rows, const char* name, const std::vector<Argument>& arguments, Loss f)
{
    rows.composed(name);
    for (const auto& [what, r] : reductions)
        rows.sample(what, arguments,
                    r == Reduction::mean ? std::vector<std::int64_t>{1, 5}
                                         : std::vector<std::int64_t>{0, 1, 5},
                    [f, r = r](const Inputs& in) { return f(in, r); });
}

void add_losses_of_pairs(Rows& rows)
{
    const std::vector<Argument> pair = {arg({n(), 3}, -2, 2), arg({n(), 3}, -2, 2)};
    loss(rows, "l1_loss", pair, [](const Inputs& in, Reduction r) { return l1_loss(in[0], in[1], r); });
    rows.mistake("two shapes", ErrorKind::shape, "[2, 3] and [3]", [] {
        l1_loss(ones({2, 3}), ones({3}), Reduction::mean);
    });

    loss(rows, "smooth_l1_loss", pair,
         [](const Inputs& in, Reduction r) { return smooth_l1_loss(in[0], in[1], r, 0.7); });
    rows.mistake("a negative bound", ErrorKind::argument, "beta",
                 [] { smooth_l1_loss(ones({2}), ones({2}), Reduction::mean, -1); });

    loss(rows, "huber_loss", pair,
         [](const Inputs& in, Reduction r) { return huber_loss(in[0], in[1], r, 0.7); });
    rows.mistake("no bound", ErrorKind::argument, "delta",
                 [] { huber_loss(ones({2}), ones({2}), Reduction::mean, 0); });

    loss(rows, "bce_loss", {arg({n(), 3}, 0.2, 0.8), arg({n(), 3}, 0, 1), arg({3}, 0.5, 2)},
         [](const Inputs& in, Reduction r) { return bce_loss(in[0], in[1], r, in[2]); });
    rows.mistake("two shapes", ErrorKind::shape, "[2] and [1]", [] { bce_loss(ones({2}), ones({1})); });

    loss(rows, "bce_with_logits_loss",
         {arg({n(), 3}, -3, 3), arg({n(), 3}, 0, 1), fixed(arg({3}, 0.5, 2)), arg({3}, 0.5, 2)},
         [](const Inputs& in, Reduction r) {
             return bce_with_logits_loss(in[0], in[1], r, in[2], in[3]) +
                    bce_with_logits_loss(in[0], in[1], r);
         });

    loss(rows, "kl_div", {arg({n(), 3}, -3, 0), arg({n(), 3}, 0.1, 1)}, [](const Inputs& in, Reduction r) {
        return kl_div(in[0], in[1], r) + kl_div(in[0], log(in[1]), r, true);
    });
    rows.sample("by the batch, targets of 0 too", {arg({n(), 3}, -3, 0), fixed(arg({n(), 3}, -1, 1))}, {1, 5},
                [](const Inputs& in) { return kl_div(in[0], clamp_min(in[1], 0), Reduction::batchmean); });
    rows.mistake("another loss's batchmean", ErrorKind::argument, "kl_div",
                 [] { mse_loss(ones({2}), ones({2}), Reduction::batchmean); });

    loss(rows, "cosine_embedding_loss", {arg({n(), 4}), arg({n(), 4}), whole({n()}, 0, 1)},
         [](const Inputs& in, Reduction r) {
             return cosine_embedding_loss(in[0], in[1], in[2] * 2 - 1, 0.1, r);
         });
    rows.mistake("a target of another rank", ErrorKind::shape, "without the last dimension", [] {
        cosine_embedding_loss(ones({2, 3}), ones({2, 3}), ones({2, 3}));
    });

    rows.composed("cosine_similarity");
    rows.sample("along the second dimension", {arg({n(), 4, 2}), arg({n(), 4, 2})},
                [](const Inputs& in) { return cosine_similarity(in[0], in[1]); });
}

void add_losses_of_classes(Rows& rows)
{
    loss(rows, "cross_entropy_options", {arg({n(), 6}, -3, 3), whole({n()}, 0, 5), fixed(arg({6}, 0.5, 2))},
         [](const Inputs& in, Reduction r) {
             const ClassLossOptions o{
                 .weight = in[2], .ignore_index = 2, .reduction = r, .label_smoothing = 0.1};
             return cross_entropy(in[0], in[1], {.ignore_index = 7, .reduction = r}) +
                    cross_entropy(in[0], in[1], o) * 0.5 +
                    nll_loss(in[0], in[1], {.weight = in[2], .reduction = r});
         });
    for (Sample& s : rows.last().samples)
        if (s.what == "mean") s.sizes = {40}; // large enough that some target is not ignored
    rows.sample("pixels, some ignored", {arg({n(), 4, 2, 3}, -3, 3), whole({n(), 2, 3}, 0, 3)}, {4},
                [](const Inputs& in) {
                    return cross_entropy(in[0], in[1], {.ignore_index = 1, .label_smoothing = 0.2});
                });
    rows.mistake("weights of other classes", ErrorKind::shape, "(3) classes", [] {
        cross_entropy(ones({2, 3}), zeros({2}, {.dtype = i32}), {.weight = ones({2})});
    });
    rows.mistake("smoothing above 1", ErrorKind::argument, "(2)", [] {
        cross_entropy(ones({2, 3}), zeros({2}, {.dtype = i32}), {.label_smoothing = 2});
    });
    rows.mistake("smoothing of another loss", ErrorKind::argument, "cross_entropy", [] {
        nll_loss(ones({2, 3}), zeros({2}, {.dtype = i32}), {.label_smoothing = 0.1});
    });

    loss(rows, "cross_entropy_probabilities",
         {arg({n(), 4, 2}, -3, 3), arg({n(), 4, 2}, 0, 1), fixed(arg({4}, 0.5, 2))},
         [](const Inputs& in, Reduction r) {
             return cross_entropy(in[0], in[1], {.weight = in[2], .reduction = r, .label_smoothing = 0.1});
         });
    rows.mistake("probabilities of other classes", ErrorKind::shape, "[2, 4]", [] {
        cross_entropy(ones({2, 3}), ones({2, 4}));
    });
}

} // namespace

void add_more_losses(Rows& rows)
{
    add_losses_of_pairs(rows);
    add_losses_of_classes(rows);
}

} // namespace reprise::test
