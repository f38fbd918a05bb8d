// Products and convolutions by native code (src/device/native), on Vulkan devices that are the host's CPU: their
// drivers compile kernels for vectors of 256 bits without fma.
#pragma once
#include <string>

#include "device/device.hpp"
#include "ops/lowering.hpp"

namespace reprise::kernels {

std::string refuse_native_gemm(const device::Capabilities&, const ops::GemmProblem&);
Dim native_gemm_serves(const device::Capabilities&, const ops::GemmProblem&);
void native_gemm(ops::Lowering&, const device::Capabilities&,
                 const ops::GemmProblem&); // all views have rank 4

std::string refuse_native_conv(const device::Capabilities&, const ops::ConvProblem&);
Dim native_conv_serves(const device::Capabilities&, const ops::ConvProblem&);
void native_conv(ops::Lowering&, const device::Capabilities&, const ops::ConvProblem&);

} // namespace reprise::kernels
