// NVIDIA's driver, loaded when it is first needed: programs start on machines that have none.
#pragma once
#include <cuda.h>
#include <string>
#include <variant>

namespace reprise::device::cuda {

struct Driver {
#define RP_CUDA_FUNCTION(name) decltype(&::name) name = nullptr;
#include "device/cuda/driver_functions.def"
#undef RP_CUDA_FUNCTION
    int version = 0; // 13000: of CUDA, as the driver knows it
};

// A string says why there is none: no library, one that lacks a function, an older one than the kernels inside were
// compiled for, no device.  What was loaded stays.
std::variant<Driver, std::string> load_driver(const std::string& library);

// The system's, loaded at most once in a process.
const std::variant<Driver, std::string>& driver();

// "13.0" of 13000
std::string version_text(int version);

} // namespace reprise::device::cuda
