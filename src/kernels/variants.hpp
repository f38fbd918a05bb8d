// The heavy problems: which kernels serve them on which device.  A list is ordered; the first that can
// implement the problem is taken, and each refusal has a reason.  Which one it is follows from the
// problem's sizes and the device; where sizes are unknown all that may serve are recorded, each for the calls
// that it serves.  So the bits at a size are always the same.
#pragma once
#include <string>
#include <vector>

#include "device/device.hpp"
#include "ops/lowering.hpp"

namespace reprise::kernels {

// C[b] = A[b] B[b].  Numeric class of f32 and f64: shaders/common/gemm.glsl; of halves that of cuda/gemm_half.cu.
void gemm(ops::Lowering&, const device::Capabilities&, const ops::GemmProblem&);
ops::View packed(ops::Lowering&, const device::Capabilities&, const ops::View&, const Dim& rows,
                 const Dim& columns);

// A convolution and its two gradients.
void conv(ops::Lowering&, const device::Capabilities&, const ops::ConvProblem&);
// Its variants: windows read where they lie, groups of one channel, windows of one element, windows as the columns of a
// matrix that is never written, and of one that is.
std::string refuse_direct(const device::Capabilities&, const ops::ConvProblem&);
Dim direct_serves(const ops::ConvProblem&); // 1 at the sizes that it serves
void conv_direct(ops::Lowering&, const ops::ConvProblem&);
std::string refuse_depthwise(const device::Capabilities&, const ops::ConvProblem&);
void conv_depthwise(ops::Lowering&, const ops::ConvProblem&);
std::string refuse_pointwise(const device::Capabilities&, const ops::ConvProblem&);
void conv_pointwise(ops::Lowering&, const ops::ConvProblem&);
std::string refuse_implicit(const device::Capabilities&, const ops::ConvProblem&);
void conv_implicit(ops::Lowering&, const ops::ConvProblem&);
void conv_patches(ops::Lowering&, const ops::ConvProblem&);

// Why each variant was taken or not, for this problem on this device: printed by `reprise` and asked by
// tests.
struct Refusal {
    std::string variant, reason; // an empty reason: taken
};
std::vector<Refusal> explain_gemm(const device::Capabilities&, const ops::GemmProblem&);
std::vector<Refusal> explain_conv(const device::Capabilities&, const ops::ConvProblem&);

} // namespace reprise::kernels
