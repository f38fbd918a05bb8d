#include <reprise/nn/functional.hpp>
#include <reprise/nn/linear.hpp>
#include <reprise/ops/linear_algebra.hpp>

#include "nn/checks.hpp"
#include "nn/quantized_weight.hpp"
#include "nn/repr.hpp"
#include "nn/weights.hpp"

namespace reprise::nn {

Linear::Linear(std::int64_t in_features, std::int64_t out_features, const LinearSettings& options)
{
    check_at_least("Linear", "number of inputs", in_features, 1);
    check_at_least("Linear", "number of outputs", out_features, 1);
    weight = register_parameter("weight", uniform_by_fan_in({out_features, in_features}, in_features));
    if (options.bias) bias = register_parameter("bias", uniform_by_fan_in({out_features}, in_features));
}

std::string Linear::extra_repr() const
{
    if (!weight.defined() && !quantized_weight.defined()) return {};
    const Shape sizes = weight.defined() ? weight.shape() : quantized_weight.shape();
    Repr repr;
    repr.option("in_features", sizes[1].value())
        .option("out_features", sizes[0].value())
        .option("bias", bias.defined());
    if (quantized_weight.defined()) repr.option("format", name_of(quantized_weight.format()));
    return repr.text();
}

Tensor Linear::forward(Tensor x)
{
    return quantized_weight.defined() ? linear(x, quantized_weight, bias) : linear(x, weight, bias);
}

void Linear::quantize(QuantizedFormat format) { quantize(rounded(weight, format)); }

void Linear::quantize(const QuantizedTensor& q, bool shared)
{
    const QuantizedTensor here = replacement(weight, quantized_weight, q, shared);
    quantized_weight = {replace_parameter("weight", name_of(q.format()), here.bytes()), q.format()};
    weight = Variable();
}

Bilinear::Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
                   const LinearSettings& options)
{
    check_at_least("Bilinear", "number of first inputs", in1_features, 1);
    check_at_least("Bilinear", "number of second inputs", in2_features, 1);
    check_at_least("Bilinear", "number of outputs", out_features, 1);
    weight = register_parameter("weight",
                                uniform_by_fan_in({out_features, in1_features, in2_features}, in1_features));
    if (options.bias) bias = register_parameter("bias", uniform_by_fan_in({out_features}, in1_features));
}

std::string Bilinear::extra_repr() const
{
    if (!weight.defined()) return {};
    return Repr()
        .option("in1_features", weight.size(1).value())
        .option("in2_features", weight.size(2).value())
        .option("out_features", weight.size(0).value())
        .option("bias", bias.defined())
        .text();
}

Tensor Bilinear::forward(Tensor x1, Tensor x2) { return functional::bilinear(x1, x2, weight, bias); }

} // namespace reprise::nn
