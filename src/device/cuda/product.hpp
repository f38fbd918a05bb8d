// Translates a launch of the kernels gemm_address and gemm_half to a matrix product that cuBLASLt can compute.
//
// cuBLASLt is column-major, so row-major C = A B is computed as C^T = B^T A^T.  `a` below is its first operand, the
// launch's B.
#pragma once
#include "device/device.hpp"
#include <array>
#include <compare>
#include <optional>

namespace reprise::device::cuda {

// A column-major matrix in memory.
struct Matrix {
    std::int64_t rows = 0, columns = 0; // as stored
    std::int64_t pitch = 0;             // leading dimension: elements from column to column, at least `rows`
    std::int64_t stride = 0;            // elements from one matrix of the batch to the next
    bool transposed = false;            // op(matrix) is its transpose
    std::uint32_t alignment = 16;       // of all matrices of the batch: bytes, at most 16
    friend auto operator<=>(const Matrix&, const Matrix&) = default;
};

// Element types of operands and results; sums are f32, for f64 f64.  tf32: f32 operands rounded to 10 mantissa bits.
enum class Numbers : std::uint8_t { f32, tf32, f64, f16, bf16 };

// Everything that the choice of an algorithm depends on, apart from the device and the library's version.  Products
// with equal problems have the same bits.
struct Problem {
    Numbers numbers = Numbers::f32;
    std::int64_t batch = 1;
    Matrix a, b, d; // d = op(a) op(b)
    // A bias of the operands' dtype, at least as aligned as d, is added to each column of the sums.
    bool bias = false;
    friend auto operator<=>(const Problem&, const Problem&) = default;
};

struct Product {
    Problem problem;
    std::int64_t repeats = 1;            // of the problem, if the batch has two dimensions
    std::array<Address, 3> at{};         // of a, b, d
    std::array<std::int64_t, 3> steps{}; // bytes from one repeat to the next
    Address bias = 0;                    // if the problem has one
};

// The products that a kernel computes.
struct ProductKernel {
    Numbers numbers = Numbers::f32;
    bool bias = false;
    friend bool operator==(const ProductKernel&, const ProductKernel&) = default;
};
std::optional<ProductKernel> product_kernel(const Kernel&); // empty: it computes none

// Empty if cuBLASLt can't compute it: strides in both directions, overlapping rows (or broadcast ones), no elements.
std::optional<Product> product_of(const LaunchArguments&, const ProductKernel&);

} // namespace reprise::device::cuda
