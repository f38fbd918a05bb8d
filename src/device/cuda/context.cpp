#include "device/cuda/context.hpp"

namespace reprise::device::cuda {

Context::Context(const Driver& functions, int ordinal) : driver(functions), check(driver, health)
{
    call("cuDeviceGet", &Driver::cuDeviceGet, &device_, ordinal);
    call("cuDevicePrimaryCtxRetain", &Driver::cuDevicePrimaryCtxRetain, &context_, device_);
    const Current current(*this);
    const CUresult created = driver.cuStreamCreate(&stream_, CU_STREAM_NON_BLOCKING);
    if (created != CUDA_SUCCESS) {
        driver.cuDevicePrimaryCtxRelease(device_);
        check("", "cuStreamCreate", [&] { return created; });
    }
}

Context::~Context()
{
    if (abandoned_) return;
    {
        const Current current(*this);
        driver.cuStreamSynchronize(stream_);
        driver.cuStreamDestroy(stream_);
        if (stream_of_calls_) driver.cuStreamDestroy(stream_of_calls_);
    }
    driver.cuDevicePrimaryCtxRelease(device_);
}

CUstream Context::stream_of_calls()
{
    if (!stream_of_calls_)
        call("cuStreamCreate", &Driver::cuStreamCreate, &stream_of_calls_, CU_STREAM_NON_BLOCKING);
    return stream_of_calls_;
}

void Context::wait_for_stream_of_calls() const noexcept
{
    if (stream_of_calls_) driver.cuStreamSynchronize(stream_of_calls_);
}

Context::Current::Current(const Context& c) noexcept
    : context_(c), pushed_(!c.abandoned_ && c.driver.cuCtxPushCurrent(c.context_) == CUDA_SUCCESS)
{}

Context::Current::~Current()
{
    CUcontext popped = nullptr;
    if (pushed_) context_.driver.cuCtxPopCurrent(&popped);
}

} // namespace reprise::device::cuda
