#include <reprise/nn/activations.hpp>
#include <reprise/nn/functional.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/losses.hpp>

#include "nn/checks.hpp"
#include "nn/repr.hpp"

namespace reprise::nn {

std::string bases::AlphaActivation::extra_repr() const { return Repr().option("alpha", alpha_).text(); }
std::string bases::ShrinkActivation::extra_repr() const { return Repr().value(lambd_).text(); }
std::string bases::DimActivation::extra_repr() const { return Repr().option("dim", dim_).text(); }

Tensor Identity::forward(Tensor x) { return x; }
Tensor ReLU::forward(Tensor x) { return relu(x); }
Tensor ReLU6::forward(Tensor x) { return relu6(x); }
Tensor Sigmoid::forward(Tensor x) { return sigmoid(x); }
Tensor LogSigmoid::forward(Tensor x) { return logsigmoid(x); }
Tensor Tanh::forward(Tensor x) { return tanh(x); }
Tensor SELU::forward(Tensor x) { return selu(x); }
Tensor SiLU::forward(Tensor x) { return silu(x); }
Tensor Mish::forward(Tensor x) { return mish(x); }
Tensor Softsign::forward(Tensor x) { return softsign(x); }
Tensor Hardsigmoid::forward(Tensor x) { return hardsigmoid(x); }
Tensor Hardswish::forward(Tensor x) { return hardswish(x); }
Tensor GELU::forward(Tensor x) { return gelu(x, approximate_); }
std::string GELU::extra_repr() const
{
    return Repr().option("approximate", approximate_ == GeluApproximation::none ? "none" : "tanh").text();
}
Tensor LeakyReLU::forward(Tensor x) { return leaky_relu(x, negative_slope_); }
std::string LeakyReLU::extra_repr() const { return Repr().option("negative_slope", negative_slope_).text(); }
Tensor ELU::forward(Tensor x) { return elu(x, alpha_); }
Tensor CELU::forward(Tensor x) { return celu(x, alpha_); }
Tensor Softplus::forward(Tensor x) { return softplus(x, beta_, threshold_); }
std::string Softplus::extra_repr() const
{
    return Repr().option("beta", beta_).option("threshold", threshold_).text();
}
Tensor GLU::forward(Tensor x) { return glu(x, dim_); }
Tensor Softmax::forward(Tensor x) { return softmax(x, dim_); }
Tensor LogSoftmax::forward(Tensor x) { return log_softmax(x, dim_); }

PReLU::PReLU(std::int64_t num_parameters, double init)
{
    check_at_least("PReLU", "num_parameters", num_parameters, 1);
    weight = register_parameter("weight", Variable(full({num_parameters}, init)));
}
Tensor PReLU::forward(Tensor x) { return prelu(x, weight); }
std::string PReLU::extra_repr() const
{
    return Repr().option("num_parameters", weight.size(0).value()).text();
}

Hardtanh::Hardtanh(double min_val, double max_val) : min_(min_val), max_(max_val)
{
    if (!(min_val < max_val))
        detail::fail(ErrorKind::argument, "Hardtanh", "The bounds (", min_val, " and ", max_val,
                     ") must ascend.");
}
Tensor Hardtanh::forward(Tensor x) { return hardtanh(x, min_, max_); }
std::string Hardtanh::extra_repr() const
{
    return Repr().option("min_val", min_).option("max_val", max_).text();
}

Tensor Softmin::forward(Tensor x) { return functional::softmin(x, dim_); }
Tensor Tanhshrink::forward(Tensor x) { return functional::tanhshrink(x); }
Tensor Hardshrink::forward(Tensor x) { return functional::hardshrink(x, lambd_); }
Tensor Softshrink::forward(Tensor x) { return functional::softshrink(x, lambd_); }
Tensor Threshold::forward(Tensor x) { return functional::threshold(x, threshold_, value_); }
std::string Threshold::extra_repr() const
{
    return Repr().option("threshold", threshold_).option("value", value_).text();
}

} // namespace reprise::nn
