// What can be learnt: a function of a position in the plane, from -1 to 1 along both axes.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include <reprise/reprise.hpp>

#include "picture.hpp"

namespace desktop {

// Examples on a device: positions f32 [n, 2] and what the function is there.
struct Examples {
    reprise::Tensor positions, targets;
};

class Task {
public:
    virtual ~Task() = default;
    virtual const char* name() const = 0;
    virtual const char* loss_name() const = 0;
    // Pixels of the picture that is shown.
    virtual std::int64_t columns() const = 0;
    virtual std::int64_t rows() const = 0;

    virtual Examples examples(const reprise::Device&) const = 0;
    virtual reprise::Spec target_spec(const reprise::Dim& n) const = 0;
    // The network's input for positions [n, 2], and the numbers of a row of it.
    virtual reprise::Tensor features(const reprise::Tensor& positions) const = 0;
    virtual std::int64_t features() const = 0;
    virtual std::int64_t outputs() const = 0; // of the network
    virtual reprise::Tensor activation(const reprise::Tensor&) const = 0;
    virtual reprise::Tensor loss(const reprise::Tensor& outputs, const reprise::Tensor& targets) const = 0;
    // Colours [n, 3] from 0 to 1.
    virtual reprise::Tensor colours(const reprise::Tensor& outputs) const = 0;
};

// Points of two classes: the function is the class.
class Points : public Task {
public:
    struct Point {
        float x, y;
        std::int32_t label; // 0 or 1
    };
    Points(); // two spirals
    const std::vector<Point>& points() const { return points_; }
    // Adds a point, or does nothing where there are as many as can be shown.
    void add(const Point&);
    void clear() { points_.clear(); }

    const char* name() const override { return "points"; }
    const char* loss_name() const override { return "cross entropy"; }
    std::int64_t columns() const override { return 96; }
    std::int64_t rows() const override { return 96; }
    Examples examples(const reprise::Device&) const override;
    reprise::Spec target_spec(const reprise::Dim& n) const override
    {
        return reprise::spec({n}, reprise::i32);
    }
    reprise::Tensor features(const reprise::Tensor& positions) const override { return positions * 2; }
    std::int64_t features() const override { return 2; }
    std::int64_t outputs() const override { return 2; }
    reprise::Tensor activation(const reprise::Tensor& x) const override { return reprise::tanh(x); }
    reprise::Tensor loss(const reprise::Tensor& outputs, const reprise::Tensor& targets) const override;
    reprise::Tensor colours(const reprise::Tensor& outputs) const override;

private:
    std::vector<Point> points_;
};

// An image: the function is the colour.
class ImageTask : public Task {
public:
    explicit ImageTask(Picture);
    const Picture& picture() const { return picture_; }

    const char* name() const override { return "picture"; }
    const char* loss_name() const override { return "mean squared error"; }
    std::int64_t columns() const override { return picture_.width; }
    std::int64_t rows() const override { return picture_.height; }
    Examples examples(const reprise::Device&) const override;
    reprise::Spec target_spec(const reprise::Dim& n) const override { return reprise::spec({n, 3}); }
    reprise::Tensor features(const reprise::Tensor& positions) const override;
    std::int64_t features() const override;
    std::int64_t outputs() const override { return 3; }
    reprise::Tensor activation(const reprise::Tensor& x) const override { return reprise::relu(x); }
    reprise::Tensor loss(const reprise::Tensor& outputs, const reprise::Tensor& targets) const override;
    reprise::Tensor colours(const reprise::Tensor& outputs) const override
    {
        return reprise::sigmoid(outputs);
    }

private:
    Picture picture_;
};

// The positions of the pixels of rows first to first + rows - 1: [rows, columns, 2].
reprise::Tensor positions(const Task&, std::int64_t first, std::int64_t rows, const reprise::Device&);

} // namespace desktop
