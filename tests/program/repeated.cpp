// Sizes that a recorded function repeats where they are 1, of which a symbol is none.
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

TEST(RepeatedSizes, NameTheUsersOp)
{
    const Dim n = symbol("n");
    const auto refused = [&](const std::function<Tensor(Tensor)>& f, const Shape& spec_of,
                             const Shape& given) {
        const auto program = record([&](Tensor x) { return f(x); }, {spec(spec_of)});
        return error_of([&] { return program(ones(given)); }).text;
    };
    const std::string product = refused(
        [](Tensor x) {
            return matmul(x, ones({5, 2, 4, 3}));
        },
        {n, 2, 3, 4}, {1, 2, 3, 4});
    EXPECT_THAT(product, HasSubstr("[matmul] "));
    EXPECT_THAT(product, HasSubstr("recorded as a symbol is never repeated, not even where it is 1"));
    const std::string attention = refused(
        [](Tensor m) {
            const Tensor q = ones({3, 2, 4, 8});
            return scaled_dot_product_attention(q, q, q, {.attn_mask = m});
        },
        {n, 2, 4, 4}, {1, 2, 4, 4});
    EXPECT_THAT(attention, HasSubstr("[scaled_dot_product_attention] "));
    EXPECT_THAT(refused(
                    [](Tensor x) {
                        return x.expand({4, 3});
                    },
                    {n, 3}, {1, 3}),
                HasSubstr("[expand] The shape ([n, 3]) does not broadcast to ([4, 3])"));
}

} // namespace
} // namespace reprise
