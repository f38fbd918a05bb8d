// L-BFGS against PyTorch's, on Rosenbrock's function (scripts/make_optimizer_fixture.py).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"

namespace {

using namespace reprise;
using testing::HasSubstr;

const std::map<std::string, std::vector<double>>& expected()
{
    static const std::map<std::string, std::vector<double>> rows{
#include "optim/lbfgs.inc"
    };
    return rows;
}

const std::map<std::string, optim::LBFGS::Options>& options()
{
    static const std::map<std::string, optim::LBFGS::Options> all{
        {"plain", {.lr = 1e-3}},
        {"one iteration", {.lr = 5e-3, .max_iter = 1}},
        {"strong wolfe", {.line_search_fn = "strong_wolfe"}},
        {"few evaluations", {.max_eval = 5, .line_search_fn = "strong_wolfe"}},
        {"short history", {.max_iter = 6, .history_size = 2, .line_search_fn = "strong_wolfe"}},
        {"long steps", {.lr = 30, .max_iter = 4, .line_search_fn = "strong_wolfe"}},
        {"short steps", {.lr = 1e-4, .max_iter = 4, .line_search_fn = "strong_wolfe"}},
    };
    return all;
}

struct Problem {
    std::vector<Variable> p;
    explicit Problem(const CreationOptions& o)
    {
        for (const std::vector<float>& v : {std::vector<float>{1, -2}, {0.5, 3}, {-0.25, 0}})
            p.emplace_back(cast(from_vector(v, {2}, {.device = o.device}), o.dtype_or(f32)));
    }
    Tensor all() const { return cat({p[0], p[1], p[2]}); }
    Tensor loss() const
    {
        const Tensor x = all(), first = narrow(x, 0, 0, 5), next = narrow(x, 0, 1, 5);
        const Tensor valley = next - first * first, rest = 1 - first;
        return sum(valley * valley * 100 + rest * rest);
    }
    Tensor step(optim::LBFGS& o) const
    {
        return o.step([&] {
            o.zero_grad();
            const Tensor l = loss();
            l.backward();
            return l;
        });
    }
};

struct LBFGSPath : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(PyTorch, LBFGSPath, testing::ValuesIn([] {
                             std::vector<std::string> names;
                             for (const auto& row : options()) names.push_back(row.first);
                             return names;
                         }()),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

TEST_P(LBFGSPath, IsFollowedInDouble)
{
    const Problem problem({.dtype = f64, .device = Device("reference")});
    optim::LBFGS optimizer(problem.p, options().at(GetParam()));
    const std::vector<double>& want = expected().at(GetParam());
    for (std::size_t step = 0; step < 5; ++step) {
        const double* row = want.data() + 7 * step;
        EXPECT_NEAR(problem.step(optimizer).item<double>(), row[0], 1e-6 * (1 + row[0])) << step;
        const auto found = problem.all().to_vector<double>();
        for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(found[i], row[1 + i], 1e-6) << step << ", " << i;
    }
}

TEST(LBFGSPaths, AreAllOfPyTorchs) { EXPECT_EQ(expected().size(), options().size()); }

TEST(LBFGS, FindsTheMinimum)
{
    const Problem problem({});
    optim::LBFGS optimizer(problem.p, {.max_iter = 100, .line_search_fn = "strong_wolfe"});
    for (int i = 0; i < 3; ++i) problem.step(optimizer);
    EXPECT_LT(problem.loss().item<float>(), 5); // a local minimum is at 3.97
    optimizer.zero_grad();
    problem.loss().backward();
    for (const Variable& p : problem.p)
        for (const float g : p.grad().to_vector<float>()) EXPECT_NEAR(g, 0, 0.05);
}

TEST(LBFGS, TakesParametersWithoutAGradient)
{
    Variable used(from_vector({3.0f})), unused(from_vector({5.0f, 6.0f}));
    optim::LBFGS optimizer({unused, used});
    for (int i = 0; i < 3; ++i)
        optimizer.step([&] {
            optimizer.zero_grad();
            const Tensor loss = sum((used - 1) * (used - 1));
            loss.backward();
            return loss;
        });
    EXPECT_NEAR(used.item<float>(), 1, 1e-5);
    EXPECT_EQ(unused.to_vector<float>(), (std::vector<float>{5, 6}));
    EXPECT_EQ(optimizer.get_lr(), 1);
    optimizer.set_lr(0.5);
    EXPECT_EQ(optimizer.get_lr(), 0.5);
}

TEST(LBFGS, RefusesWhatDoesNotFit)
{
    const Variable p(from_vector({1.0f})), half(zeros({1}, {.dtype = f16}));
    const auto refused = [](const auto& f) {
        const Caught caught = error_of(f);
        EXPECT_EQ(caught.kind, ErrorKind::argument);
        return caught.text;
    };
    EXPECT_THAT(refused([&] { optim::LBFGS(std::vector<Variable>{}); }), HasSubstr("no parameters"));
    EXPECT_THAT(refused([&] { optim::LBFGS({Variable(ones({1}), false)}); }), HasSubstr("can't optimize"));
    EXPECT_THAT(refused([&] { optim::LBFGS({p, half}); }), HasSubstr("of one dtype and device"));
    EXPECT_THAT(refused([&] { optim::LBFGS({p}, {.lr = -1}); }), HasSubstr("The lr (-1)"));
    EXPECT_THAT(refused([&] { optim::LBFGS({p}, {.max_iter = 0}); }), HasSubstr("(0) of iterations"));
    EXPECT_THAT(refused([&] { optim::LBFGS({p}, {.line_search_fn = "armijo"}); }), HasSubstr("(armijo)"));
    optim::LBFGS optimizer({p});
    EXPECT_THAT(refused([&] { optimizer.step(nullptr); }), HasSubstr("null function"));
    EXPECT_THAT(refused([&] { optimizer.set_lr(-1); }), HasSubstr("(-1)"));
    EXPECT_EQ(error_of([&] {
                  record(
                      [&](Tensor x) {
                          optimizer.step([&] { return sum(x); });
                          return x;
                      },
                      {spec({1})});
              }).kind,
              ErrorKind::state);
}

} // namespace
