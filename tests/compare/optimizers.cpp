#include "compare/optimizers.hpp"

#include <reprise/ops.hpp>
#include <reprise/optim.hpp>

namespace reprise::test {
namespace {

// What is behind the sample's name is what the script gives to torch.optim.
template <class Optimizer, class Options> void add(OpInfo& row, const char* what, const Options& options)
{
    row.samples.push_back(
        {.what = what,
         .arguments = {{.sizes = {n()}, .low = -2, .high = 2}, {.sizes = {20, n()}, .low = -2, .high = 2}},
         .call =
             [options](const std::vector<Tensor>& in) {
                 Variable p(in[0].detach());
                 Optimizer optimizer({p}, options);
                 std::vector<Tensor> after;
                 for (std::int64_t t = 0; t < in[1].size(0).value(); ++t) {
                     p.set_grad(select(in[1], 0, t));
                     optimizer.step();
                     after.push_back(p.detach() * 1);
                     after.back().eval();
                 }
                 return std::vector{stack(after, 0)};
             },
         .sizes = {1, 7, 300},
         .differentiable = false});
}

} // namespace

std::vector<OpInfo> optimizer_rows()
{
    using namespace optim;
    OpInfo sgd{.name = "optim.SGD", .is_op = false, .differentiable = false};
    add<SGD>(sgd, "lr=0.05", SGD::Options{.lr = 0.05});
    add<SGD>(sgd, "lr=0.05, momentum=0.9", SGD::Options{.lr = 0.05, .momentum = 0.9});
    add<SGD>(sgd, "lr=0.05, momentum=0.9, dampening=0.3, weight_decay=0.01",
             SGD::Options{.lr = 0.05, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.01});
    add<SGD>(sgd, "lr=0.05, momentum=0.9, weight_decay=0.01, nesterov=True",
             SGD::Options{.lr = 0.05, .momentum = 0.9, .weight_decay = 0.01, .nesterov = true});
    add<SGD>(sgd, "lr=0.05, momentum=0.9, maximize=True",
             SGD::Options{.lr = 0.05, .momentum = 0.9, .maximize = true});
    OpInfo adam{.name = "optim.Adam", .is_op = false, .differentiable = false};
    add<Adam>(adam, "lr=0.01", Adam::Options{.lr = 0.01});
    add<Adam>(adam, "lr=0.01, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.1",
              Adam::Options{.lr = 0.01, .betas = {0.8, 0.95}, .eps = 1e-6, .weight_decay = 0.1});
    add<Adam>(adam, "lr=0.01, amsgrad=True", Adam::Options{.lr = 0.01, .amsgrad = true});
    add<Adam>(adam, "lr=0.01, weight_decay=0.1, amsgrad=True, maximize=True",
              Adam::Options{.lr = 0.01, .weight_decay = 0.1, .amsgrad = true, .maximize = true});
    OpInfo adamw{.name = "optim.AdamW", .is_op = false, .differentiable = false};
    add<AdamW>(adamw, "lr=0.01", AdamW::Options{.lr = 0.01});
    add<AdamW>(adamw, "lr=0.01, betas=(0.8, 0.95), weight_decay=0.1",
               AdamW::Options{.lr = 0.01, .betas = {0.8, 0.95}, .weight_decay = 0.1});
    add<AdamW>(adamw, "lr=0.01, amsgrad=True", AdamW::Options{.lr = 0.01, .amsgrad = true});
    OpInfo rmsprop{.name = "optim.RMSprop", .is_op = false, .differentiable = false};
    add<RMSprop>(rmsprop, "lr=0.01", RMSprop::Options{.lr = 0.01});
    add<RMSprop>(rmsprop, "lr=0.01, centered=True", RMSprop::Options{.lr = 0.01, .centered = true});
    add<RMSprop>(
        rmsprop, "lr=0.01, alpha=0.9, eps=1e-6, weight_decay=0.1, momentum=0.8",
        RMSprop::Options{.lr = 0.01, .alpha = 0.9, .eps = 1e-6, .weight_decay = 0.1, .momentum = 0.8});
    add<RMSprop>(rmsprop, "lr=0.01, momentum=0.9, centered=True, maximize=True",
                 RMSprop::Options{.lr = 0.01, .momentum = 0.9, .centered = true, .maximize = true});
    OpInfo adagrad{.name = "optim.Adagrad", .is_op = false, .differentiable = false};
    add<Adagrad>(adagrad, "lr=0.05", Adagrad::Options{.lr = 0.05});
    add<Adagrad>(
        adagrad, "lr=0.05, lr_decay=0.1, weight_decay=0.1, initial_accumulator_value=0.2, eps=1e-6",
        Adagrad::Options{
            .lr = 0.05, .lr_decay = 0.1, .weight_decay = 0.1, .initial_accumulator_value = 0.2, .eps = 1e-6});
    OpInfo lion{.name = "optim.Lion", .is_op = false, .differentiable = false};
    add<Lion>(lion, "lr=0.01", Lion::Options{.lr = 0.01});
    add<Lion>(lion, "lr=0.01, betas=(0.8, 0.95), weight_decay=0.1, maximize=True",
              Lion::Options{.lr = 0.01, .betas = {0.8, 0.95}, .weight_decay = 0.1, .maximize = true});
    return {sgd, adam, adamw, rmsprop, adagrad, lion};
}

} // namespace reprise::test
