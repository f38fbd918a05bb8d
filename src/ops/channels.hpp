// Code shared by the normalizations per channel: checks of their parameters, and launches over x [N, C, image].
#pragma once
#include <cstdint>
#include <initializer_list>

#include "ops/launch_where.hpp"
#include "ops/record.hpp"

namespace reprise::ops {

// -- checks --
void check_channels(const char* op, const char* name, const Shape&, const Dim& channels); // [channels]
const Dim& channels_of(const char* op, const graph::TensorType& x);                       // C of [N, C, ...]
// Whether x of f16 or bf16 comes with parameters or running statistics in f32, as PyTorch allows.  Then all is computed
// in f32.
bool has_f32_parameters(const Tensor& x, std::initializer_list<const Tensor*> parameters);
// Requires that count is not 1: the variance of a single value is useless.
void require_several(const char* op, const char* part, const Dim& count, const Shape& x);

Dims all_but_channels(const Shape& x); // all dimensions except 1
// Reshapes a tensor [C] so that it broadcasts against x [N, C, ...].
Tensor by_channel(const Tensor&, const Shape& x);

// Updates running statistics by those of a batch with `count` values per channel. If count is 0, they stay unchanged.
void update_running(Tensor& mean, Tensor& variance, const Tensor& found_mean, const Tensor& found_variance,
                    double momentum, const Dim& count);

// -- launches --
struct ChannelProblem {
    Dim images, channels, image;             // image: elements per channel of one image
    explicit ChannelProblem(const Shape& x); // [N, C, ...]
    ChannelProblem(Dim n, Dim c, Dim elements)
        : images(std::move(n)), channels(std::move(c)), image(std::move(elements))
    {}
    Dim count() const { return images * image; } // values per channel
    Dim in_texels() const { return is_multiple(image, 4); }
};

// Launches the first level of the reduction and returns the partial sums [P][C][4], where P is the number of partials.
View launch_sums(Lowering&, const ChannelProblem&, const View& x);
// Each mean is shared by `sharing` consecutive channels.
View launch_vjp_sums(Lowering&, const ChannelProblem&, const View& dy, const View& x, const View& mean,
                     const Dim& sharing);
// Launches the second level with one invocation per channel.
void launch_finish(Lowering&, LaunchSpec, const ChannelProblem&);
// Computes each element of the result from x and the vec4 of its channel.
void launch_elements(Lowering&, const ChannelProblem&, const View& x, const View& affine, const View& y);
void launch_vjp_elements(Lowering&, const ChannelProblem&, const View& dy, const View& x,
                         const View& coefficients, const View& dx);

// An input with one number per channel: a tensor in memory, or a single number known to the host.
struct ChannelOperand {
    records::Input memory;
    records::Float number;
    std::uint32_t in_memory; // 1, or 0
};
ChannelOperand channel_operand(Lowering&, std::size_t input);

} // namespace reprise::ops
