// Transforms of examples for map(): each changes an example's data, an image [channels, height, width], and
// leaves its target.  Any function of an example is one, too.
#pragma once
#include <cstdint>
#include <vector>

#include <reprise/data/example.hpp>

namespace reprise::data::transforms {

// u8 to f32 / 255, of any sizes; f32 stays.  Error(argument) for other dtypes.
struct ToFloat {
    Example<> operator()(Example<>) const;
};

// (x - mean) / std in f32, of all channels or of each.
class Normalize {
public:
    // Error(argument) for a std that is not above 0, numbers that are not finite and empty lists.
    Normalize(double mean, double std) : Normalize(std::vector<double>{mean}, std::vector<double>{std}) {}
    Normalize(std::vector<double> mean, std::vector<double> std);
    // Error(argument) where data is not f32, or its channels are not as many as the numbers.
    Example<> operator()(Example<>) const;

private:
    std::vector<double> mean_, std_;
};

// Left to right with a probability.
class RandomHorizontalFlip {
public:
    explicit RandomHorizontalFlip(double p = 0.5); // Error(argument) outside of [0, 1]
    Example<> operator()(Example<>, Random&) const;

private:
    double p_;
};

// A window of [height, width] at a random place of the image with `padding` zeros on all four sides.
class RandomCrop {
public:
    RandomCrop(std::int64_t size, std::int64_t padding = 0) : RandomCrop(size, size, padding) {}
    RandomCrop(std::int64_t height, std::int64_t width, std::int64_t padding); // Error(argument): negative
    // Error(argument) where the image with its padding is smaller.
    Example<> operator()(Example<>, Random&) const;

private:
    std::int64_t height_, width_, padding_;
};

// What a loader does without it: it stands for programs that were written for libtorch.
template <class = Example<>> struct Stack {
    Example<> operator()(Example<> example) const { return example; }
};

} // namespace reprise::data::transforms
