// Initial values of parameters: PyTorch's functions of torch.nn.init, with their names, defaults and
// formulas.
//
// Each function assigns new values to the tensor, as Tensor::assign does, without recording gradients, and
// returns the tensor.  It may have any floating dtype, else Error(dtype), on any device.  Random values are
// computed in f32.  The functions throw Error(shape) for a wrong number of dimensions and Error(argument) for
// numbers out of range and unknown names.
#pragma once
#include <cstdint>
#include <string_view>

#include <reprise/tensor.hpp>

namespace reprise::nn::init {

Tensor uniform_(Tensor tensor, double a = 0, double b = 1);     // uniform from a to b, for a <= b
Tensor normal_(Tensor tensor, double mean = 0, double std = 1); // normal distribution, for std >= 0
// Draws from a normal distribution truncated to values from a to b, for std > 0 and a < b; the bounds are values, not
// multiples of std.  It is computed on the host, so it throws Error(state) while a program is recorded.
Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1, double a = -2, double b = 2);
Tensor constant_(Tensor tensor, double val); // the same value for all elements
Tensor zeros_(Tensor tensor);                // all elements 0
Tensor ones_(Tensor tensor);                 // all elements 1
Tensor eye_(Tensor tensor);                  // of two dimensions: 1 on the diagonal, else 0

// Sets the tensor [out, in / groups, ...] of three to five dimensions, a convolution's weight, so that the
// convolution preserves its inputs: 1 in the middle of the window of input i of each group for output i, else
// 0.  Throws Error(argument) where groups does not divide `out`.
Tensor dirac_(Tensor tensor, std::int64_t groups = 1);
// Draws from a normal distribution with mean 0 and this std, with the fraction `sparsity` of each column set to 0, at
// random positions; their number is rounded up.  The tensor is a matrix.  It is computed on the host, so it throws
// Error(state) while a program is recorded; Error(argument) unless the sparsity is from 0 to 1.
Tensor sparse_(Tensor tensor, double sparsity, double std = 0.01);

// Returns the recommended gain of a weight whose layer is followed by this nonlinearity: 1 for "linear",
// "conv1d" to "conv3d", "conv_transpose1d" to "conv_transpose3d" and "sigmoid", 5 / 3 for "tanh", sqrt(2) for
// "relu", 3 / 4 for "selu" and sqrt(2 / (1 + param^2)) for "leaky_relu", where `param` is the negative slope.
// Throws Error(argument) for other names.
double calculate_gain(std::string_view nonlinearity, double param = 0.01);

// Draws uniformly from -b to b, b = gain sqrt(6 / (fan_in + fan_out)) (Glorot and Bengio, 2010).  Here and
// below the tensor is [out, in, ...] with at least two dimensions: fan_in is `in` times the sizes that follow
// it, fan_out is `out` times the same sizes.
Tensor xavier_uniform_(Tensor tensor, double gain = 1);
// Draws from a normal distribution with mean 0 and std = gain sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio, 2010).
Tensor xavier_normal_(Tensor tensor, double gain = 1);
// Draws uniformly from -b to b, b = calculate_gain(nonlinearity, a) sqrt(3 / fan) (He et al., 2015); the
// mode, "fan_in" or "fan_out", selects the fan.
Tensor kaiming_uniform_(Tensor tensor, double a = 0, std::string_view mode = "fan_in",
                        std::string_view nonlinearity = "leaky_relu");
// Draws from a normal distribution with mean 0 and std = calculate_gain(nonlinearity, a) / sqrt(fan) (He et al., 2015).
Tensor kaiming_normal_(Tensor tensor, double a = 0, std::string_view mode = "fan_in",
                       std::string_view nonlinearity = "leaky_relu");
// Fills the tensor, as a matrix [size(0), product of the other sizes], with random orthonormal rows, or
// orthonormal columns where there are more rows than columns, times gain.  It is computed on the host, so it
// throws Error(state) while a program is recorded.
Tensor orthogonal_(Tensor tensor, double gain = 1);

} // namespace reprise::nn::init
