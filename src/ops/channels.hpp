// What the norms by channel share: checks of their parameters, and launches over x [N, C, image].
#pragma once
#include <cstdint>

#include "ops/launch_where.hpp"
#include "ops/record.hpp"

namespace reprise::ops {

// -- checks --
void check_channels(const char* op, const char* name, const Shape&, const Dim& channels); // [channels]
const Dim& channels_of(const char* op, const graph::TensorType& x);                       // of [N, C, ...]
// There is more than one value to make statistics of.
void require_several(const char* op, const char* part, const Dim& count, const Shape& x);

Dims all_but_channels(const Shape& x); // the dimensions beside 1
// One number a channel, as it broadcasts against x.
Tensor by_channel(const Tensor&, const Shape& x);

// Moves running statistics towards those that were found of so many values of a channel; of none they stay.
void update_running(Tensor& mean, Tensor& variance, const Tensor& found_mean, const Tensor& found_variance,
                    double momentum, const Dim& count);

// -- launches --
struct ChannelProblem {
    Dim images, channels, image;             // of an image: elements
    explicit ChannelProblem(const Shape& x); // [N, C, ...]
    ChannelProblem(Dim n, Dim c, Dim elements)
        : images(std::move(n)), channels(std::move(c)), image(std::move(elements))
    {}
    Dim count() const { return images * image; } // of a channel
    Dim partials() const;
    Dim in_texels() const { return is_multiple(image, 4); }
};

// The first level: partials [P][C] of vec4.
View launch_sums(Lowering&, const ChannelProblem&, const View& x);
// `sharing` channels have one mean.
View launch_vjp_sums(Lowering&, const ChannelProblem&, const View& dy, const View& x, const View& mean,
                     const Dim& sharing);
// The second level: an invocation a channel.
void launch_finish(Lowering&, LaunchSpec, const ChannelProblem&);
// Every element, by what its channel has.
void launch_elements(Lowering&, const ChannelProblem&, const View& x, const View& affine, const View& y);
void launch_vjp_elements(Lowering&, const ChannelProblem&, const View& dy, const View& x,
                         const View& coefficients, const View& dx);

// An input of one number a channel: in memory, or a number that the host knows.
struct ChannelOperand {
    records::Input memory;
    records::Float number;
    std::uint32_t in_memory; // 1, or 0
};
ChannelOperand channel_operand(Lowering&, std::size_t input);

} // namespace reprise::ops
