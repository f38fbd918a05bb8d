// The heavy problems: which kernels serve them on which device.  A list is ordered; the first that can implement the
// problem is taken, and each refusal has a reason.  All variants of a list are of one numeric class.
#pragma once
#include <string>
#include <vector>

#include "device/device.hpp"
#include "ops/lowering.hpp"

namespace reprise::kernels {

// C[b] = A[b] B[b].  Numeric class: shaders/common/gemm.glsl.
void gemm(ops::Lowering&, const device::Capabilities&, const ops::GemmProblem&);
ops::View packed(ops::Lowering&, const device::Capabilities&, const ops::View&, const Dim& rows,
                 const Dim& columns);

// Why each variant was taken or not, for this problem on this device: printed by `reprise` and asked by
// tests.
struct Refusal {
    std::string variant, reason; // an empty reason: taken
};
std::vector<Refusal> explain_gemm(const device::Capabilities&, const ops::GemmProblem&);

} // namespace reprise::kernels
