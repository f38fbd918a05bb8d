// The implementation of the suite's checks: it depends only on the rows of op_info.hpp, not on single ops.
#pragma once
#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/device.hpp>
#include <reprise/error.hpp>

#include "testing/op_info/op_info.hpp"
#include "testing/values.hpp"

namespace reprise::test {

// The inputs of a sample: sizes and values by argument; the dtype can represent the values exactly.
struct Data {
    std::vector<std::vector<std::int64_t>> sizes;
    std::vector<std::vector<double>> values;
};
Data draw(const OpInfo&, const Sample&, std::int64_t size);
// Repeats the first row along the first dimension of each argument, as expand() does.
void repeat_first(Data&);

bool asks_gradient(const Argument&);

// How the elements of an input lie in memory.
enum class Layout { contiguous, transposed, narrowed, expanded };

struct Setting {
    Device device;
    bool f64 = false; // use f64 in place of f32, as the reference results do
    Layout layout = Layout::contiguous;
};
std::vector<Tensor> inputs(const Sample&, const Data&, const Setting&);
// Returns a cotangent per output: random numbers that every floating dtype can represent; undefined for other dtypes.
std::vector<Tensor> cotangents(const std::vector<Tensor>& outputs, const Setting&);

// Outputs and, if cotangents are given, the gradients of the differentiable inputs (undefined if there is none).
struct Outcome {
    std::vector<Tensor> outputs, gradients;
};
Outcome evaluate(const Sample&, const std::vector<Tensor>& inputs, const std::vector<Tensor>& cotangents);
Outcome run(const Sample&, const Data&, const Setting&, bool gradient);

// Returns the values in row-major order, as double.
std::vector<double> doubles(const Tensor&);

// Returns a size that covers the general case and is computed quickly on the reference device.
std::int64_t checked_size(const Sample&);

// Compares with central differences, in double on the reference device: the gradient of the sample's outputs, or the
// gradient of its gradient (with respect to the inputs and the cotangents).
GradCheck check_gradient(const OpInfo&, const Sample&, const GradCheckOptions& = {});
GradCheck check_second_gradient(const OpInfo&, const Sample&, const GradCheckOptions& = {});

// Returns the names of the rows to which a check applies.
std::vector<std::string> rows_for(Check);
std::string describe(const Sample&, std::int64_t size);

} // namespace reprise::test
