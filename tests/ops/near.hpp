// Values beside those of the reference.
#pragma once
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "testing/op_suite.hpp"

namespace reprise::test {

// `tolerance` is relative to 1 + the largest magnitude; integers, infinities and NaN must be the same.
inline void expect_near(const Tensor& got, const Tensor& want, double tolerance, const std::string& what)
{
    ASSERT_EQ(to_string(got.shape()), to_string(want.shape())) << what;
    const std::vector<double> a = doubles(got), b = doubles(want);
    double largest = 0;
    for (const double v : b)
        if (std::isfinite(v)) largest = std::max(largest, std::fabs(v));
    const double allowed = is_floating(want.dtype()) ? tolerance * (1 + largest) : 0;
    const auto near = [=](double x, double y) {
        if (std::isnan(y)) return std::isnan(x);
        if (std::isinf(x) || std::isinf(y)) return x == y;
        return std::fabs(x - y) <= allowed;
    };
    for (std::size_t i = 0; i < a.size(); ++i)
        ASSERT_TRUE(near(a[i], b[i])) << what << ": element " << i << " is " << a[i] << ", the reference has "
                                      << b[i] << " (allowed: " << allowed << ")";
}

} // namespace reprise::test
