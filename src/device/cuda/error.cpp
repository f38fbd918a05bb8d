#include "device/cuda/error.hpp"
#include <reprise/error.hpp>

namespace reprise::device::cuda {

bool is_sticky(CUresult result) noexcept
{
    switch (result) {
    case CUDA_ERROR_DEINITIALIZED:
    case CUDA_ERROR_ECC_UNCORRECTABLE:
    case CUDA_ERROR_NVLINK_UNCORRECTABLE:
    case CUDA_ERROR_ILLEGAL_ADDRESS:
    case CUDA_ERROR_LAUNCH_TIMEOUT:
    case CUDA_ERROR_CONTEXT_IS_DESTROYED:
    case CUDA_ERROR_ASSERT:
    case CUDA_ERROR_HARDWARE_STACK_ERROR:
    case CUDA_ERROR_ILLEGAL_INSTRUCTION:
    case CUDA_ERROR_MISALIGNED_ADDRESS:
    case CUDA_ERROR_INVALID_ADDRESS_SPACE:
    case CUDA_ERROR_INVALID_PC:
    case CUDA_ERROR_LAUNCH_FAILED: return true;
    default: return false;
    }
}

void Checker::failed(CUresult result, const char* name) const
{
    if (is_sticky(result)) {
        health_.set_lost();
        Health::fail_lost(name);
    }
    const char* said = nullptr;
    if (driver_.cuGetErrorName(result, &said) != CUDA_SUCCESS || !said) said = "an error without a name";
    ErrorKind kind = ErrorKind::internal;
    const char* advice = "Please report it with the driver's version.";
    if (result == CUDA_ERROR_OUT_OF_MEMORY) {
        kind = ErrorKind::out_of_memory;
        advice = "Nothing has changed; free memory and try again.";
    } else if (result == CUDA_ERROR_NO_BINARY_FOR_GPU || result == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
        kind = ErrorKind::unsupported;
        advice = "This build has no kernels for the device: see REPRISE_CUDA_ARCHITECTURES.";
    }
    reprise::detail::fail(kind, name, "The driver answered (", said, ", ", static_cast<int>(result), "). ",
                          advice);
}

} // namespace reprise::device::cuda
