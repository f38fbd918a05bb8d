// Each optimizer against PyTorch's: 20 steps on the problem of scripts/make_optimizer_fixture.py.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>

#include <reprise/reprise.hpp>

namespace {

using namespace reprise;
using Parameters = std::vector<Variable>;
using Make = std::function<std::unique_ptr<optim::Optimizer>(const Parameters&)>;

const std::map<std::string, std::vector<double>>& expected()
{
    static const std::map<std::string, std::vector<double>> rows{
#include "optim/pytorch.inc"
    };
    return rows;
}
constexpr int after[] = {1, 2, 5, 10, 20};

template <class Optimizer, class Options> Make one_group(Options o)
{
    return [o](const Parameters& p) { return std::make_unique<Optimizer>(p, o); };
}
template <class Optimizer, class Options> Make two_groups(Options first, Options second)
{
    return [=](const Parameters& p) {
        auto optimizer = std::make_unique<Optimizer>(Parameters{p[0], p[1]}, first);
        optimizer->add_param_group({p[2]}, second);
        return optimizer;
    };
}

Make sgd(const optim::SGD::Options& o) { return one_group<optim::SGD>(o); }
Make adam(const optim::Adam::Options& o) { return one_group<optim::Adam>(o); }
Make adamw(const optim::AdamW::Options& o) { return one_group<optim::AdamW>(o); }
Make rmsprop(const optim::RMSprop::Options& o) { return one_group<optim::RMSprop>(o); }
Make adagrad(const optim::Adagrad::Options& o) { return one_group<optim::Adagrad>(o); }
Make adadelta(const optim::Adadelta::Options& o) { return one_group<optim::Adadelta>(o); }
Make adamax(const optim::Adamax::Options& o) { return one_group<optim::Adamax>(o); }
Make nadam(const optim::NAdam::Options& o) { return one_group<optim::NAdam>(o); }
Make radam(const optim::RAdam::Options& o) { return one_group<optim::RAdam>(o); }
Make lion(const optim::Lion::Options& o) { return one_group<optim::Lion>(o); }

const std::map<std::string, Make>& optimizers()
{
    static const std::map<std::string, Make> all{
        {"sgd", sgd({.lr = 0.1})},
        {"sgd decay", sgd({.lr = 0.1, .weight_decay = 0.05})},
        {"sgd momentum", sgd({.lr = 0.05, .momentum = 0.9})},
        {"sgd dampening", sgd({.lr = 0.05, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.01})},
        {"sgd nesterov", sgd({.lr = 0.05, .momentum = 0.8, .weight_decay = 0.02, .nesterov = true})},
        {"sgd maximize", sgd({.lr = 0.02, .momentum = 0.5, .maximize = true})},
        {"adam", adam({.lr = 0.05})},
        {"adam betas", adam({.lr = 0.05, .betas = {0.4, 0.8}, .eps = 1e-4})},
        {"adam decay", adam({.lr = 0.05, .weight_decay = 0.1})},
        {"adam amsgrad", adam({.lr = 0.05, .betas = {0.8, 0.7}, .amsgrad = true})},
        {"adam maximize", adam({.lr = 0.05, .maximize = true})},
        {"adamw", adamw({.lr = 0.05})},
        {"adamw decay", adamw({.lr = 0.05, .weight_decay = 0.3})},
        {"adamw amsgrad", adamw({.lr = 0.05, .betas = {0.8, 0.7}, .amsgrad = true, .maximize = true})},
        {"rmsprop", rmsprop({})},
        {"rmsprop decay", rmsprop({.lr = 0.02, .alpha = 0.9, .eps = 1e-3, .weight_decay = 0.1})},
        {"rmsprop momentum", rmsprop({.lr = 0.005, .alpha = 0.9, .momentum = 0.7})},
        {"rmsprop centered", rmsprop({.lr = 0.02, .alpha = 0.9, .eps = 0.1, .centered = true})},
        {"rmsprop centered momentum", rmsprop({.lr = 0.02,
                                               .alpha = 0.95,
                                               .eps = 0.1,
                                               .weight_decay = 0.05,
                                               .momentum = 0.6,
                                               .centered = true})},
        {"rmsprop maximize", rmsprop({.lr = 0.02, .maximize = true})},
        {"adagrad", adagrad({})},
        {"adagrad decay", adagrad({.lr = 0.3, .lr_decay = 0.1, .weight_decay = 0.05})},
        {"adagrad initial", adagrad({.lr = 0.3, .initial_accumulator_value = 0.5, .eps = 1e-3})},
        {"adagrad maximize", adagrad({.lr = 0.1, .maximize = true})},
        {"lion", lion({.lr = 0.03})},
        {"lion decay", lion({.lr = 0.03, .betas = {0.8, 0.9}, .weight_decay = 0.2})},
        {"lion maximize", lion({.lr = 0.03, .maximize = true})},
        {"adadelta", adadelta({})},
        {"adadelta decay", adadelta({.lr = 0.5, .rho = 0.8, .eps = 1e-3, .weight_decay = 0.1})},
        {"adadelta maximize", adadelta({.lr = 2, .eps = 1e-4, .maximize = true})},
        {"adamax", adamax({.lr = 0.05})},
        {"adamax decay", adamax({.lr = 0.05, .betas = {0.6, 0.9}, .eps = 1e-3, .weight_decay = 0.1})},
        {"adamax maximize", adamax({.maximize = true})},
        {"nadam", nadam({.lr = 0.05})},
        {"nadam decay",
         nadam({.lr = 0.05, .betas = {0.6, 0.9}, .eps = 1e-3, .weight_decay = 0.1, .momentum_decay = 0.1})},
        {"nadam decoupled",
         nadam({.lr = 0.05, .weight_decay = 0.1, .decoupled_weight_decay = true, .maximize = true})},
        {"radam", radam({.lr = 0.05})},
        {"radam decay", radam({.lr = 0.05, .betas = {0.6, 0.9}, .eps = 1e-3, .weight_decay = 0.1})},
        {"radam decoupled",
         radam({.lr = 0.05, .weight_decay = 0.1, .decoupled_weight_decay = true, .maximize = true})},
        {"sgd groups", two_groups<optim::SGD, optim::SGD::Options>(
                           {.lr = 0.05, .momentum = 0.9}, {.lr = 0.1, .momentum = 0.9, .weight_decay = 0.3})},
        {"adam groups", two_groups<optim::Adam, optim::Adam::Options>(
                            {.lr = 0.05}, {.lr = 0.1, .betas = {0.4, 0.8}, .weight_decay = 0.3})},
        {"adamw groups",
         two_groups<optim::AdamW, optim::AdamW::Options>({.lr = 0.05}, {.lr = 0.1, .weight_decay = 0})},
    };
    return all;
}

struct Problem {
    Parameters p{Variable(from_vector({1.0f, -2.0f})), Variable(from_vector({0.5f, 3.0f})),
                 Variable(from_vector({-0.25f, 0.0f}))};
    std::unique_ptr<optim::Optimizer> optimizer;

    explicit Problem(const Make& make) : optimizer(make(p)) {}
    void step(const Tensor& a, const Tensor& b)
    {
        const Tensor all = cat({p[0], p[1], p[2]});
        optimizer->zero_grad();
        sum(a * all * all / 2 - b * all).backward();
        optimizer->step();
    }
    std::vector<float> values() const { return cat({p[0], p[1], p[2]}).to_vector<float>(); }
};

Tensor a() { return from_vector({1.0f, 0.5f, 2.0f, 0.25f, 4.0f, 1.0f}); }
Tensor b() { return from_vector({0.5f, 1.0f, -1.0f, 2.0f, 0.25f, -0.75f}); }

struct Trajectory : testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(PyTorch, Trajectory, testing::ValuesIn([] {
                             std::vector<std::string> names;
                             for (const auto& [name, make] : optimizers()) names.push_back(name);
                             return names;
                         }()),
                         [](const auto& test) {
                             std::string name = test.param;
                             std::replace(name.begin(), name.end(), ' ', '_');
                             return name;
                         });

TEST_P(Trajectory, IsFollowedEagerAndRecorded)
{
    const std::vector<double>& want = expected().at(GetParam());
    Problem eager(optimizers().at(GetParam())), recorded(optimizers().at(GetParam()));
    const Program program = record([&](Tensor x, Tensor y) { recorded.step(x, y); }, {spec({6}), spec({6})});
    const Tensor x = a(), y = b();
    int done = 0;
    for (std::size_t k = 0; k < std::size(after); ++k) {
        for (; done < after[k]; ++done) {
            eager.step(x, y);
            program.call({x, y});
        }
        const std::vector<float> found = eager.values();
        for (std::size_t i = 0; i < 6; ++i)
            EXPECT_NEAR(found[i], want[6 * k + i], 2e-6 * std::max(1.0, std::abs(want[6 * k + i])))
                << "parameter " << i << " after " << done;
        EXPECT_EQ(recorded.values(), found) << "recorded, after " << done;
    }
}

TEST(Trajectories, AreAllOfPyTorchsRows)
{
    for (const auto& row : expected()) EXPECT_TRUE(optimizers().contains(row.first)) << row.first;
    EXPECT_EQ(expected().size(), optimizers().size());
}

} // namespace
