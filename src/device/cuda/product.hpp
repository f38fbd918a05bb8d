// A launch of the kernels gemm_address and gemm_half as products of matrices that cuBLASLt can be given.
//
// cuBLASLt counts by columns: for rows in memory it makes D^T = B^T A^T.  `a` below is its first operand, which is our B.
#pragma once
#include "device/device.hpp"
#include <array>
#include <compare>
#include <optional>

namespace reprise::device::cuda {

// A matrix in memory, by columns.
struct Matrix {
    std::int64_t rows = 0, columns = 0; // of what is stored
    std::int64_t pitch = 0;             // elements from column to column, at least `rows`
    std::int64_t stride = 0;            // elements from one matrix of the batch to the next
    bool transposed = false;            // op(matrix) is its transpose
    std::uint32_t alignment = 16;       // bytes, at most 16: of all the batch's matrices
    friend auto operator<=>(const Matrix&, const Matrix&) = default;
};

// What operands and results are; sums are f32 but for f64.  tf32: operands in f32, of which 10 bits behind the first count.
enum class Numbers : std::uint8_t { f32, tf32, f64, f16, bf16 };

// All that the choice of an algorithm depends on, beside the device and the library's version: equal problems have equal
// bits.
struct Problem {
    Numbers numbers = Numbers::f32;
    std::int64_t batch = 1;
    Matrix a, b, d; // d = op(a) op(b)
    friend auto operator<=>(const Problem&, const Problem&) = default;
};

struct Product {
    Problem problem;
    std::int64_t repeats = 1;            // of the problem, where a batch has two dimensions
    std::array<Address, 3> at{};         // of a, b, d
    std::array<std::int64_t, 3> steps{}; // bytes from one repeat to the next
};

// Of what a kernel makes products; empty: it makes none.
std::optional<Numbers> product_kernel(const Kernel&);

// Empty where cuBLASLt has no word for it: strides in both directions, rows that overlap (a broadcast's too), no elements.
std::optional<Product> product_of(const LaunchArguments&, Numbers);

} // namespace reprise::device::cuda
