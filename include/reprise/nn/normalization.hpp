// Normalisations.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

// What norms of channels hold; none is there that the options leave out.
class ChannelNorm : public Module {
public:
    using Module::Module;
    std::string extra_repr() const override;
    Variable weight, bias;
    Variable running_mean, running_var;
    Variable num_batches_tracked; // i32, of no dimension

protected:
    ChannelNorm(const char* name, std::int64_t channels, double eps, bool affine, bool track_running_stats);
    virtual std::optional<double> momentum() const = 0;
    const char* name_ = nullptr;
    double eps_ = 0;
};

struct BatchNormOptions {
    double eps = 1e-5;
    std::optional<double> momentum = 0.1; // none: running statistics are averages of all batches
    bool affine = true;                   // a weight (ones) and a bias (zeros) to train
    bool track_running_stats = true;      // false: by the batch in evaluation too
};
// x [N, C, ...], each channel normalised: over the batch in training, by the running statistics in evaluation.
class BatchNorm : public ChannelNorm {
public:
    using Options = BatchNormOptions;
    using ChannelNorm::ChannelNorm;
    Tensor forward(Tensor x) override;

protected:
    // Takes inputs of these ranks.
    BatchNorm(const char* name, std::int64_t channels, const BatchNormOptions&,
              std::vector<std::int64_t> ranks);

private:
    Tensor trained(const Tensor& x);
    std::optional<double> momentum() const override { return momentum_; }
    std::vector<std::int64_t> ranks_;
    std::optional<double> momentum_;
};
using BatchNorm1dOptions = BatchNormOptions;
using BatchNorm2dOptions = BatchNormOptions;
using BatchNorm3dOptions = BatchNormOptions;
class BatchNorm1d : public BatchNorm { // x [N, C] or [N, C, L]
public:
    using BatchNorm::BatchNorm;
    explicit BatchNorm1d(std::int64_t channels, const BatchNormOptions& options = {})
        : BatchNorm("BatchNorm1d", channels, options, {2, 3})
    {}
};
class BatchNorm2d : public BatchNorm { // x [N, C, H, W]
public:
    using BatchNorm::BatchNorm;
    explicit BatchNorm2d(std::int64_t channels, const BatchNormOptions& options = {})
        : BatchNorm("BatchNorm2d", channels, options, {4})
    {}
};
class BatchNorm3d : public BatchNorm { // x [N, C, D, H, W]
public:
    using BatchNorm::BatchNorm;
    explicit BatchNorm3d(std::int64_t channels, const BatchNormOptions& options = {})
        : BatchNorm("BatchNorm3d", channels, options, {5})
    {}
};

struct InstanceNormOptions {
    double eps = 1e-5;
    double momentum = 0.1;
    bool affine = false;              // a weight (ones) and a bias (zeros) to train
    bool track_running_stats = false; // by the running statistics in evaluation
};
// x [N, C, ...] or [C, ...], each channel of each image normalised by itself.
class InstanceNorm : public ChannelNorm {
public:
    using Options = InstanceNormOptions;
    using ChannelNorm::ChannelNorm;
    Tensor forward(Tensor x) override;

protected:
    InstanceNorm(const char* name, std::int64_t channels, const InstanceNormOptions&, std::int64_t rank);

private:
    std::optional<double> momentum() const override { return momentum_; }
    std::int64_t rank_ = 0;
    double momentum_ = 0;
};
class InstanceNorm1d : public InstanceNorm { // x [N, C, L]
public:
    using InstanceNorm::InstanceNorm;
    explicit InstanceNorm1d(std::int64_t channels, const InstanceNormOptions& options = {})
        : InstanceNorm("InstanceNorm1d", channels, options, 3)
    {}
};
class InstanceNorm2d : public InstanceNorm { // x [N, C, H, W]
public:
    using InstanceNorm::InstanceNorm;
    explicit InstanceNorm2d(std::int64_t channels, const InstanceNormOptions& options = {})
        : InstanceNorm("InstanceNorm2d", channels, options, 4)
    {}
};
class InstanceNorm3d : public InstanceNorm { // x [N, C, D, H, W]
public:
    using InstanceNorm::InstanceNorm;
    explicit InstanceNorm3d(std::int64_t channels, const InstanceNormOptions& options = {})
        : InstanceNorm("InstanceNorm3d", channels, options, 5)
    {}
};

struct GroupNormOptions {
    double eps = 1e-5;
    bool affine = true; // a weight (ones) and a bias (zeros) of each channel to train
};
// x [N, C, ...], the channels in num_groups groups, each normalised by itself.
class GroupNorm : public Module {
public:
    using Options = GroupNormOptions;
    using Module::Module;
    GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const GroupNormOptions& = {});
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;
    Variable weight, bias; // undefined without them

private:
    std::int64_t num_groups_ = 0;
    double eps_ = 0;
};

struct LayerNormOptions {
    double eps = 1e-5;
    bool elementwise_affine = true; // a weight (ones) and a bias (zeros) to train
    bool bias = true;               // beside the weight
};
// Normalises over the last dimensions, whose sizes are normalized_shape.
class LayerNorm : public Module {
public:
    using Options = LayerNormOptions;
    using Module::Module;
    explicit LayerNorm(std::vector<std::int64_t> normalized_shape, const LayerNormOptions& = {});
    explicit LayerNorm(std::int64_t size, const LayerNormOptions& options = {})
        : LayerNorm(std::vector<std::int64_t>{size}, options)
    {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;
    Variable weight, bias; // undefined without them

private:
    Shape normalized_shape_;
    double eps_ = 0;
};

struct RMSNormOptions {
    std::optional<double> eps = std::nullopt; // the dtype's epsilon
    bool elementwise_affine = true;           // a weight (ones) to train
};
// Divides by the root of the mean square over the last dimensions, whose sizes are normalized_shape.
class RMSNorm : public Module {
public:
    using Options = RMSNormOptions;
    using Module::Module;
    explicit RMSNorm(std::vector<std::int64_t> normalized_shape, const RMSNormOptions& = {});
    explicit RMSNorm(std::int64_t size, const RMSNormOptions& options = {})
        : RMSNorm(std::vector<std::int64_t>{size}, options)
    {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;
    Variable weight; // undefined without it

private:
    Shape normalized_shape_;
    std::optional<double> eps_;
};

} // namespace reprise::nn
