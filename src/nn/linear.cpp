#include <reprise/nn/functional.hpp>
#include <reprise/nn/linear.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/program.hpp>

#include "nn/checks.hpp"
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

void Linear::quantize(QuantizedFormat format)
{
    quantize(weight.defined() ? reprise::quantize(weight, format) : QuantizedTensor());
}

void Linear::quantize(const QuantizedTensor& q)
{
    if (is_recording())
        detail::fail(ErrorKind::state, "quantize",
                     "A layer can't be quantised while a program is recorded: do it before.");
    if (!weight.defined())
        detail::fail(ErrorKind::state, "quantize", "The layer has no weight to quantise",
                     quantized_weight.defined()
                         ? std::string(": it is ") + name_of(quantized_weight.format()) + " already."
                         : ".");
    if (to_string(q.shape()) != to_string(weight.shape()))
        detail::fail(ErrorKind::shape, "quantize", "The matrix's shape (", to_string(q.shape()),
                     ") is not that of the weight (", to_string(weight.shape()), ").");
    const QuantizedTensor here = q.to(weight.device());
    here.bytes().eval(); // so that the weight's memory can be freed
    quantized_weight = {replace_parameter("weight", name_of(q.format()), here.bytes()), q.format()};
    weight = Variable();
}

std::vector<std::string> quantize(Module& module, const QuantizeSettings& settings)
{
    std::vector<std::string> names;
    std::vector<Linear*> layers;
    for (const auto& [name, each] : module.named_modules()) {
        auto* const layer = each.as<Linear>();
        if (!layer || !layer->weight.defined() || (settings.filter && !settings.filter(name))) continue;
        if (!layer->weight.size(1).divisible_by(block_size(settings.format)))
            detail::fail(ErrorKind::shape, "quantize", "The layer (", name, ") has (", layer->weight.size(1),
                         ") inputs, no multiple of (", block_size(settings.format), ") for ",
                         name_of(settings.format), ": leave it out with a filter.");
        names.push_back(name);
        layers.push_back(layer);
    }
    for (Linear* const layer : layers) layer->quantize(settings.format);
    return names;
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
