// The data from which the suite (testing/op_suite.hpp) tests ops on any device, with a row per op.
// Rows of elementwise ops are generated from the table of ops, those of structured ops are written by hand.
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

// The size that varies: samples are tested at several values of it, and recorded with it as a symbol.
const Dim& n();

struct Argument {
    Shape sizes; // of constants and n()
    DType dtype = f32;
    double low = -1, high = 1;  // range of the random values; integers include high
    bool number = false;        // a constant of the host: passed with the launch, without memory
    bool differentiable = true; // false: no gradient with respect to it, even if its dtype is floating
};

// One way to call the op, at any size.
struct Sample {
    std::string what; // for messages
    std::vector<Argument> arguments;
    // Must take sizes from the inputs, and work in any floating dtype and on any device.
    std::function<std::vector<Tensor>(const std::vector<Tensor>&)> call;
    std::vector<std::int64_t> sizes = {0, 1, 3, 8}; // values of n()
    bool differentiable = true; // false if it has no gradient in this dtype or with these arguments
    double tolerance = 0;       // 0: the row's
};

// A wrong call and the error that it must throw.
struct Mistake {
    std::string what;
    std::function<void()> call;
    ErrorKind kind;
    std::string fragment; // of the error's message
};

enum class Check {
    forward,   // values against the reference
    gradient,  // VJP against the reference
    gradcheck, // VJP against central differences
    twice,     // the same for the VJP's own VJP
    views,     // the same bits as from contiguous inputs, from other views
    recorded,  // the same bits as eagerly, from a program with a symbolic size
};

struct OpInfo {
    std::string name; // of the op if `is_op`, else of a function composed of ops
    bool is_op = true;
    bool differentiable = true;
    std::vector<Sample> samples;
    std::vector<Mistake> mistakes;
    // Of f32 values, relative to 1 + the largest magnitude; gradients get 4 times as much.
    double tolerance = 2e-6;
    std::map<Check, std::string> skips; // why a check does not apply
    // False: views are tested with one sample and one layout only.  All kernels of the table address memory by the same
    // code, so it is enough that a few rows test all layouts.
    bool thorough = true;
};

const std::vector<OpInfo>& op_infos();
const OpInfo& op_info(std::string_view name);

} // namespace reprise::test
