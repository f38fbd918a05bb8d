// Initial values of parameters: PyTorch's functions of torch.nn.init, with their names, defaults and formulas.
//
// Each gives the tensor another value, as Tensor::assign does, without gradients, and gives the tensor back.  It may be of
// any floating dtype on any device.  Error(shape) where the number of dimensions does not fit, Error(argument) for numbers
// out of range and unknown names.
#pragma once
#include <string_view>

#include <reprise/tensor.hpp>

namespace reprise::nn::init {

Tensor uniform_(Tensor tensor, double a = 0, double b = 1); // from a to b
Tensor normal_(Tensor tensor, double mean = 0, double std = 1);
// The normal distribution, drawn anew where a value is not from a to b.
Tensor trunc_normal_(Tensor tensor, double mean = 0, double std = 1, double a = -2, double b = 2);
Tensor constant_(Tensor tensor, double val);
Tensor zeros_(Tensor tensor);
Tensor ones_(Tensor tensor);
Tensor eye_(Tensor tensor); // a matrix: ones on its diagonal, else zeros

// What a weight [out, in, ...] is scaled by for the function behind it: "linear", "conv1d" to "conv3d",
// "conv_transpose1d" to "conv_transpose3d" and "sigmoid" 1, "tanh" 5 / 3, "relu" sqrt(2), "leaky_relu"
// sqrt(2 / (1 + param^2)), "selu" 3 / 4.
double calculate_gain(std::string_view nonlinearity, double param = 0.01);

// Of a tensor [out, in, ...] of two dimensions at least: fan_in = in times the sizes behind it, fan_out = out times these.
// Uniform from -b to b, b = gain sqrt(6 / (fan_in + fan_out)).
Tensor xavier_uniform_(Tensor tensor, double gain = 1);
// Normal, std = gain sqrt(2 / (fan_in + fan_out)).
Tensor xavier_normal_(Tensor tensor, double gain = 1);
// Uniform from -b to b, b = sqrt(3) calculate_gain(nonlinearity, a) / sqrt(fan), of the mode "fan_in" or "fan_out".
Tensor kaiming_uniform_(Tensor tensor, double a = 0, std::string_view mode = "fan_in",
                        std::string_view nonlinearity = "leaky_relu");
// Normal, std = calculate_gain(nonlinearity, a) / sqrt(fan).
Tensor kaiming_normal_(Tensor tensor, double a = 0, std::string_view mode = "fan_in",
                       std::string_view nonlinearity = "leaky_relu");
// As a matrix [size(0), all others]: orthonormal rows, or columns where there are more rows, times gain.  Computed on the
// host, so not while recording.
Tensor orthogonal_(Tensor tensor, double gain = 1);

} // namespace reprise::nn::init
