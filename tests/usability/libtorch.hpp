// What the tests of calls as libtorch's users write them share.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include <reprise/reprise.hpp>

namespace rp = reprise;
namespace nn = reprise::nn;
namespace F = reprise::nn::functional;

// Short, as it stands behind nearly every call.
#define CHECK(...)                                                                                           \
    do {                                                                                                     \
        EXPECT_TRUE((__VA_ARGS__));                                                                          \
    } while (0)

inline bool near(double a, double b, double tolerance = 1e-4)
{
    return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}
