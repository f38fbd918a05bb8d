// Tensors on their way between devices.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <reprise/autograd.hpp>
#include <reprise/ops.hpp>
#include <reprise/program.hpp>

#include "shape/error_of.hpp"
#include "support/devices.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using test::floats;
using testing::ElementsAre;
using testing::HasSubstr;

struct ToDevice : testing::Test {
    Device here = default_device(), there = test::open(device::make_reference_device());
};

TEST_F(ToDevice, CopiesEveryDtype)
{
    const Tensor x =
        from_vector(std::vector<float>{0, 1, -2, 3, 0.5f, 7}, {2, 3}); // exact in all but integers
    for (const DType t : {f32, f16, bf16, i64, i32, i16, i8, u8, boolean}) {
        const Tensor own = transpose(cast(x, t), 0, 1), copy = own.to(there);
        EXPECT_EQ(copy.device(), there);
        EXPECT_EQ(copy.dtype(), t);
        EXPECT_EQ(floats(cast(copy, f32)), floats(cast(own, f32))) << name_of(t);
        EXPECT_EQ(floats(cast(copy.to(here), f32)), floats(cast(own, f32))) << name_of(t);
    }
    EXPECT_EQ(zeros({0, 3}).to(there).shape(), (Shape{0, 3}));
    EXPECT_EQ(x.to(here).cell(), x.cell()); // it is there
}

TEST_F(ToDevice, WithAnotherDtype)
{
    const Tensor x = from_vector({1.5f, -2});
    const Tensor wide = x.to(there, f64);
    EXPECT_EQ(wide.dtype(), f64);
    EXPECT_THAT(wide.to_vector<double>(), ElementsAre(1.5, -2));
    const Tensor back = wide.to(here, f32); // f64 need not be known here
    EXPECT_EQ(back.device(), here);
    EXPECT_THAT(floats(back), ElementsAre(1.5f, -2));
}

TEST_F(ToDevice, GradientsComeBack)
{
    Variable w(from_vector({1, 2, 3}));
    const Tensor moved = (w * w).to(there);
    EXPECT_TRUE(moved.requires_grad());
    EXPECT_EQ(moved.grad_fn().operation(), "to");
    sum(exp(moved * 0) * moved * moved).backward(); // w^4
    EXPECT_EQ(w.grad().device(), here);
    EXPECT_THAT(floats(w.grad()), ElementsAre(4, 32, 108));
    // there and back, twice differentiated
    const Tensor y = sum((w.to(there) * w.to(there)).to(here) * w);
    const Tensor g = grad(y, w, {.create_graph = true});
    EXPECT_THAT(floats(g), ElementsAre(3, 12, 27));
    EXPECT_THAT(floats(grad(sum(g), w)), ElementsAre(6, 12, 18));
    {
        const no_grad off;
        EXPECT_FALSE(w.to(there).requires_grad());
    }
    EXPECT_TRUE(Variable(w.detach(), false).to(there).is_leaf());
}

TEST_F(ToDevice, IsNeededForAGradientToStartFrom)
{
    const Variable w(from_vector({1, 2}));
    const Tensor y = w * w, dy = ones({2}, {.device = there});
    const Caught refused = error_of([&] { return y.backward(dy), 0; });
    EXPECT_EQ(refused.kind, ErrorKind::device);
    EXPECT_THAT(refused.text, HasSubstr("[backward]"));
    EXPECT_EQ(error_of([&] { return grad(y, w, {.cotangents = {dy}}); }).kind, ErrorKind::device);
    EXPECT_EQ(error_of([&] { return w.backward(dy), 0; }).kind, ErrorKind::device);
    y.backward(dy.to(here)); // nothing had happened
    EXPECT_THAT(floats(w.grad()), ElementsAre(2, 4));
}

TEST_F(ToDevice, IsRefusedInAProgram)
{
    const Caught caught =
        error_of([&] { return record([&](Tensor x) { return x.to(there); }, {spec({2})}); });
    EXPECT_EQ(caught.kind, ErrorKind::state);
    EXPECT_THAT(caught.text, HasSubstr("[to] A program runs on one device"));
    const auto same = record([&](Tensor x) { return x.to(here) * 2; }, {spec({2})});
    EXPECT_THAT(floats(same(ones({2}))), ElementsAre(2, 2));
}

} // namespace
} // namespace reprise
