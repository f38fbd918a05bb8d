// Matrix products and convolutions: the kernels that compute them on each device.  Variants are tried in order; the
// first that can compute the problem is used, and each that refuses gives a reason.  The choice depends only on the
// problem's sizes and the device, so the bits at a size are always the same.  If sizes are symbolic, all variants that
// may be chosen are recorded, each with a condition on the sizes.
#pragma once
#include <string>
#include <vector>

#include "device/device.hpp"
#include "ops/lowering.hpp"

namespace reprise::kernels {

// Emits C[b] = A[b] B[b].  The numeric class of f32 and f64 is in shaders/common/gemm.glsl, on GPUs in gemm_tile.cpp,
// by cooperative matrices in shaders/gemm_matrix.comp, that of f16 and bf16 on CUDA in cuda/gemm_half.cu.
void gemm(ops::Lowering&, const device::Capabilities&, const ops::GemmProblem&);
// Returns a contiguous view as one matrix [1, 1, rows, columns].
ops::View as_matrix(ops::View, const Dim& rows, const Dim& columns);
// Writes the sum of the parts [parts, outer, inner, rows, columns], added in order, to c [outer, inner, rows, columns].
void add_parts(ops::Lowering&, const ops::View& partial, const ops::View& c, const Dim& parts);
ops::View packed(ops::Lowering&, const device::Capabilities&, const ops::View&, const Dim& rows,
                 const Dim& columns);

// Whether products on the device read operands of f16 and bf16 as they are, where the result is f32.
bool products_read_halves(const device::Capabilities&);
// Whether one operand may be f32, and the other f16 or bf16.
bool products_mix_dtypes(const device::Capabilities&);
// Whether the dtype is f16 or bf16, and products and convolutions of it are kernels of their own (CUDA).
bool multiplies_halves(const device::Capabilities&, DType);
// Whether products write such a result of operands of f16 or bf16, or, on CPUs, of one of them.
bool products_write_halves(const device::Capabilities&, DType, const Shape& result);
// Whether convolutions, and products by tiles, read f16 and bf16 as they are.
bool tiles_read_halves(const device::Capabilities&);
std::string refuse_gemm_tile(const device::Capabilities&, const ops::GemmProblem&);
void gemm_tile(ops::Lowering&, const device::Capabilities&, const ops::GemmProblem&); // all views have rank 4
std::string refuse_gemm_matrix(const device::Capabilities&, const ops::GemmProblem&);
void gemm_matrix(ops::Lowering&, const device::Capabilities&, const ops::GemmProblem&);
// Whether the product has a kernel for tiles of 128 x 128 elements besides that of 64 x 64 (kernels/tuning.hpp).
bool has_large_tiles(const device::Capabilities&, const ops::GemmProblem&);

// Emits a convolution, or one of its two gradients.
void conv(ops::Lowering&, const device::Capabilities&, const ops::ConvProblem&);
DType operand_dtype(
    const ops::ConvProblem&); // of the operands; the result's dtype may be f32 where it is f16 or bf16
// Emits the convolution of f32 copies of its operands, and rounds the result.
void conv_in_f32(ops::Lowering&, const device::Capabilities&, ops::ConvProblem);
// The variants: native (native.hpp), direct (3 x 3 and 1 x 1 windows, on CPUs), depthwise (groups of one channel),
// pointwise (1 x 1 windows), implicit and tile (a product with a matrix of windows that is never stored: of f16 and
// bf16 on CUDA; of f32 there, and of all three on other GPUs), patches (im2col: it is stored).
std::string refuse_direct(const device::Capabilities&, const ops::ConvProblem&);
Dim direct_serves(const ops::ConvProblem&); // 1 at sizes where it can run, else 0
// Whether the device has this variant for images of a dtype of f32, f16 and bf16, which it reads and writes as they
// are.
bool direct_reads_and_writes(const device::Capabilities&, DType);
void conv_direct(ops::Lowering&, const device::Capabilities&, const ops::ConvProblem&);
std::string refuse_depthwise(const device::Capabilities&, const ops::ConvProblem&);
void conv_depthwise(ops::Lowering&, const device::Capabilities&, const ops::ConvProblem&);
std::string refuse_pointwise(const device::Capabilities&, const ops::ConvProblem&);
void conv_pointwise(ops::Lowering&, const device::Capabilities&, const ops::ConvProblem&);
std::string refuse_implicit(const device::Capabilities&, const ops::ConvProblem&);
void conv_implicit(ops::Lowering&, const device::Capabilities&, const ops::ConvProblem&);
std::string refuse_conv_tile(const device::Capabilities&, const ops::ConvProblem&);
Dim conv_tile_serves(const ops::ConvProblem&);
void conv_tile(ops::Lowering&, const device::Capabilities&, const ops::ConvProblem&);
void conv_patches(ops::Lowering&, const device::Capabilities&, const ops::ConvProblem&);

// Explains for each variant why it can't run this problem on this device, for the output of `reprise` and for tests.
struct Refusal {
    std::string variant, reason; // empty reason: it can run
};
std::vector<Refusal> explain_gemm(const device::Capabilities&, const ops::GemmProblem&);
std::vector<Refusal> explain_conv(const device::Capabilities&, const ops::ConvProblem&);

} // namespace reprise::kernels
