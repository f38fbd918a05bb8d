// The CUDA driver API (libcuda), loaded on first use, so that programs start on machines without it.
#pragma once
#include <cuda.h>
#include <string>
#include <variant>

namespace reprise::device::cuda {

struct Driver {
#define RP_CUDA_FUNCTION(name) decltype(&::name) name = nullptr;
#include "device/cuda/driver_functions.def"
#undef RP_CUDA_FUNCTION
    int version = 0; // newest CUDA version that the driver supports: 13000
};

// Returns a string that says why there is no usable driver: no library, a missing function, older than the CUDA version
// that the embedded kernels were compiled for, or no device.  A loaded library is not unloaded.
std::variant<Driver, std::string> load_driver(const std::string& library);

// The system's driver, loaded at most once per process.
const std::variant<Driver, std::string>& driver();

// "13.0" for 13000.
std::string version_text(int version);

} // namespace reprise::device::cuda
