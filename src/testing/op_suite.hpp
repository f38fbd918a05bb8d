// The bodies of the suite's checks: they know rows (op_info.hpp), no op.
#pragma once
#include <string>
#include <vector>

#include <reprise/autograd.hpp>
#include <reprise/device.hpp>
#include <reprise/error.hpp>

#include "testing/op_info/op_info.hpp"
#include "testing/values.hpp"

namespace reprise::test {

// What a sample is called with: by argument, values that its dtype holds exactly.
struct Data {
    std::vector<std::vector<std::int64_t>> sizes;
    std::vector<std::vector<double>> values;
};
Data draw(const OpInfo&, const Sample&, std::int64_t size);
// The same values all along the first dimension of each argument: what expand() makes.
void repeat_first(Data&);

bool asks_gradient(const Argument&);

// How the elements of an input lie in memory.
enum class Layout { contiguous, transposed, narrowed, expanded };

struct Setting {
    Device device;
    bool f64 = false; // in place of f32: the oracle's
    Layout layout = Layout::contiguous;
};
std::vector<Tensor> inputs(const Sample&, const Data&, const Setting&);
// One for each output; random numbers of its shape, which every floating dtype holds, where it is floating.
std::vector<Tensor> cotangents(const std::vector<Tensor>& outputs, const Setting&);

// Outputs and, where cotangents are given, the gradients by the differentiable inputs (undefined: none).
struct Outcome {
    std::vector<Tensor> outputs, gradients;
};
Outcome evaluate(const Sample&, const std::vector<Tensor>& inputs, const std::vector<Tensor>& cotangents);
Outcome run(const Sample&, const Data&, const Setting&, bool gradient);

// Row-major values as double.
std::vector<double> doubles(const Tensor&);

// A size that shows what there is to see and is quickly computed on the reference device.
std::int64_t checked_size(const Sample&);

// Against central differences, in double on the reference device: the gradient of the sample's outputs, or that of
// its gradient (by the inputs and by the cotangents).
GradCheck check_gradient(const OpInfo&, const Sample&, const GradCheckOptions& = {});
GradCheck check_second_gradient(const OpInfo&, const Sample&, const GradCheckOptions& = {});

// Rows that a check is for.
std::vector<std::string> rows_for(Check);
std::string describe(const Sample&, std::int64_t size);

} // namespace reprise::test
