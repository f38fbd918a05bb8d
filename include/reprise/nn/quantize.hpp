// Freezing the weights of a model in few bits.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <reprise/nn/module.hpp>
#include <reprise/quantized.hpp>

namespace reprise::nn {

// Options of quantize().
struct QuantizeSettings {
    QuantizedFormat format = QuantizedFormat::q4_0; // how weights are stored
    // Whether to quantise a layer, by its name in the tree, such as "decoder.0.linear1"; null: all layers.
    std::function<bool(const std::string& name)> filter{};
    bool embeddings = false; // whether to quantise Embedding layers, too
};
// Calls quantize() of all Linear layers, of all MultiheadAttention layers with in_proj_weight, and where asked of all
// Embedding layers in a tree that are not quantised yet, and returns their names.  Layers that share a weight share its
// bytes.  Weights of other layers do not change.  Throws Error(shape), before anything has changed, for a layer whose
// weight has rows that are no multiple of block_size(), and Error(state) while a program is recorded.
std::vector<std::string> quantize(Module&, const QuantizeSettings& = {});

} // namespace reprise::nn
