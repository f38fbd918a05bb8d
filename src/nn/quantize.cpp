#include <functional>
#include <map>

#include <reprise/nn/attention.hpp>
#include <reprise/nn/embedding.hpp>
#include <reprise/nn/linear.hpp>
#include <reprise/nn/quantize.hpp>

#include "nn/checks.hpp"
#include "nn/quantized_weight.hpp"

namespace reprise::nn {

using detail::fail;

namespace {

// A layer that quantize() chose.
struct Chosen {
    std::string name;
    Variable weight;
    std::function<void(const QuantizedTensor&)> replace;
};

// Appends the module if it is a Layer with a weight.
template <class Layer>
void append(std::vector<Chosen>& chosen, const std::string& name, Module& module, Variable Layer::*weight)
{
    auto* const layer = module.as<Layer>();
    if (layer && (layer->*weight).defined())
        chosen.push_back(
            {name, layer->*weight, [layer](const QuantizedTensor& q) { layer->quantize(q, true); }});
}

} // namespace

QuantizedTensor rounded(const Variable& weight, QuantizedFormat format)
{
    return weight.defined() ? reprise::quantize(weight, format) : QuantizedTensor();
}

QuantizedTensor replacement(const Variable& weight, const QuantizedTensor& quantised_already,
                            const QuantizedTensor& q, bool shared)
{
    check_not_recording("quantize", "A layer can't be quantised");
    if (!weight.defined())
        fail(ErrorKind::state, "quantize", "The layer has no weight to quantise",
             quantised_already.defined()
                 ? std::string(": it is ") + name_of(quantised_already.format()) + " already."
                 : ".");
    if (to_string(q.shape()) != to_string(weight.shape()))
        fail(ErrorKind::shape, "quantize", "The matrix's shape (", to_string(q.shape()),
             ") is not that of the weight (", to_string(weight.shape()), ").");
    QuantizedTensor here = q.to(weight.device());
    here.bytes().eval();
    return shared ? here : QuantizedTensor(Variable(here.bytes(), false), here.format());
}

std::vector<std::string> quantize(Module& module, const QuantizeSettings& settings)
{
    check_not_recording("quantize", "A layer can't be quantised");
    std::vector<Chosen> chosen;
    for (const auto& [name, each] : module.named_modules()) {
        if (settings.filter && !settings.filter(name)) continue;
        append(chosen, name, *each, &Linear::weight);
        append(chosen, name, *each, &MultiheadAttention::in_proj_weight);
        if (settings.embeddings) append(chosen, name, *each, &Embedding::weight);
    }
    for (const Chosen& layer : chosen)
        if (!layer.weight.size(1).divisible_by(block_size(settings.format)))
            fail(ErrorKind::shape, "quantize", "The weight of (", layer.name, ") has rows of (",
                 layer.weight.size(1), ") elements, no multiple of (", block_size(settings.format), ") for ",
                 name_of(settings.format), ": leave it out with a filter.");
    std::vector<std::string> names;
    std::map<const void*, QuantizedTensor> matrices; // by weight, which several layers may have
    for (const Chosen& layer : chosen) {
        QuantizedTensor& q = matrices[layer.weight.cell().get()];
        if (!q.defined()) q = rounded(layer.weight, settings.format);
        layer.replace(q);
        names.push_back(layer.name);
    }
    return names;
}

} // namespace reprise::nn
