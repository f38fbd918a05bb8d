#include "tasks.hpp"

#include <cmath>
#include <numbers>
#include <random>

namespace rp = reprise;

namespace desktop {

namespace {

constexpr std::size_t most_points = 2000;
constexpr std::int64_t frequencies = 24;
// Radians of the features over a distance of 1, as a standard deviation: more makes sharper edges, and more noise.
constexpr float spread = 9;

float centre(std::int64_t pixel, std::int64_t size)
{
    return 2 * (static_cast<float>(pixel) + 0.5F) / static_cast<float>(size) - 1;
}

std::vector<float> pixel_centres(const Task& task, std::int64_t first, std::int64_t rows)
{
    std::vector<float> out;
    for (std::int64_t j = first; j < first + rows; ++j)
        for (std::int64_t i = 0; i < task.columns(); ++i) {
            out.push_back(centre(i, task.columns()));
            out.push_back(centre(j, task.rows()));
        }
    return out;
}

// A colour as a row that can be blended with others.
rp::Tensor colour(float red, float green, float blue) { return rp::from_vector({red, green, blue}, {1, 3}); }

} // namespace

rp::Tensor positions(const Task& task, std::int64_t first, std::int64_t rows, const rp::Device& device)
{
    return rp::from_vector(pixel_centres(task, first, rows), {rows, task.columns(), 2}, {.device = device});
}

// ---- points ----

Points::Points()
{
    constexpr int each = 150;
    std::mt19937 random(1);
    std::normal_distribution<float> noise(0, 0.012F);
    for (int i = 0; i < 2 * each; ++i) {
        const float t = static_cast<float>(i / 2 + 1) / each; // from the centre to the end
        const float angle = 3.4F * std::numbers::pi_v<float> * t + (i % 2 ? std::numbers::pi_v<float> : 0);
        points_.push_back(
            {0.9F * t * std::cos(angle) + noise(random), 0.9F * t * std::sin(angle) + noise(random), i % 2});
    }
}

void Points::add(const Point& point)
{
    if (points_.size() < most_points) points_.push_back(point);
}

Examples Points::examples(const rp::Device& device) const
{
    std::vector<float> at;
    std::vector<std::int32_t> labels;
    for (const Point& p : points_) {
        at.insert(at.end(), {p.x, p.y});
        labels.push_back(p.label);
    }
    const auto n = static_cast<std::int64_t>(labels.size());
    return {rp::from_vector(at, {n, 2}, {.device = device}),
            rp::from_vector(labels, {n}, {.device = device})};
}

rp::Tensor Points::loss(const rp::Tensor& outputs, const rp::Tensor& targets) const
{
    return rp::cross_entropy(outputs, targets);
}

// Blue for class 0, orange for class 1, and a pale line where both are as probable.
rp::Tensor Points::colours(const rp::Tensor& outputs) const
{
    const rp::Tensor difference = rp::narrow(outputs, 1, 1, 1) - rp::narrow(outputs, 1, 0, 1);
    const rp::Tensor p = rp::sigmoid(difference);
    const rp::Tensor line = rp::exp(difference * difference * -3) * 0.75;
    const rp::Tensor ground = colour(0.16F, 0.36F, 0.72F) * (1 - p) + colour(0.88F, 0.48F, 0.14F) * p;
    return ground * (1 - line) + colour(0.98F, 0.97F, 0.92F) * line;
}

// ---- pictures ----

ImageTask::ImageTask(Picture picture) : picture_(std::move(picture)) {}

Examples ImageTask::examples(const rp::Device& device) const
{
    const std::int64_t n = picture_.width * picture_.height;
    return {rp::from_vector(pixel_centres(*this, 0, picture_.height), {n, 2}, {.device = device}),
            rp::from_vector(picture_.rgb, {n, 3}, {.device = device})};
}

std::int64_t ImageTask::features() const { return 2 * frequencies + 2; }

// Fourier features (Tancik et al., 2020): sines and cosines of the position in random directions.
rp::Tensor ImageTask::features(const rp::Tensor& positions) const
{
    std::mt19937 random(1);
    std::normal_distribution<float> normal(0, spread);
    std::vector<float> directions;
    for (std::int64_t i = 0; i < 2 * frequencies; ++i) directions.push_back(normal(random));
    const rp::Tensor angles = rp::matmul(positions, rp::from_vector(directions, {2, frequencies}));
    return rp::cat({positions, rp::sin(angles), rp::cos(angles)}, 1);
}

rp::Tensor ImageTask::loss(const rp::Tensor& outputs, const rp::Tensor& targets) const
{
    return rp::mse_loss(rp::sigmoid(outputs), targets);
}

} // namespace desktop
