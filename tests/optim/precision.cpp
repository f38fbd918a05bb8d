// The option `precision` of optimizers: master weights, the state in each format, groups, training and errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"
#include "testing/values.hpp"

namespace reprise {
namespace {

using optim::MomentFormat;
using optim::Optimizer;
using optim::Precision;
using testing::HasSubstr;

// ---- optimizers ----

template <class O>
std::function<std::unique_ptr<Optimizer>(const Parameters&, const Precision&)> with(typename O::Options o)
{
    return [o](const Parameters& p, const Precision& precision) mutable {
        o.precision = precision;
        return std::make_unique<O>(p, o);
    };
}
using Make = std::function<std::unique_ptr<Optimizer>(const Parameters&, const Precision&)>;
const std::map<std::string, Make>& optimizers()
{
    static const std::map<std::string, Make> all{
        {"SGD", with<optim::SGD>({.lr = 0.01, .momentum = 0.9, .weight_decay = 0.1})},
        {"SGD_plain", with<optim::SGD>({.lr = 0.01})},
        {"Adam", with<optim::Adam>({.lr = 0.01, .amsgrad = true})},
        {"AdamW", with<optim::AdamW>({.lr = 0.01})},
        {"RMSprop", with<optim::RMSprop>({.lr = 0.001, .momentum = 0.5})},
        {"Adagrad", with<optim::Adagrad>({.lr = 0.03})},
        {"Lion", with<optim::Lion>({.lr = 0.001})},
        {"NAdam", with<optim::NAdam>({.lr = 0.01})},
        {"RAdam", with<optim::RAdam>({.lr = 0.01})},
        {"Adamax", with<optim::Adamax>({.lr = 0.01})},
        {"Adadelta", with<optim::Adadelta>({.lr = 0.5})},
    };
    return all;
}
class EachOptimizer : public testing::TestWithParam<std::string> {
protected:
    static std::unique_ptr<Optimizer> make(const Parameters& p, const Precision& precision)
    {
        return optimizers().at(GetParam())(p, precision);
    }
    static bool in_kernels() // whether it has stochastic rounding and 8 bits
    {
        for (const char* name : {"NAdam", "RAdam", "Adamax", "Adadelta"})
            if (GetParam() == name) return false;
        return true;
    }
};
std::vector<std::string> names()
{
    std::vector<std::string> out;
    for (const auto& [name, make] : optimizers()) out.push_back(name);
    return out;
}
INSTANTIATE_TEST_SUITE_P(Optimizers, EachOptimizer, testing::ValuesIn(names()),
                         [](const auto& test) { return test.param; });

Tensor gradient_of(std::uint32_t step, std::int64_t n, DType t)
{
    return cast(from_vector(test::floats(static_cast<std::size_t>(n), 100 + step, -1, 1)), t);
}

// Steps with a master copy are those of f32, rounded; also after the parameter was assigned.
TEST_P(EachOptimizer, MasterWeightsAreThoseOfF32)
{
    constexpr std::int64_t n = 300;
    for (const DType t : {bf16, f16})
        for (const bool recorded : {false, true}) {
            const Tensor start = cast(from_vector(test::floats(n, 1, -1, 1)), t);
            Variable low(start), full_precision(cast(start, f32));
            const auto of_low = make({low}, {.master_weights = true}), of_f32 = make({full_precision}, {});
            const auto steps = [&](Tensor g) {
                low.set_grad(g);
                full_precision.set_grad(cast(g, f32));
                of_low->step();
                of_f32->step();
                return g * 1;
            };
            std::optional<Program> program;
            if (recorded) program = record(steps, {spec({symbol("n")}, t)});
            for (std::uint32_t step = 0; step < 6; ++step) {
                if (step == 4) { // elements are assigned
                    const Tensor changed =
                        cat({low.detach().slice(0, 0, 250), full({50}, 0.25, {.dtype = t})});
                    const Tensor f32_changed =
                        cat({full_precision.detach().slice(0, 0, 250), full({50}, 0.25)});
                    eval({changed, f32_changed});
                    low.assign(changed);
                    full_precision.assign(f32_changed);
                }
                const Tensor g = gradient_of(step, n, t);
                if (program) static_cast<void>((*program)(g));
                else steps(g);
                EXPECT_EQ(low.dtype(), t);
                EXPECT_EQ(low.to_vector<float>(), cast(full_precision, t).to_vector<float>()) << step;
            }
            const optim::StateDict state = of_low->state_dict();
            EXPECT_EQ(state.at("0.master_param").to_vector<float>(), full_precision.to_vector<float>());
            for (const auto& [name, value] : state)
                if (name.starts_with("0.") && name != "0.step") {
                    EXPECT_EQ(value.dtype(), f32) << name;
                }
        }
}

// The state in each form can be saved, and another optimizer goes on with it.
TEST_P(EachOptimizer, StateInAnyFormResumes)
{
    constexpr std::int64_t n = 300;
    for (const MomentFormat format : {MomentFormat::f32, MomentFormat::bf16, MomentFormat::eight_bit})
        for (const bool master : {false, true}) {
            if (format == MomentFormat::eight_bit && !in_kernels()) continue;
            const Precision precision{.master_weights = master, .moments = format};
            Variable p(cast(from_vector(test::floats(n, 1, -1, 1)), bf16)), q(p.detach());
            const auto first = make({p}, precision);
            const auto step = [&](Variable& v, Optimizer& o, std::uint32_t k) {
                v.set_grad(gradient_of(k, n, bf16));
                o.step();
            };
            for (std::uint32_t k = 0; k < 3; ++k) step(p, *first, k);
            q.assign(p.detach());
            const auto second = make({q}, precision);
            second->load_state_dict(first->state_dict());
            for (std::uint32_t k = 3; k < 6; ++k) {
                step(p, *first, k);
                step(q, *second, k);
            }
            EXPECT_EQ(p.to_vector<float>(), q.to_vector<float>());
            const DType want = format == MomentFormat::f32 ? f32 : format == MomentFormat::bf16 ? bf16 : u8;
            for (const auto& [name, value] : first->state_dict())
                if (name.starts_with("0.") && name != "0.step" && name != "0.master_param" &&
                    name != "0.mu_product") {
                    EXPECT_EQ(value.dtype(), want) << name;
                }
            if (GetParam() == "SGD_plain" || format == MomentFormat::f32) continue;
            const auto other = make({q}, {.master_weights = master, .moments = MomentFormat::f32});
            EXPECT_THROW(other->load_state_dict(first->state_dict()), Error);
        }
}

// A step that the device skips leaves every bit as it is.
TEST_P(EachOptimizer, SkippedStepsLeaveEveryBit)
{
    constexpr std::int64_t n = 700;
    for (const MomentFormat format : {MomentFormat::bf16, MomentFormat::eight_bit})
        for (const bool master : {false, true}) {
            if (format == MomentFormat::eight_bit && !in_kernels()) continue;
            Variable p(cast(from_vector(test::floats(n, 1, -1, 1)), bf16));
            const auto o =
                make({p}, {.master_weights = master, .stochastic_rounding = in_kernels(), .moments = format});
            const auto step = [&](float skip) {
                p.set_grad(gradient_of(1, n, bf16));
                o->step_unless(full({}, skip));
            };
            step(0);
            p.assign(cast(from_vector(test::floats(n, 2, -1, 1)), bf16)); // also where it was assigned
            const std::vector<float> before = p.to_vector<float>();
            const optim::StateDict state = o->state_dict();
            step(1);
            EXPECT_EQ(p.to_vector<float>(), before);
            for (const auto& [name, value] : o->state_dict())
                EXPECT_EQ(to_bytes(value), to_bytes(state.at(name))) << name;
            step(0);
            EXPECT_NE(p.to_vector<float>(), before);
        }
}

TEST_P(EachOptimizer, RefusesWhatItCannotDo)
{
    Variable p(ones({3}, {.dtype = bf16}));
    for (const Precision& precision :
         {Precision{.stochastic_rounding = true}, Precision{.moments = MomentFormat::eight_bit}}) {
        if (in_kernels()) EXPECT_NO_THROW(make({p}, precision));
        else
            EXPECT_THAT(error_of([&] { make({p}, precision); }).text,
                        HasSubstr("has neither stochastic rounding nor moments in 8 bits"));
    }
}

TEST(MasterWeights, KnowWhatWasAssigned)
{
    constexpr float inf = std::numeric_limits<float>::infinity();
    Variable p(ones({4}, {.dtype = f16}));
    optim::SGD sgd({p}, {.lr = 1, .precision = {.master_weights = true}});
    const auto step = [&](const std::vector<float>& g) {
        p.set_grad(cast(from_vector(g), f16));
        sgd.step();
        return sgd.state_dict().at("0.master_param").to_vector<float>();
    };
    for (const float g : {-65504.0F, -4496.0F}) step({0, 0, 0, g});
    EXPECT_EQ(p.to_vector<float>()[3], inf); // 1 + 70000
    EXPECT_EQ(step({0, 0, 0, 0})[3], 70001);
    p.assign(cast(from_vector(std::vector<float>{NAN, 0, 1, -inf}), f16));
    const std::vector<float> master = step({0, 0, 0x1p-20F, 0});
    EXPECT_TRUE(std::isnan(master[0]));
    EXPECT_EQ(master[1], 0);
    EXPECT_EQ(master[2], 1 - 0x1p-20F);
    EXPECT_EQ(master[3], -inf);
    EXPECT_EQ(p.to_vector<float>()[2], 1); // to the nearest
}

TEST(MasterWeights, AParameterOfAnotherDtype)
{
    nn::Linear net(3, 2);
    net->to(bf16);
    optim::SGD sgd(net->parameters(), {.lr = 0.1, .momentum = 0.9, .precision = {.master_weights = true}});
    const auto step = [&](DType t) {
        for (Variable& v : net->parameters()) v.set_grad(ones(v.shape(), {.dtype = t}));
        sgd.step();
    };
    step(bf16);
    net->to(f16); // takes its numbers over
    step(f16);
    net->to(f32);
    EXPECT_THAT(error_of([&] { step(f32); }).text, HasSubstr("give one of f16 or bf16 and one of f32"));
    EXPECT_EQ(sgd.state_dict().count("0.master_param"), 1u);
    // Without a copy, moments stay what they were.
    optim::SGD plain(net->parameters(), {.lr = 0.1, .momentum = 0.9, .precision = {.master_weights = true}});
    for (Variable& v : net->parameters()) v.set_grad(ones(v.shape()));
    plain.step();
    net->to(bf16);
    for (Variable& v : net->parameters()) v.set_grad(ones(v.shape(), {.dtype = bf16}));
    plain.step();
    plain.load_state_dict(plain.state_dict());
    EXPECT_EQ(plain.state_dict().at("0.momentum_buffer").dtype(), f32);
    EXPECT_NEAR(plain.state_dict().at("0.momentum_buffer").to_vector<float>()[0], 1.9, 1e-6);
}

TEST(MasterWeights, StateWithoutThemLoads)
{
    Variable p(ones({3}, {.dtype = bf16})), q(ones({3}, {.dtype = bf16}));
    optim::SGD without({p}, {.lr = 1, .momentum = 0.5, .precision = {.moments = MomentFormat::f32}});
    p.set_grad(ones({3}, {.dtype = bf16}));
    without.step();
    optim::SGD with({q}, {.lr = 1, .momentum = 0.5, .precision = {.master_weights = true}});
    with.load_state_dict(without.state_dict());
    q.set_grad(zeros({3}, {.dtype = bf16}));
    with.step();
    EXPECT_EQ(q.to_vector<float>(), std::vector<float>(3, 0.5F)); // 1 - 0.5 * 1
}

// Its variance is a difference of averages.
TEST(LowPrecision, CenteredRmspropHasMomentsOfF32)
{
    Variable p(ones({5}, {.dtype = bf16}));
    optim::RMSprop o(
        {p}, {.lr = 1e-3, .momentum = 0.5, .centered = true, .precision = {.stochastic_rounding = true}});
    for (int step = 0; step < 400; ++step) {
        p.set_grad(cast(from_vector(std::vector<float>{1, 0.3F, -0.7F, 1e-3F, 0}), bf16));
        o.step();
    }
    for (const float v : p.to_vector<float>()) EXPECT_TRUE(std::isfinite(v));
    for (const char* name : {"0.square_avg", "0.grad_avg", "0.momentum_buffer"})
        EXPECT_EQ(o.state_dict().at(name).dtype(), f32) << name;
}

TEST(MasterWeights, WithAGradScaler)
{
    Variable p(ones({3}, {.dtype = bf16}));
    optim::SGD sgd({p}, {.lr = 0x1p-10, .precision = {.master_weights = true}});
    GradScaler scaler({.init_scale = 4});
    for (const float g : {1.0F, NAN, 1.0F}) {
        sgd.zero_grad();
        scaler.scale(sum(cast(p, f32)) * g).backward();
        scaler.step(sgd);
        scaler.update();
    }
    EXPECT_EQ(sgd.state_dict().at("0.master_param").to_vector<float>(), std::vector<float>(3, 1 - 0x1p-9F));
    EXPECT_EQ(p.to_vector<float>(), std::vector<float>(3, 1)); // half a unit below, to even
}

// A group of parameters with and without a master copy, of all sizes, one of them empty; a second group in f32; eager
// and recorded, with a state that is loaded while the program exists.
TEST(LowPrecision, GroupsOfAllKinds)
{
    const std::vector<std::pair<Shape, DType>> kinds{{{300}, bf16}, {{7, 3}, f32}, {{0}, bf16},
                                                     {{5000}, f32}, {{257}, f16},  {{11}, bf16}};
    const auto run = [&](bool recorded) {
        std::vector<Variable> all;
        for (std::uint32_t i = 0; i < kinds.size(); ++i) {
            const auto& [shape, dtype] = kinds[i];
            const auto count =
                static_cast<std::size_t>(dtype == f32 && shape.size() == 2 ? 21 : shape[0].value());
            all.emplace_back(cast(from_vector(test::floats(count, i, -1, 1), shape), dtype));
        }
        optim::AdamW o(
            std::vector<Variable>(all.begin(), all.end() - 1),
            {.lr = 0.01, .precision = {.master_weights = true, .moments = MomentFormat::eight_bit}});
        o.add_param_group({all.back()}, {.lr = 0.01});
        const auto step = [&](Tensor x) {
            for (Variable& v : all) v.set_grad(cast(sin(cast(v.detach(), f32) * 3 + x), v.dtype()));
            o.step();
            return x * 1;
        };
        std::optional<Program> program;
        if (recorded) program = record(step, {spec({})});
        optim::StateDict saved;
        std::vector<Tensor> parameters;
        for (int k = 0; k < 6; ++k) {
            const Tensor x = full({}, 0.1 * k);
            if (program) static_cast<void>((*program)(x));
            else step(x);
            if (k == 2) {
                for (const auto& [name, value] : o.state_dict())
                    saved.emplace(name, from_bytes(to_bytes(value), value.shape(), {.dtype = value.dtype()}));
                for (const Variable& v : all)
                    parameters.push_back(from_bytes(to_bytes(v), v.shape(), {.dtype = v.dtype()}));
            }
            if (k == 4) { // back to step 2
                o.load_state_dict(saved);
                for (std::size_t i = 0; i < all.size(); ++i) all[i].assign(parameters[i]);
            }
        }
        std::vector<std::vector<std::byte>> bytes;
        for (const Variable& v : all) bytes.push_back(to_bytes(v));
        for (const auto& [name, value] : o.state_dict()) bytes.push_back(to_bytes(value));
        EXPECT_EQ(o.state_dict().at("5.exp_avg").dtype(), bf16);
        EXPECT_EQ(o.state_dict().count("5.master_param"), 0u);
        EXPECT_EQ(o.state_dict().count("4.master_param"), 1u);
        return bytes;
    };
    EXPECT_EQ(run(false), run(true));
}

// ---- training ----

// The mean loss of the last of 300 steps of a small net with these parameters and this optimizer.
double loss_of(DType dtype, const Precision& precision)
{
    manual_seed(1);
    const auto parameter = [&](const Shape& shape, double scale) {
        return Variable(cast(randn(shape) * scale, dtype));
    };
    Variable w1 = parameter({8, 32}, 0.35), b1 = parameter({32}, 0), w2 = parameter({32, 1}, 0.17);
    optim::AdamW o({w1, b1, w2}, {.lr = 2e-3, .precision = precision});
    const Tensor x = randn({256, 8}), y = tanh(sum(x, {1}, true) * 0.5);
    const auto wide = [](const Variable& v) { return cast(v, f32); };
    double last = 0;
    for (int step = 0; step < 300; ++step) {
        o.zero_grad();
        const Tensor loss = mse_loss(matmul(tanh(matmul(x, wide(w1)) + wide(b1)), wide(w2)), y);
        loss.backward();
        o.step();
        if (step >= 280) last += loss.item<float>() / 20;
    }
    return last;
}

TEST(LowPrecision, TrainsAsF32Does)
{
    const double want = loss_of(f32, {});
    EXPECT_NEAR(loss_of(f32, {.moments = MomentFormat::eight_bit}), want, 0.1 * want);
    EXPECT_NEAR(loss_of(f32, {.stochastic_rounding = true, .moments = MomentFormat::bf16}), want, 0.1 * want);
    EXPECT_NEAR(loss_of(bf16, {.master_weights = true}), want, 0.1 * want);
    const double stochastic = loss_of(bf16, {.stochastic_rounding = true}), plain = loss_of(bf16, {});
    EXPECT_LT(stochastic, 2 * want);
    EXPECT_GT(plain, 1.5 * stochastic); // the moving average of squares stays where it is
}

// ---- errors ----

TEST(LowPrecision, BadArgumentsAreRefused)
{
    Variable p(ones({3}));
    EXPECT_THAT(error_of([&] {
                    optim::Adagrad({p}, {.initial_accumulator_value = 0.1,
                                         .precision = {.moments = MomentFormat::eight_bit}});
                }).text,
                HasSubstr("[Adagrad] The initial_accumulator_value (0.1) must be 0 for moments in 8 bits"));
    EXPECT_THAT(error_of([&] {
                    optim::RMSprop({p}, {.centered = true, .precision = {.moments = MomentFormat::bf16}});
                }).text,
                HasSubstr("[RMSprop] With `centered` the moments need the format f32"));
    const auto text = [](const std::function<void()>& f) { return error_of(f).text; };
    const Tensor one = ones({3}), blocks = eight_bit_moment({3}, default_device());
    EXPECT_THAT(text([&] { sgd_step(one, one, {zeros({3}, {.dtype = u8})}, {.lr = 1.0}); }),
                HasSubstr("[sgd_step] The momentum_buffer is u8[3] but the param is f32[3]: give a result of "
                          "eight_bit_moment()."));
    EXPECT_THAT(text([&] {
                    adam_step(one, one, {blocks, one}, {.step_size = 1.0});
                }),
                HasSubstr("[adam_step] The exp_avg_sq is f32 but the exp_avg is u8: both must be alike."));
    EXPECT_THAT(
        text([&] {
            sgd_step({{one, one, {}, one}}, {.lr = 1.0});
        }),
        HasSubstr("[sgd_step] The parameter is f32[3] but its master copy is f32[3]: give one of f16 or "
                  "bf16 and one of f32."));
    EXPECT_THAT(text([&] {
                    sgd_step({{one, one, {}, cast(one, f16)}, {one, one}}, {.lr = 1.0});
                }),
                HasSubstr("[sgd_step] One parameter has a master copy, another has none"));
    optim::SGD sgd({p}, {.lr = 1});
    EXPECT_THAT(text([&] {
                    static_cast<optim::SGDOptions&>(sgd.param_groups()[0].options())
                        .precision({.master_weights = true});
                }),
                HasSubstr("The (precision) of a group can't change"));
}

} // namespace
} // namespace reprise
