// Losses of classes.
#include "onnx/call.hpp"

namespace reprise::onnx {

namespace {

// The loss of log probabilities [N, C, ...] for classes [N, ...]; classes that equal ignore_index count nothing.
Tensor negative_log_likelihood(const Call& call, const Tensor& log_p)
{
    const Tensor target = call[1].to(i64);
    Tensor weight = call.has(2) ? call[2] : Tensor();
    Tensor counted;
    if (call.has_attribute("ignore_index"))
        counted = ne(target, static_cast<double>(call.integer("ignore_index", 0)));
    const Tensor index = counted.defined() ? where(counted, target, zeros_like(target)) : target;
    Tensor loss = neg(squeeze(gather(log_p, 1, unsqueeze(index, 1)), 1));
    Tensor share = weight.defined()
                       ? reshape(index_select(weight, 0, reshape(index, Shape{-1})), index.shape())
                       : ones(index.shape(), {.dtype = log_p.dtype(), .device = call.device});
    if (counted.defined()) share = where(counted, share, zeros_like(share));
    loss = mul(loss, share);
    const std::string reduction = call.text("reduction", "mean");
    if (reduction == "none") return loss;
    if (reduction == "sum") return sum(loss);
    if (reduction != "mean") call.fail("The reduction (", reduction, ") is not known.");
    return div(sum(loss), sum(share));
}

Value nll(Call& call) { return negative_log_likelihood(call, call[0]); }

Values softmax_cross_entropy(Call& call)
{
    const Tensor log_p = log_softmax(call[0], 1);
    return {Value(negative_log_likelihood(call, log_p)), Value(log_p)};
}

const Operator rows[] = {
    {"NegativeLogLikelihoodLoss", nll},
    {"SoftmaxCrossEntropyLoss", softmax_cross_entropy},
};

} // namespace

Operators loss_operators() { return rows; }

} // namespace reprise::onnx
