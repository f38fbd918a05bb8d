// Normalisation layers: modules of the functions in ops/normalization.hpp.
//
// Each computes (x - mean) / sqrt(variance + eps) weight + bias; the classes differ in the elements of which
// mean and (biased) variance are taken.  x is floating, and the result has x's shape and dtype.  Calls throw
// Error(shape) and Error(dtype) where x does not fit.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/nn/module.hpp>

namespace reprise::nn {

// The base class of BatchNorm and InstanceNorm: their parameters and buffers, each of them undefined where
// the options turn it off.
class ChannelNorm : public Module {
public:
    using Module::Module;
    std::string extra_repr() const override;
    Variable weight,              // [C], ones at first
        bias;                     // [C], zeros at first
    Variable running_mean,        // [C], a buffer, zeros at first
        running_var;              // [C], a buffer, ones at first
    Variable num_batches_tracked; // i32 without dimensions: batches that BatchNorm has seen in training

protected:
    // name: the class name, for errors.  Throws Error(argument) for channels below 1 and an eps that is not
    // above 0.
    ChannelNorm(const char* name, std::int64_t channels, double eps, bool affine, bool track_running_stats);
    virtual std::optional<double> momentum() const = 0; // for printing
    const char* name_ = nullptr;                        // the class's, for errors
    double eps_ = 0;                                    // added to the variance
};

// Options of BatchNorm.
struct BatchNormSettings {
    double eps = 1e-5; // added to the variance
    // In training, running statistics become (1 - momentum) running + momentum batch; nullopt: the average of
    // all batches.
    std::optional<double> momentum = 0.1;
    bool affine = true;              // a weight (ones at first) and a bias (zeros at first) to train
    bool track_running_stats = true; // false: no running statistics; those of the batch in evaluation too
};
// Batch normalisation (Ioffe and Szegedy, 2015) of each channel of x [N, C, ...]: in training by mean and
// variance of the batch, from which the running statistics are updated (with the unbiased variance); in
// evaluation by the running ones.  In training a batch with only one value per channel throws Error(shape).
class BatchNorm : public ChannelNorm {
public:
    using Options = BatchNormSettings; // for make()
    using ChannelNorm::ChannelNorm;
    Tensor forward(Tensor x) override;
    // Statistics of each channel of the batches of all ranks.
    struct Statistics {
        Tensor mean;     // [C]
        Tensor variance; // biased, [C]
        Tensor count;    // the number of values of a channel, [1]
    };
    // For SyncBatchNorm (distributed/sync_batch_norm.hpp): in training these statistics of x, which is f32 or f64,
    // replace those of the batch.  Null: those of this batch.
    void synchronize(std::function<Statistics(const Tensor& x)> statistics)
    {
        statistics_ = std::move(statistics);
    }

protected:
    // For inputs with these numbers of dimensions.  Throws Error(argument) for options out of range.
    BatchNorm(const char* name, std::int64_t channels, const BatchNormSettings&,
              std::vector<std::int64_t> ranks);

private:
    Tensor trained(const Tensor& x);
    Tensor trained_together(const Tensor& x);
    std::optional<double> momentum() const override { return momentum_; }
    std::vector<std::int64_t> ranks_;
    std::optional<double> momentum_;
    std::function<Statistics(const Tensor&)> statistics_{};
};
// BatchNorm of x [N, C] or [N, C, L].
class BatchNorm1d : public BatchNorm {
public:
    REPRISE_LAYER(BatchNorm1d)
    using BatchNorm::BatchNorm;
    // Throws Error(argument) for num_features below 1 and options out of range.
    explicit BatchNorm1d(std::int64_t num_features, const BatchNormSettings& options = {})
        : BatchNorm("BatchNorm1d", num_features, options, {2, 3})
    {}
};
// BatchNorm of x [N, C, H, W].
class BatchNorm2d : public BatchNorm {
public:
    REPRISE_LAYER(BatchNorm2d)
    using BatchNorm::BatchNorm;
    // Throws Error(argument) for num_features below 1 and options out of range.
    explicit BatchNorm2d(std::int64_t num_features, const BatchNormSettings& options = {})
        : BatchNorm("BatchNorm2d", num_features, options, {4})
    {}
};
// BatchNorm of x [N, C, D, H, W].
class BatchNorm3d : public BatchNorm {
public:
    REPRISE_LAYER(BatchNorm3d)
    using BatchNorm::BatchNorm;
    // Throws Error(argument) for num_features below 1 and options out of range.
    explicit BatchNorm3d(std::int64_t num_features, const BatchNormSettings& options = {})
        : BatchNorm("BatchNorm3d", num_features, options, {5})
    {}
};

// Options of InstanceNorm.
struct InstanceNormSettings {
    double eps = 1e-5;     // added to the variance
    double momentum = 0.1; // running statistics become (1 - momentum) running + momentum batch in training
    bool affine = false;   // a weight (ones at first) and a bias (zeros at first) to train
    bool track_running_stats = false; // keeps running statistics in training and uses them in evaluation
};
// Instance normalisation (Ulyanov et al., 2016) of x [N, C, ...], or [C, ...] without a batch: each channel
// of each image by its own mean and variance.  Throws Error(shape) where a channel of an image has only one
// value.
class InstanceNorm : public ChannelNorm {
public:
    using Options = InstanceNormSettings; // for make()
    using ChannelNorm::ChannelNorm;
    Tensor forward(Tensor x) override;

protected:
    // For inputs with `rank` dimensions, or one less.  Throws Error(argument) for options out of range.
    InstanceNorm(const char* name, std::int64_t channels, const InstanceNormSettings&, std::int64_t rank);

private:
    std::optional<double> momentum() const override { return momentum_; }
    std::int64_t rank_ = 0;
    double momentum_ = 0;
};
// InstanceNorm of x [N, C, L] or [C, L].
class InstanceNorm1d : public InstanceNorm {
public:
    REPRISE_LAYER(InstanceNorm1d)
    using InstanceNorm::InstanceNorm;
    // Throws Error(argument) for num_features below 1 and options out of range.
    explicit InstanceNorm1d(std::int64_t num_features, const InstanceNormSettings& options = {})
        : InstanceNorm("InstanceNorm1d", num_features, options, 3)
    {}
};
// InstanceNorm of x [N, C, H, W] or [C, H, W].
class InstanceNorm2d : public InstanceNorm {
public:
    REPRISE_LAYER(InstanceNorm2d)
    using InstanceNorm::InstanceNorm;
    // Throws Error(argument) for num_features below 1 and options out of range.
    explicit InstanceNorm2d(std::int64_t num_features, const InstanceNormSettings& options = {})
        : InstanceNorm("InstanceNorm2d", num_features, options, 4)
    {}
};
// InstanceNorm of x [N, C, D, H, W] or [C, D, H, W].
class InstanceNorm3d : public InstanceNorm {
public:
    REPRISE_LAYER(InstanceNorm3d)
    using InstanceNorm::InstanceNorm;
    // Throws Error(argument) for num_features below 1 and options out of range.
    explicit InstanceNorm3d(std::int64_t num_features, const InstanceNormSettings& options = {})
        : InstanceNorm("InstanceNorm3d", num_features, options, 5)
    {}
};

// Options of GroupNorm.
struct GroupNormSettings {
    double eps = 1e-5;  // added to the variance
    bool affine = true; // a weight (ones at first) and a bias (zeros at first) to train
};
// Group normalisation (Wu and He, 2018) of x [N, C, ...]: the channels of each image form num_groups groups
// of neighbours, each of them normalised by its own mean and variance.
class GroupNorm : public Module {
public:
    REPRISE_LAYER(GroupNorm)
    using Options = GroupNormSettings; // for make()
    using Module::Module;
    // Throws Error(argument) where num_channels is not a multiple of num_groups, one is below 1, or eps is
    // below 0.
    GroupNorm(std::int64_t num_groups, std::int64_t num_channels, const GroupNormSettings& = {});
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;
    Variable weight, // [C]; undefined where not affine
        bias;        // [C]; undefined where not affine

private:
    std::int64_t num_groups_ = 0;
    double eps_ = 0;
};

// Options of LayerNorm.
struct LayerNormSettings {
    double eps = 1e-5;              // added to the variance
    bool elementwise_affine = true; // a weight (ones at first) and a bias (zeros at first) to train
    bool bias = true;               // false: the weight alone
};
// Layer normalisation (Ba et al., 2016): by mean and variance over the last dimensions, of the sizes
// normalized_shape.
class LayerNorm : public Module {
public:
    REPRISE_LAYER(LayerNorm)
    using Options = LayerNormSettings; // for make()
    using Module::Module;
    // Throws Error(argument) for no sizes, a size below 1 and an eps below 0.
    explicit LayerNorm(std::vector<std::int64_t> normalized_shape, const LayerNormSettings& = {});
    // Over the last dimension, of this size.
    explicit LayerNorm(std::int64_t normalized_shape, const LayerNormSettings& options = {})
        : LayerNorm(std::vector<std::int64_t>{normalized_shape}, options)
    {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;
    Variable weight, // of the shape normalized_shape; undefined where not elementwise_affine
        bias;        // of the shape normalized_shape; undefined without a bias

private:
    Shape normalized_shape_;
    double eps_ = 0;
};

// Options of RMSNorm.
struct RMSNormOptions {
    // Added to the mean square; nullopt: the machine epsilon of x's dtype.
    std::optional<double> eps = std::nullopt;
    bool elementwise_affine = true; // a weight (ones at first) to train
};
// Root mean square normalisation (Zhang and Sennrich, 2019): x / sqrt(mean(x^2) + eps) weight, with the mean
// over the last dimensions, of the sizes normalized_shape.
class RMSNorm : public Module {
public:
    REPRISE_LAYER(RMSNorm)
    using Options = RMSNormOptions; // for make()
    using Module::Module;
    // Throws Error(argument) for no sizes, a size below 1 and an eps below 0.
    explicit RMSNorm(std::vector<std::int64_t> normalized_shape, const RMSNormOptions& = {});
    // Over the last dimension, of this size.
    explicit RMSNorm(std::int64_t normalized_shape, const RMSNormOptions& options = {})
        : RMSNorm(std::vector<std::int64_t>{normalized_shape}, options)
    {}
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;
    Variable weight; // of the shape normalized_shape; undefined where not elementwise_affine

private:
    Shape normalized_shape_;
    std::optional<double> eps_;
};

// Options of LocalResponseNorm.
struct LocalResponseNormSettings {
    std::int64_t size = 5; // number of neighbouring channels, at least 1
    double alpha = 1e-4;   // factor of the mean square
    double beta = 0.75;    // the exponent
    double k = 1;          // added to the mean square
};
// x [N, C, ...] over (k + alpha mean(x^2))^beta, with the mean over `size` neighbouring channels
// (Krizhevsky et al., 2012).
class LocalResponseNorm : public Module {
public:
    REPRISE_LAYER(LocalResponseNorm)
    using Options = LocalResponseNormSettings; // for make()
    using Module::Module;
    // Throws Error(argument) for a size below 1.
    explicit LocalResponseNorm(std::int64_t size, double alpha = 1e-4, double beta = 0.75, double k = 1)
        : LocalResponseNorm(Options{size, alpha, beta, k})
    {}
    explicit LocalResponseNorm(const LocalResponseNormSettings&); // the same
    Tensor forward(Tensor x) override;
    std::string extra_repr() const override;

private:
    Options options_;
};

} // namespace reprise::nn
