// The CUDA device on the emulated driver (tests/cuda_emulation), and the emulation's own interface.
#pragma once
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

#include <cuda.h>
#include <dlfcn.h>

#include "device/registry.hpp"

namespace reprise::device {

template <class Function> Function* emulation(const char* name)
{
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return reinterpret_cast<Function*>(dlsym(library, name));
}
// The n-th call of a function from now on fails: of the driver (its symbol) or of cuBLASLt.
inline void fail(const char* function, int result, int n = 1)
{
    emulation<void(const char*, int, int)>("reprise_emulated_cuda_fail")(function, n, result);
}
inline void revive() { emulation<void()>("reprise_emulated_cuda_revive")(); }

struct Setting {
    explicit Setting(const char* value) { setenv("REPRISE_EMULATED_CUDA", value, 1); }
    ~Setting() { unsetenv("REPRISE_EMULATED_CUDA"); }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;
};

class CudaFixture : public testing::Test {
protected:
    CudaFixture() : device_(open("cuda:0")) {}
    ~CudaFixture() override { close(); }

    Device& device() { return *device_; }
    void close()
    {
        device_.reset();
        revive();
        reset("cuda:0");
    }
    std::vector<float> read(const Memory& m, std::size_t count)
    {
        std::vector<float> v(count);
        device_->download(m.address, std::as_writable_bytes(std::span(v)));
        return v;
    }
    static LaunchDeclaration full(std::uint32_t epoch)
    {
        return {.kernel = {.name = "full", .constants = {0}},
                .operands = {Access::write},
                .floats = 1,
                .ints = 2,
                .epoch = epoch};
    }
    static void set_full(Recording& r, std::uint32_t launch, const Memory& to, int count, double value,
                         std::uint64_t groups)
    {
        const std::array<Operand, 1> operands{{{to.address, to.bytes}}};
        const std::array<double, 1> floats{value};
        const std::array<std::int32_t, 2> ints{count, 0};
        r.set(launch, {operands, floats, ints, groups});
    }

    std::shared_ptr<Device> device_;
};

} // namespace reprise::device
