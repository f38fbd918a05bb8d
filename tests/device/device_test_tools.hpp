// Shared by the tests of devices.
#pragma once
#include "device/device.hpp"
#include <gtest/gtest.h>
#include <reprise/error.hpp>

namespace reprise::device {

template <class Call> void expect_error(ErrorKind kind, Call&& call)
{
    try {
        call();
        ADD_FAILURE() << "no error was thrown";
    } catch (const Error& error) {
        EXPECT_EQ(error.kind(), kind) << error.what();
    }
}

template <class T> void upload(Device& device, Address to, const std::vector<T>& values)
{
    device.upload(to, std::as_bytes(std::span(values)));
}

template <class T> std::vector<T> download(Device& device, Address from, std::size_t count)
{
    std::vector<T> values(count);
    device.download(from, std::as_writable_bytes(std::span(values)));
    return values;
}

inline Operand operand(const Memory& memory) { return {memory.address, memory.bytes}; }

} // namespace reprise::device
