// Ops of one tensor against values that PyTorch gave.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include <reprise/reprise.hpp>

namespace reprise::test {

using Floats = std::vector<float>;

struct Input {
    Shape shape;
    Floats values;
};
inline const Input line{{1, 1, 10}, {3, 1, 4, 1, 5, 9, 2, 6, 5, 3}};
inline const Input image{{1, 1, 3, 5}, {2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4}};
inline const Input volume{{1, 1, 2, 3, 4},
                          {0, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0, 7, 3, 10, 6, 2, 9, 5, 1, 8, 4, 0, 7}};

struct Known {
    const char* what;
    Input x;
    std::function<Tensor(const Tensor&)> call;
    Floats y, dx; // PyTorch's; dx for a gradient of 1, 2, 3, ... of y
};

inline void expect_close(const Tensor& got, const Floats& want)
{
    const Floats values = got.to_vector<float>();
    ASSERT_EQ(values.size(), want.size());
    for (std::size_t i = 0; i < want.size(); ++i)
        EXPECT_NEAR(values[i], want[i], 3e-6 * (1 + std::abs(want[i]))) << "at " << i;
}

inline void expect_known(const Known& k)
{
    SCOPED_TRACE(k.what);
    const Variable x(from_vector(k.x.values, k.x.shape));
    const Tensor y = k.call(x);
    expect_close(y, k.y);
    Floats dy(k.y.size());
    for (std::size_t i = 0; i < dy.size(); ++i) dy[i] = static_cast<float>(i + 1);
    y.backward(from_vector(dy, y.shape()));
    Floats dx = k.dx; // of the elements that were used, which are the first
    dx.resize(k.x.values.size());
    expect_close(x.grad(), dx);
}

} // namespace reprise::test
