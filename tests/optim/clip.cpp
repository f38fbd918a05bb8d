// Clipping of gradients: PyTorch's values, eager and recorded, after gradients of several calls were added up.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::ElementsAre;
using testing::FloatNear;
using testing::HasSubstr;
constexpr double infinity = std::numeric_limits<double>::infinity();

// Gradients (3, -4, 0) and ((1, -2), (0.5, 0.25)); the second of three parameters has none.
struct Gradients {
    Variable a{zeros({3})}, none{zeros({2})}, b{zeros({2, 2})};
    Gradients()
    {
        a.set_grad(from_vector({3.0f, -4.0f, 0.0f}));
        b.set_grad(from_vector(std::vector<float>{1, -2, 0.5f, 0.25f}, {2, 2}));
    }
    std::vector<Variable> all() const { return {a, none, b}; }
    std::vector<float> values() const
    {
        std::vector<float> v = a.grad().to_vector<float>();
        for (const float x : b.grad().to_vector<float>()) v.push_back(x);
        return v;
    }
};
const std::vector<double> before{3, -4, 0, 1, -2, 0.5, 0.25};

struct Norm {
    double p, total; // torch.nn.utils.clip_grad_norm_ of these gradients
};
const Norm norms[] = {{1, 10.75},
                      {2, 5.505678462982178},
                      {3, 4.643763542175293},
                      {0.5, 54.07207489013672},
                      {infinity, 4},
                      {-infinity, 0},
                      {0, 2}}; // of the norms 2 and 4, how many are not 0

TEST(ClipGradNorm, ScalesByPyTorchsNorms)
{
    for (const Norm& n : norms)
        for (const double max_norm : {1.5, 100.0}) {
            Gradients g;
            const Tensor total = optim::clip_grad_norm_(g.all(), max_norm, {.norm_type = n.p});
            EXPECT_EQ(total.dim(), 0);
            EXPECT_NEAR(total.item<float>(), n.total, 2e-6 * (1 + n.total)) << n.p;
            const double scale = std::min(1.0, max_norm / (n.total + 1e-6));
            const std::vector<float> found = g.values();
            for (std::size_t i = 0; i < before.size(); ++i)
                EXPECT_NEAR(found[i], before[i] * scale, 4e-6) << n.p << " " << i;
            EXPECT_FALSE(g.none.grad().defined());
        }
}

TEST(ClipGradNorm, OfNothingIsZero)
{
    Gradients g;
    EXPECT_EQ(optim::clip_grad_norm_({g.none}, 1).item<float>(), 0);
    EXPECT_EQ(optim::clip_grad_norm_({}, 1).item<float>(), 0);
}

TEST(ClipGradNorm, NotFinite)
{
    Gradients g;
    g.a.set_grad(from_vector({1.0f, std::numeric_limits<float>::infinity(), 2.0f}));
    const Caught caught =
        error_of([&] { return optim::clip_grad_norm_(g.all(), 1, {.error_if_nonfinite = true}); });
    EXPECT_EQ(caught.kind, ErrorKind::argument);
    EXPECT_THAT(caught.text, HasSubstr("[clip_grad_norm_] The norm of the gradients is (inf)"));
    EXPECT_EQ(g.values()[0], 1) << "nothing has changed";
    const Tensor total = optim::clip_grad_norm_(g.all(), 1); // as in PyTorch: 0 and NaN
    EXPECT_TRUE(std::isinf(total.item<float>()));
    EXPECT_EQ(g.values()[0], 0);
    EXPECT_TRUE(std::isnan(g.values()[1]));
}

TEST(ClipGradNorm, RefusesWhatIsNoNorm)
{
    Gradients g;
    EXPECT_THAT(error_of([&] { return optim::clip_grad_norm_(g.all(), -1); }).text,
                HasSubstr("max_norm (-1)"));
    EXPECT_THAT(error_of([&] { return optim::clip_grad_norm_(g.all(), 1, {.norm_type = NAN}); }).text,
                HasSubstr("norm_type (nan)"));
    EXPECT_THAT(error_of([&] { optim::clip_grad_value_(g.all(), -1); }).text, HasSubstr("clip_value (-1)"));
    const Caught recording = error_of([&] {
        return record(
            [&](Tensor) { return optim::clip_grad_norm_(g.all(), 1, {.error_if_nonfinite = true}); },
            {spec({1})});
    });
    EXPECT_EQ(recording.kind, ErrorKind::state);
    EXPECT_THAT(recording.text, HasSubstr("error_if_nonfinite"));
}

TEST(ClipGradValue, Clamps)
{
    Gradients g;
    optim::clip_grad_value_(g.all(), 0.75);
    EXPECT_THAT(g.values(), ElementsAre(0.75f, -0.75f, 0, 0.75f, -0.75f, 0.5f, 0.25f));
    EXPECT_FALSE(g.none.grad().defined());
}

// Forward, backward, clip and step as one program equal the same in eager code, bit for bit.
TEST(Clipping, WorksInPrograms)
{
    const auto train = [](bool recorded) {
        Variable w(from_vector(std::vector<float>{1, 2, -3, 4, 0.5f, -1}, {2, 3})),
            c(from_vector({0.5f, -0.5f}));
        optim::SGD optimizer({w, c}, {.lr = 0.1, .momentum = 0.9});
        const auto step = [&](Tensor x) {
            optimizer.zero_grad();
            const Tensor y = linear(x, w, c);
            sum(y * y).backward();
            const Tensor total = optim::clip_grad_norm_(optimizer.parameters(), 0.6);
            optim::clip_grad_value_(optimizer.parameters(), 0.3);
            optimizer.step();
            return total;
        };
        const Dim n = symbol("n");
        Program program;
        if (recorded) program = record(step, {spec({n, 3})});
        std::vector<float> seen;
        for (const std::int64_t rows : {2, 5, 3}) {
            const Tensor x = reshape(cast(arange(3 * rows), f32), {rows, 3}) * 0.1;
            seen.push_back((recorded ? program(x) : step(x)).item<float>());
        }
        for (const float v : w.to_vector<float>()) seen.push_back(v);
        for (const float v : c.to_vector<float>()) seen.push_back(v);
        return seen;
    };
    const std::vector<float> eager = train(false);
    EXPECT_GT(eager[0], 0.6) << "else nothing is clipped";
    EXPECT_EQ(train(true), eager);
}

// Gradients of several calls of one program, clipped and used by another.
TEST(Clipping, TakesWhatWasAddedUp)
{
    Variable w(from_vector({1.0f, -2.0f, 3.0f}));
    optim::SGD optimizer({w}, {.lr = 1});
    const Program backward = record([&](Tensor x) { sum(w * x).backward(); }, {spec({3})});
    const Tensor x = from_vector({3.0f, 0.0f, 4.0f});
    backward.call({x}); // makes the gradient
    backward.call({x});
    const Program update = record(
        [&](Tensor) {
            const Tensor total = optim::clip_grad_norm_(optimizer.parameters(), 5);
            optimizer.step();
            optimizer.zero_grad();
            return total;
        },
        {spec({1})});
    EXPECT_FLOAT_EQ(update(zeros({1})).item<float>(), 10);
    EXPECT_THAT(w.to_vector<float>(), ElementsAre(FloatNear(-2, 1e-5f), -2, FloatNear(-1, 1e-5f)));
    for (int i = 0; i < 3; ++i) backward.call({x});
    EXPECT_FLOAT_EQ(update(zeros({1})).item<float>(), 15);
    EXPECT_THAT(w.to_vector<float>(), ElementsAre(FloatNear(-5, 2e-5f), -2, FloatNear(-5, 2e-5f)));
}

} // namespace
