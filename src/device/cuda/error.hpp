// The checker that every CUDA driver call goes through.
#pragma once
#include "device/cuda/driver.hpp"
#include "device/health.hpp"

namespace reprise::device::cuda {

class Checker {
public:
    Checker(const Driver& driver, Health& health) : driver_(driver), health_(health) {}

    // Runs `call` (-> CUresult), or fails in its place if a test injects a failure.  `kind`: allocate, submit, wait or
    // record; `name`: the driver's function.  CUDA_ERROR_NOT_READY is returned, since it is not a failure.
    template <class Call> CUresult operator()(const char* kind, const char* name, Call&& call) const
    {
        health_.require_alive(name);
        CUresult result = injected(kind);
        if (result == CUDA_SUCCESS) result = call();
        if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY) failed(result, name);
        return result;
    }

private:
    CUresult injected(const char* kind) const
    {
        const std::optional<Device::Fault> fault = health_.injected(kind);
        if (!fault) return CUDA_SUCCESS;
        return *fault == Device::Fault::lost ? CUDA_ERROR_LAUNCH_FAILED : CUDA_ERROR_OUT_OF_MEMORY;
    }
    [[noreturn]] void failed(CUresult, const char* name) const;

    const Driver& driver_;
    Health& health_;
};

// True for errors after which every call in the context fails: the contents of its memory are lost.
bool is_sticky(CUresult) noexcept;

} // namespace reprise::device::cuda
