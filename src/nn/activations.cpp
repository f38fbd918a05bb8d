#include <reprise/nn/activations.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/losses.hpp>

#include "nn/checks.hpp"

namespace reprise::nn {

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
Tensor LeakyReLU::forward(Tensor x) { return leaky_relu(x, negative_slope_); }
Tensor ELU::forward(Tensor x) { return elu(x, alpha_); }
Tensor CELU::forward(Tensor x) { return celu(x, alpha_); }
Tensor Softplus::forward(Tensor x) { return softplus(x, beta_, threshold_); }
Tensor GLU::forward(Tensor x) { return glu(x, dim_); }
Tensor Softmax::forward(Tensor x) { return softmax(x, dim_); }
Tensor LogSoftmax::forward(Tensor x) { return log_softmax(x, dim_); }

PReLU::PReLU(std::int64_t num_parameters, double init)
{
    check_at_least("PReLU", "num_parameters", num_parameters, 1);
    weight = register_parameter("weight", Variable(full({num_parameters}, init)));
}
Tensor PReLU::forward(Tensor x) { return prelu(x, weight); }

Hardtanh::Hardtanh(double min_val, double max_val) : min_(min_val), max_(max_val)
{
    if (!(min_val < max_val))
        detail::fail(ErrorKind::argument, "Hardtanh", "The bounds (", min_val, " and ", max_val,
                     ") must ascend.");
}
Tensor Hardtanh::forward(Tensor x) { return hardtanh(x, min_, max_); }

} // namespace reprise::nn
