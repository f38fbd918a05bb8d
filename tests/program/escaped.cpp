// Tensors that a recorded function has left in a handle of the outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"

namespace reprise {
namespace {

using testing::HasSubstr;

TEST(EscapedTensors, SayHowToCarryAValue)
{
    Tensor h = zeros({2});
    auto f = record(
        [&](Tensor x) {
            const Tensor y = x + h;
            h = y;
            return y;
        },
        {spec({2})});
    f(ones({2}));
    for (const auto& use : std::vector<std::function<void()>>{
             [&] { h.to_vector<float>(); }, [&] { (h + 1).to_vector<float>(); }, [&] { h.eval(); },
             [&] { zeros({2}).assign(h); }, [&] { record([&](Tensor x) { return x * h; }, {spec({2})}); }}) {
        const Caught error = error_of([&] {
            use();
            return 0;
        });
        EXPECT_EQ(error.kind, ErrorKind::state);
        EXPECT_THAT(error.text, HasSubstr("made while a program was recorded has no value outside of it"));
        EXPECT_THAT(error.text, HasSubstr("h.assign(y)"));
    }
    EXPECT_TRUE((h.shape() == Shape{2})) << "its type is known";
    h = zeros({2});
    const auto carried = record(
        [&](Tensor x) {
            h.assign(x + h);
            return h * 1;
        },
        {spec({2})});
    carried(ones({2}));
    EXPECT_EQ(carried(ones({2})).to_vector<float>(), std::vector<float>(2, 2));
    EXPECT_EQ(h.to_vector<float>(), std::vector<float>(2, 2));
}

} // namespace
} // namespace reprise
