// Linear layers.
#pragma once
#include <cstdint>
#include <string>

#include <reprise/nn/module.hpp>
#include <reprise/quantized.hpp>

namespace reprise::nn {

// Options of Linear and Bilinear.
struct LinearSettings {
    bool bias = true; // whether there is a bias
};
// x weight^T + bias: x [..., in] -> [..., out].  Throws Error(shape) where x's last size is not `in`, and
// Error(dtype) where x's dtype is not the weight's.
class Linear : public Module {
public:
    REPRISE_LAYER(Linear)
    using Options = LinearSettings; // for make()
    using Module::Module;
    // Weight and bias are initialised uniformly from -b to b, b = 1 / sqrt(in_features).  Throws
    // Error(argument) for a size below 1.
    Linear(std::int64_t in_features, std::int64_t out_features, const LinearSettings& = {});
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override; // the options for printing

    // Freezes the weight in few bits: it is no parameter any more, and its memory is freed.  A buffer of its bytes,
    // such as "weight.q4_0", takes its place in state_dict(); x then has the bias's dtype, or without one any
    // floating dtype.  Call it before optimizers and programs are created.  Throws Error(shape) where in_features is
    // no multiple of block_size(), and Error(state) where the layer is quantised already or a program is recorded.
    void quantize(QuantizedFormat);
    // The same with a given matrix [out, in], such as one of a GGUF file.  The layer has bytes of its own, unless they
    // are `shared`: as layers share a parameter, what is loaded into one of them or moves it then also changes the
    // others, such as a head with the quantized_weight of an embedding.  Throws Error(shape) where the matrix has
    // another shape.
    void quantize(const QuantizedTensor&, bool shared = false);

    Variable weight,                  // [out, in]; undefined once it is quantised
        bias;                         // [out]; undefined without a bias
    QuantizedTensor quantized_weight; // [out, in]; undefined unless quantize() was called
};

// x1 weight[k] x2 + bias[k] for each output k: x1 [..., in1] and x2 [..., in2] -> [..., out].  Throws
// Error(shape) and Error(dtype) where the inputs do not fit.
class Bilinear : public ModuleOf<Tensor(Tensor, Tensor)> {
public:
    REPRISE_LAYER(Bilinear)
    using Options = LinearSettings; // for make()
    using ModuleOf::ModuleOf;
    // Weight and bias are initialised uniformly from -b to b, b = 1 / sqrt(in1_features).  Throws
    // Error(argument) for a size below 1.
    Bilinear(std::int64_t in1_features, std::int64_t in2_features, std::int64_t out_features,
             const LinearSettings& = {});
    using ModuleOf::forward;
    Tensor forward(Tensor x1, Tensor x2) override; // functional::bilinear(x1, x2, weight, bias)
    std::string extra_repr() const override;       // the options for printing
    Variable weight,                               // [out, in1, in2]
        bias;                                      // [out]; undefined without a bias
};

} // namespace reprise::nn
