// What the suite (testing/op_suite.hpp) needs to know of an op to test it on any device: a row for each op.
// Rows of elementwise ops are made from the table, those of structured ops are written beside it.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <reprise/dim.hpp>
#include <reprise/error.hpp>
#include <reprise/tensor.hpp>

namespace reprise::test {

// The size that samples are tested at several values of, and recorded with as a symbol.
const Dim& n();

struct Argument {
    Shape sizes; // of constants and n()
    DType dtype = f32;
    double low = -1, high = 1;  // drawn from [low, high]; integers from low to high
    bool number = false;        // one value that the host knows: no memory, given with the launch
    bool differentiable = true; // false: no gradient by it is computed, though its dtype is floating
};

// One way to call the op, at any size.
struct Sample {
    std::string what; // for messages
    std::vector<Argument> arguments;
    // Takes the sizes that it needs from the inputs; works in any floating dtype and on any device.
    std::function<std::vector<Tensor>(const std::vector<Tensor>&)> call;
    std::vector<std::int64_t> sizes = {0, 1, 3, 8}; // values of n()
    bool differentiable = true;                     // false for a dtype, or a use, that has no gradient
    double tolerance = 0;                           // 0: the row's
};

// A mistake and what it is answered with.
struct Mistake {
    std::string what;
    std::function<void()> call;
    ErrorKind kind;
    std::string fragment; // of the sentence
};

enum class Check {
    forward,   // values against the reference
    gradient,  // VJP against the reference
    gradcheck, // VJP against central differences
    twice,     // the same for the VJP's own VJP
    views,     // the same bits from views that are not contiguous
    recorded,  // the same bits from a program with a symbolic size
};

struct OpInfo {
    std::string name; // of the op where `is_op`, else of a function made of ops
    bool is_op = true;
    bool differentiable = true;
    std::vector<Sample> samples;
    std::vector<Mistake> mistakes;
    double tolerance =
        2e-6; // of f32 values, relative to 1 + the largest magnitude; gradients get 4 times as much
    std::map<Check, std::string> skips; // why a check does not apply
    // False: views are tried with one sample and in one layout.  All kernels of the table walk memory by the
    // same code, so that rows share the work, and a few do all of it.
    bool thorough = true;
};

const std::vector<OpInfo>& op_infos();
const OpInfo& op_info(std::string_view name);

} // namespace reprise::test
