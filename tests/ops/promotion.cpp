// Which dtype comes of which: the table and the cases are PyTorch's (torch.promote_types, torch 2).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/ops/promotion.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::array dtypes = {boolean, u8, i8, i16, i32, i64, bf16, f16, f32, f64};

constexpr DType promoted[dtypes.size()][dtypes.size()] = {
    {boolean, u8, i8, i16, i32, i64, bf16, f16, f32, f64},
    {u8, u8, i16, i16, i32, i64, bf16, f16, f32, f64},
    {i8, i16, i8, i16, i32, i64, bf16, f16, f32, f64},
    {i16, i16, i16, i16, i32, i64, bf16, f16, f32, f64},
    {i32, i32, i32, i32, i32, i64, bf16, f16, f32, f64},
    {i64, i64, i64, i64, i64, i64, bf16, f16, f32, f64},
    {bf16, bf16, bf16, bf16, bf16, bf16, bf16, f32, f32, f64},
    {f16, f16, f16, f16, f16, f16, f32, f16, f32, f64},
    {f32, f32, f32, f32, f32, f32, f32, f32, f32, f64},
    {f64, f64, f64, f64, f64, f64, f64, f64, f64, f64},
};

// Dtypes only: the reference device has all of them, whatever device the test is for.
Tensor of(DType t) { return ones({2}, {.dtype = t, .device = Device("reference")}); }
Tensor one_of(DType t) { return ones({}, {.dtype = t, .device = Device("reference")}); }

TEST(Promotion, IsPyTorchs)
{
    for (std::size_t i = 0; i < dtypes.size(); ++i)
        for (std::size_t j = 0; j < dtypes.size(); ++j) {
            const DType want = promoted[i][j], a = dtypes[i], b = dtypes[j];
            const std::string what = std::string(name_of(a)) + " and " + name_of(b);
            EXPECT_EQ(promote_types(a, b), want) << what;
            EXPECT_EQ((of(a) + of(b)).dtype(), want) << what;
            EXPECT_EQ(maximum(of(a), of(b)).dtype(), want) << what;
            EXPECT_EQ(where(of(boolean), of(a), of(b)).dtype(), want) << what;
            EXPECT_EQ(cat({of(a), of(b)}).dtype(), want) << what;
            EXPECT_EQ(stack({of(a), of(b)}).dtype(), want) << what;
            EXPECT_EQ((of(a) < of(b)).dtype(), boolean) << what;
            EXPECT_EQ((of(a) / of(b)).dtype(), is_floating(want) ? want : f32) << what;
        }
}

TEST(Promotion, OfNumbersStaysInTheirCategory)
{
    for (const DType t : dtypes) {
        const DType whole = t == boolean ? i64 : t, fraction = is_floating(t) ? t : f32;
        EXPECT_EQ((of(t) + 1.0).dtype(), whole) << name_of(t);
        EXPECT_EQ((of(t) * 1.5).dtype(), fraction) << name_of(t);
        EXPECT_EQ((of(t) < 1.5).dtype(), boolean) << name_of(t);
        EXPECT_EQ((of(t) / 2.0).dtype(), fraction) << name_of(t);
    }
    EXPECT_EQ((of(i32) + one_of(f32)).dtype(), f32);
    EXPECT_EQ((of(i32) + one_of(i64)).dtype(), i32);
    EXPECT_EQ((of(f16) + one_of(f64)).dtype(), f16);
    EXPECT_EQ((one_of(i32) + one_of(i64)).dtype(), i64);
    EXPECT_EQ(where(of(boolean), of(i32), one_of(i64)).dtype(), i32);
    EXPECT_EQ(clamp(of(i32), 0.5, 1.5).dtype(), f32);
}

TEST(Promotion, OfReductions)
{
    for (const DType t : dtypes) {
        const DType total = is_floating(t) ? t : i64;
        EXPECT_EQ(sum(of(t)).dtype(), total) << name_of(t);
        EXPECT_EQ(prod(of(t)).dtype(), total) << name_of(t);
        EXPECT_EQ(cumsum(of(t), 0).dtype(), total) << name_of(t);
        EXPECT_EQ(cumprod(of(t), 0).dtype(), total) << name_of(t);
        EXPECT_EQ(any(of(t)).dtype(), boolean) << name_of(t);
        EXPECT_EQ(count_nonzero(of(t)).dtype(), i64) << name_of(t);
        if (t != boolean) {
            EXPECT_EQ(amax(of(t)).dtype(), t) << name_of(t);
        }
        if (is_floating(t)) {
            for (const Tensor& y :
                 {mean(of(t)), var(of(t)), reprise::std(of(t)), norm(of(t)), logsumexp(of(t), {0})})
                EXPECT_EQ(y.dtype(), t) << name_of(t);
        } else {
            const auto error = error_of([&] { return mean(of(t)); });
            EXPECT_EQ(error.kind, ErrorKind::dtype);
            EXPECT_THAT(error.text, HasSubstr("[mean] The op takes a floating dtype")) << name_of(t);
        }
    }
}

TEST(Promotion, ToNarrowIntegersKeepsTheLowBits)
{
    const Tensor x = from_vector(std::vector<float>{300, -1, -300, 70000, -40000});
    EXPECT_THAT(cast(x, i8).to_vector<std::int8_t>(), ElementsAre(44, -1, -44, 112, -64));
    EXPECT_THAT(cast(x, i16).to_vector<std::int16_t>(), ElementsAre(300, -1, -300, 4464, 25536));
    EXPECT_THAT(cast(x, u8).to_vector<std::uint8_t>(), ElementsAre(44, 255, 212, 112, 192));
    const Tensor bytes = from_vector(std::vector<std::uint8_t>{1, 2}, {2});
    EXPECT_THAT((bytes - 3.0).to_vector<std::uint8_t>(), ElementsAre(254, 255));
    EXPECT_THAT((-bytes).to_vector<std::uint8_t>(), ElementsAre(255, 254));
    const Tensor truth = from_vector(std::vector<bool>{true, false}, {2});
    EXPECT_THAT((truth + truth).to_vector<bool>(), ElementsAre(true, false));
    EXPECT_THAT(cat({bytes, truth}).to_vector<std::uint8_t>(), ElementsAre(1, 2, 1, 0));
}

// -- gradients have the dtype of what they belong to --

TEST(GradientDtypes, GoBackThroughCastsAndPromotion)
{
    for (const DType t : {f16, bf16, f32}) {
        Tensor x = cast(from_vector(std::vector<float>{1, 2}), t).detach().requires_grad_();
        const Tensor wide = from_vector(std::vector<float>{3, 4});
        sum(cast(x, f32) * wide + x * wide).backward();
        EXPECT_EQ(x.grad().dtype(), t);
        EXPECT_THAT(cast(x.grad(), f32).to_vector<float>(), ElementsAre(6, 8));
        x.zero_grad();
        sum(cat({x, wide}) * 2).backward();
        EXPECT_EQ(x.grad().dtype(), t);
        EXPECT_THAT(cast(x.grad(), f32).to_vector<float>(), ElementsAre(2, 2));
        x.zero_grad();
        mean(where(from_vector(std::vector<bool>{true, false}, {2}), x, wide)).backward();
        EXPECT_EQ(x.grad().dtype(), t);
        EXPECT_THAT(cast(x.grad(), f32).to_vector<float>(), ElementsAre(0.5, 0));
    }
}

TEST(GradientDtypes, HaveNoIntegers)
{
    for (const DType t : {boolean, u8, i8, i16, i32, i64}) {
        const auto error = error_of([&] { return ones({2}, {.dtype = t}).requires_grad_(); });
        EXPECT_NE(error.text, Caught{}.text) << name_of(t);
        EXPECT_THAT(error.text, HasSubstr(name_of(t)));
    }
    Tensor x = ones({2}).requires_grad_();
    EXPECT_FALSE(cast(x, i32).requires_grad());
}

// A sum of many elements is not one of f16's numbers: it is rounded once, at the end.
TEST(HalfPrecision, AddsUpInF32)
{
    const Tensor x = full({100000}, 1, {.dtype = f16});
    EXPECT_EQ(mean(x).item<float>(), 1);
    EXPECT_EQ(sum(x.narrow(0, 0, 4096)).item<float>(), 4096); // beyond 2048 f16 can't add 1
    EXPECT_EQ(sum(full({1000}, 1, {.dtype = bf16})).item<float>(), 1000);
    EXPECT_EQ(norm(full({4}, 300, {.dtype = f16})).item<float>(), 600);
    EXPECT_EQ(matmul(full({1, 4096}, 1, {.dtype = f16}), full({4096, 1}, 1, {.dtype = f16})).item<float>(),
              4096);
}

} // namespace
