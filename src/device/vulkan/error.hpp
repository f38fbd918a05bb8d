// The checker that every driver call goes through.
#pragma once
#include "device/health.hpp"
#include <volk.h>

namespace reprise::device::vulkan {

const char* result_name(VkResult);

// Throws the Error that corresponds to a failed result of the driver call `name`.
[[noreturn]] void fail_result(VkResult, const char* name);

class Checker {
public:
    explicit Checker(Health& health) : health_(health) {}

    // Runs `call` (-> VkResult), or fails in its place if a test injects a failure.  `kind`: allocate, submit, wait or
    // record; `name`: the driver's function.  Returns the result, which is a success code.
    template <class Call> VkResult operator()(const char* kind, const char* name, Call&& call) const
    {
        health_.require_alive(name);
        VkResult result = injected(kind);
        if (result == VK_SUCCESS) {
            result = call();
        }
        if (result < 0) {
            failed(result, name);
        }
        return result;
    }

private:
    VkResult injected(const char* kind) const
    {
        const std::optional<Device::Fault> fault = health_.injected(kind);
        if (!fault) {
            return VK_SUCCESS;
        }
        return *fault == Device::Fault::lost ? VK_ERROR_DEVICE_LOST : VK_ERROR_OUT_OF_DEVICE_MEMORY;
    }
    [[noreturn]] void failed(VkResult, const char* name) const;

    Health& health_;
};

} // namespace reprise::device::vulkan
