// Transforms of examples for map(): each changes an example's data, an image [channels, height, width], and
// leaves its target unchanged.  Throws Error(argument) for data that is no image.  Any function of an example
// is a transform, too.
#pragma once
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <reprise/data/example.hpp>

namespace reprise::data::transforms {

// Converts u8 data of any sizes to f32, divided by 255; f32 data is not changed.  Throws Error(argument) for
// other dtypes.
struct ToFloat {
    // Converts an example.
    Example<> operator()(Example<>) const;
};

// The implementation of Normalize.
class NormalizeImages {
public:
    // One mean and std for each channel.  Throws Error(argument) for a std that is not above 0, numbers that
    // are not finite, and empty lists.
    NormalizeImages(std::vector<double> mean, std::vector<double> std);
    // Changes an example.  Throws Error(argument) where the data is not f32, or has another number of channels.
    Example<> operator()(Example<>) const;

private:
    std::vector<double> mean_, std_;
};
// Computes (x - mean) / std in f32, with one mean and std for all channels or one for each.  The template's
// argument is libtorch's type of targets, which is ignored.
template <class = Tensor> class Normalize : public NormalizeImages {
public:
    // One mean and std for all channels.  Errors as below.
    Normalize(double mean, double std) : NormalizeImages({mean}, {std}) {}
    // One mean and std for each channel.  Throws Error(argument) for a std that is not above 0, numbers that
    // are not finite, and empty lists.
    Normalize(std::vector<double> mean, std::vector<double> std)
        : NormalizeImages(std::move(mean), std::move(std))
    {}
};

// Flips images horizontally, with a probability.
class RandomHorizontalFlip {
public:
    explicit RandomHorizontalFlip(double p = 0.5); // Error(argument) unless p is from 0 to 1
    // Flips the image, or returns it as it is.
    Example<> operator()(Example<>, Random&) const;

private:
    double p_;
};

// Cuts a window of [height, width] at a random position from the image with `padding` zeros on all four sides.
class RandomCrop {
public:
    // Takes the size of a square window.  Errors as below.
    RandomCrop(std::int64_t size, std::int64_t padding = 0) : RandomCrop(size, size, padding) {}
    // Throws Error(argument) for negative numbers and ones above 2^30.
    RandomCrop(std::int64_t height, std::int64_t width, std::int64_t padding);
    // Cuts the window.  Throws Error(argument) where the image with its padding is smaller.
    Example<> operator()(Example<>, Random&) const;

private:
    std::int64_t height_, width_, padding_;
};

// A function of an example as a transform, as in libtorch: Lambda<Example<>>([](Example<> e) { ... }).
template <class Input = Example<>, class Output = Input> class Lambda {
public:
    // Wraps the function, which must not be null.
    Lambda(std::function<Output(Input)> function) : function_(std::move(function)) {}
    Output operator()(Input example) const { return function_(std::move(example)); } // calls it

private:
    std::function<Output(Input)> function_;
};

// Does nothing, as loaders stack examples by default; for programs written for libtorch.
template <class = Example<>> struct Stack {
    // Returns the example.
    Example<> operator()(Example<> example) const { return example; }
};

} // namespace reprise::data::transforms
