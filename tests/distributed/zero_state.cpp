// ZeroRedundancyOptimizer of every optimizer: steps, states and use, beside the optimizer without shards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>

#include "shape/error_of.hpp"
#include "support/data_parallel.hpp"
#include "support/ranks.hpp"

namespace reprise {
namespace {

using distributed::World;
using optim::ZeroRedundancyOptimizer;
using test::batch, test::Batch, test::Net, test::on_ranks;

// Parameters of odd sizes; one has no gradient in odd steps, and one is used twice.
struct Odd : nn::Module {
    Variable scalar, one, none, five, table;
    bool uses_five = true;
    Odd()
    {
        scalar = register_parameter("scalar", Variable(full({}, 0.5)));
        one = register_parameter("one", Variable(full({1}, 0.25)));
        none = register_parameter("none", Variable(zeros({0, 3})));
        five = register_parameter("five", Variable(arange(5, {.dtype = f32}) * 0.1));
        table = register_parameter("table", Variable(arange(14, {.dtype = f32}).reshape({7, 2}) * 0.05));
    }
    Tensor forward(Tensor x) override // [n, 2]
    {
        Tensor y = matmul(x, table.t()) * scalar + one + none.sum(); // [n, 7]
        if (uses_five) y = y + five.sum();
        return matmul(tanh(y), table);
    }
};

Tensor rows(const World& w, int step, const Device& d)
{
    const auto n = static_cast<std::int64_t>(12 / w.size());
    return batch(step, n * w.rank(), n * (w.rank() + 1), d).x.narrow(1, 0, 2);
}

using Bytes = std::map<std::string, std::vector<std::byte>>;
Bytes bytes_of(const optim::StateDict& state)
{
    Bytes out;
    for (const auto& [name, value] : state) out.emplace(name, to_bytes(value));
    return out;
}

// Steps `from` to `to` of a run.
void train(const World& w, const Device& d, Odd& net, nn::DistributedDataParallel<Odd>& ddp,
           optim::Optimizer& o, int from, int to)
{
    for (int i = from; i < to; ++i) {
        o.zero_grad();
        net.uses_five = i % 2 == 0;
        (ddp(rows(w, i, d)) - 0.5).square().mean().backward();
        o.step();
    }
}

// The values of all parameters and the state without shards, after five steps.  Where it is in shards, another
// optimizer goes on from the state of each rank after three steps, and a third one from that of all after four.
struct Outcome {
    Bytes weights{}, state{};
};
template <class O>
Outcome outcome(const World& w, const Device& d, const typename O::Options& options, bool zero)
{
    Odd net;
    net.to(d);
    nn::DistributedDataParallel ddp(net, w);
    if (!zero) {
        O o(net.parameters(), options);
        train(w, d, net, ddp, o, 0, 5);
        return {bytes_of(net.state_dict()), bytes_of(o.state_dict())};
    }
    optim::StateDict state;
    const auto go_on = [&](int from, int to, bool by_rank) {
        ZeroRedundancyOptimizer<O> o(ddp, options);
        if (!state.empty()) o.load_state_dict(state);
        train(w, d, net, ddp, o, from, to);
        const optim::Optimizer& base = o;
        state.clear();
        for (const auto& [name, value] : by_rank ? base.state_dict() : o.consolidated_state_dict())
            state.emplace(name, value.snapshot());
    };
    go_on(0, 3, true);
    go_on(3, 4, false);
    go_on(4, 5, false);
    return {bytes_of(net.state_dict()), bytes_of(state)};
}

template <class O> void expect_alike(const typename O::Options& options)
{
    std::vector<Outcome> plain(3), zero(3);
    for (const bool in_shards : {false, true})
        on_ranks(3, [&](const World& w, const Device& d) {
            (in_shards ? zero : plain)[static_cast<std::size_t>(w.rank())] =
                outcome<O>(w, d, options, in_shards);
        });
    for (std::size_t k = 0; k < zero.size(); ++k) {
        EXPECT_EQ(zero[k].weights, plain[0].weights) << "rank " << k;
        EXPECT_EQ(zero[k].state, plain[0].state) << "rank " << k;
    }
}

TEST(ZeroState, OfSgd) { expect_alike<optim::SGD>({.lr = 0.1, .momentum = 0.9, .weight_decay = 0.01}); }
TEST(ZeroState, OfAdam) { expect_alike<optim::Adam>({.lr = 0.01, .amsgrad = true}); }
TEST(ZeroState, OfNAdam) { expect_alike<optim::NAdam>({.lr = 0.01}); }
TEST(ZeroState, OfRAdam) { expect_alike<optim::RAdam>({.lr = 0.01}); }
TEST(ZeroState, OfAdamax) { expect_alike<optim::Adamax>({.lr = 0.01}); }
TEST(ZeroState, OfAdagrad) { expect_alike<optim::Adagrad>({.lr = 0.01}); }
TEST(ZeroState, OfAdadelta) { expect_alike<optim::Adadelta>({.lr = 0.5}); }
TEST(ZeroState, OfRMSprop) { expect_alike<optim::RMSprop>({.lr = 0.01, .momentum = 0.5}); }
TEST(ZeroState, OfLion) { expect_alike<optim::Lion>({.lr = 0.01}); }

// Moments in 8 bits fit the rank that had them.
TEST(ZeroState, OfEightBits)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Odd net;
        net.to(d);
        nn::DistributedDataParallel ddp(net, w);
        const optim::AdamW::Options options{.precision = {.moments = optim::MomentFormat::eight_bit}};
        optim::StateDict state;
        {
            ZeroRedundancyOptimizer<optim::AdamW> o(ddp, options);
            train(w, d, net, ddp, o, 0, 1);
            for (const auto& [name, value] : o.state_dict()) state.emplace(name, value.snapshot());
            EXPECT_EQ(error_of([&] { return o.consolidated_state_dict(); }).kind, ErrorKind::unsupported);
        }
        ZeroRedundancyOptimizer<optim::AdamW> o(ddp, options);
        o.load_state_dict(state);
        EXPECT_EQ(bytes_of(o.state_dict()), bytes_of(state));
    });
}

// Two blocks of a whole moment have as many bytes as those of two shards.
TEST(ZeroState, OfEightBitsIsNotJoined)
{
    optim::StateDict states;
    on_ranks(2, [&](const World& w, const Device& d) {
        nn::Linear net(300, 1, {.bias = false});
        net.to(d);
        nn::DistributedDataParallel ddp(net, w);
        ZeroRedundancyOptimizer<optim::AdamW> o(ddp,
                                                {.precision = {.moments = optim::MomentFormat::eight_bit}});
        ddp(ones({1, 300}, {.device = d})).sum().backward();
        o.step();
        static std::mutex mutex;
        const std::lock_guard lock(mutex);
        for (const auto& [name, value] : o.state_dict()) states.emplace(name, value.to(Device("reference")));
    });
    nn::Linear net(300, 1, {.bias = false});
    optim::AdamW plain(net.parameters(), {.precision = {.moments = optim::MomentFormat::eight_bit}});
    EXPECT_EQ(error_of([&] { return plain.load_state_dict(states), 0; }).kind, ErrorKind::unsupported);
}

// States that are not those of one world are refused, and nothing changes.
TEST(ZeroState, OfOneWorldOnly)
{
    optim::StateDict states;
    on_ranks(3, [&](const World& w, const Device& d) {
        Odd net;
        net.to(d);
        nn::DistributedDataParallel ddp(net, w);
        ZeroRedundancyOptimizer<optim::Adam> o(ddp, 0.1);
        train(w, d, net, ddp, o, 0, 1);
        static std::mutex mutex;
        const std::lock_guard lock(mutex);
        for (const auto& [name, value] : o.state_dict()) states.emplace(name, value);
    });
    Odd net;
    optim::Adam plain(net.parameters(), 0.1);
    const auto kind = [&](const optim::StateDict& s) {
        return error_of([&] { return plain.load_state_dict(s), 0; }).kind;
    };
    const std::string part = "4.exp_avg.part_1_of_3";
    optim::StateDict missing = states, other = states, size = states, unknown = states;
    missing.erase(part);
    other.emplace("4.exp_avg.part_0_of_2", zeros({7}));
    size[part] = zeros({3});
    unknown.emplace("4.step.part_0_of_3", zeros({1}));
    EXPECT_EQ(kind(missing), ErrorKind::argument);
    EXPECT_EQ(kind(other), ErrorKind::argument);
    EXPECT_EQ(kind(size), ErrorKind::shape);
    EXPECT_EQ(kind(unknown), ErrorKind::argument);
    EXPECT_FALSE(plain.state_dict().contains("4.step"));
    plain.load_state_dict(states);
    EXPECT_EQ(plain.state_dict().at("4.exp_avg").numel().value(), 14);
}

// Programs that only compute gradients add them up in the shards.
TEST(ZeroUse, AccumulatesInRecordedPrograms)
{
    std::vector<std::map<std::string, std::vector<float>>> weights(2);
    for (const bool zero : {false, true})
        on_ranks(2, [&](const World& w, const Device& d) {
            Odd net;
            net.to(d);
            nn::DistributedDataParallel ddp(net, w);
            std::unique_ptr<optim::Optimizer> o;
            if (zero) o = std::make_unique<ZeroRedundancyOptimizer<optim::SGD>>(ddp, 0.1);
            else o = std::make_unique<optim::SGD>(net.parameters(), 0.1);
            const auto micro = record(
                [&](Tensor x) {
                    const Tensor loss = (ddp(x) - 0.5).square().mean();
                    loss.backward();
                    return loss;
                },
                {spec({symbol("n"), 2})}, {.device = d});
            for (int step = 0; step < 2; ++step) {
                for (int i = 0; i < 3; ++i) micro(rows(w, 3 * step + i, d).contiguous()).item<float>();
                o->step();
                o->zero_grad();
            }
            for (const auto& [name, value] : net.state_dict()) {
                std::vector<float> all = value.to_vector<float>();
                if (w.rank() == 0) weights[zero].emplace(name, std::move(all));
            }
        });
    for (const auto& [name, value] : weights[0]) // the mean of sums, and the sum of means
        EXPECT_THAT(weights[1].at(name), testing::Pointwise(testing::FloatNear(1e-5f), value)) << name;
}

// A scaler in a recorded program: a step of infinite gradients is left out on all ranks.
TEST(ZeroUse, ScalesInRecordedPrograms)
{
    std::vector<Bytes> weights(2);
    std::vector<double> scales(2);
    for (const bool zero : {false, true})
        on_ranks(2, [&](const World& w, const Device& d) {
            Odd net;
            net.to(d);
            nn::DistributedDataParallel ddp(net, w);
            std::unique_ptr<optim::Optimizer> o;
            if (zero) o = std::make_unique<ZeroRedundancyOptimizer<optim::AdamW>>(ddp, 0.1);
            else o = std::make_unique<optim::AdamW>(net.parameters(), 0.1);
            GradScaler scaler({.init_scale = 1024});
            const auto step = record(
                [&](Tensor x) {
                    const Tensor loss = (ddp(x) - 0.5).square().mean();
                    o->zero_grad();
                    scaler.scale(loss).backward();
                    scaler.step(*o);
                    scaler.update();
                    return loss;
                },
                {spec({symbol("n"), 2})}, {.device = d});
            for (int i = 0; i < 4; ++i) {
                Tensor x = rows(w, i, d).contiguous();
                if (i == 1 && w.rank() == 1) x = x / 0.0;
                step(x).item<float>();
            }
            const Bytes now = bytes_of(net.state_dict());
            if (w.rank() != 0) return;
            weights[zero] = now;
            scales[zero] = scaler.get_scale();
        });
    EXPECT_EQ(weights[0], weights[1]);
    EXPECT_EQ(scales, (std::vector<double>{512, 512}));
}

// One rank's skip is that of all.
TEST(ZeroUse, SkipsIfAnyRankDoes)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Odd net;
        net.to(d);
        nn::DistributedDataParallel ddp(net, w);
        ZeroRedundancyOptimizer<optim::SGD> o(ddp, 0.1);
        const Bytes before = bytes_of(net.state_dict());
        ddp(rows(w, 0, d)).sum().backward();
        o.step_unless(full({1}, w.rank() == 1 ? -1.0 : 0.0, {.device = d}));
        EXPECT_EQ(bytes_of(net.state_dict()), before);
        o.step_unless(zeros({1}, {.dtype = boolean, .device = d}));
        EXPECT_NE(bytes_of(net.state_dict()), before);
    });
}

TEST(ZeroUse, RefusesGradientsThatWereNotExchanged)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Odd net;
        net.to(d);
        auto ddp = std::make_unique<nn::DistributedDataParallel<Odd>>(net, w);
        ZeroRedundancyOptimizer<optim::SGD> o(*ddp, Parameters{net.table, net.scalar}, {.lr = 0.1});
        const auto step = [&] { return o.step(), 0; };
        {
            const auto local = ddp->no_sync();
            (*ddp)(rows(w, 0, d)).sum().backward();
        }
        EXPECT_EQ(error_of(step).kind, ErrorKind::state);
        const Tensor no = zeros({1}, {.device = d});
        EXPECT_EQ(error_of([&] { return o.step_unless(no), 0; }).kind, ErrorKind::state);
        (*ddp)(rows(w, 0, d)).sum().backward();
        o.step();
        o.zero_grad();
        ddp.reset();
        net(rows(w, 0, d)).sum().backward();
        EXPECT_EQ(error_of(step).kind, ErrorKind::state);
        optim::SGD& base = o;
        EXPECT_EQ(error_of([&] { return base.add_param_group({net.one}), 0; }).kind, ErrorKind::state);
    });
}

// Through its base class, too, it takes parameters of the module, and as shards.
TEST(ZeroUse, TakesFurtherGroupsThroughItsBase)
{
    std::vector<Bytes> weights(2);
    for (const bool zero : {false, true})
        on_ranks(2, [&](const World& w, const Device& d) {
            Odd net;
            net.to(d);
            nn::DistributedDataParallel ddp(net, w);
            std::unique_ptr<optim::SGD> o;
            const Parameters first{net.table};
            if (zero)
                o = std::make_unique<ZeroRedundancyOptimizer<optim::SGD>>(ddp, first,
                                                                          optim::SGD::Options{.lr = 0.1});
            else o = std::make_unique<optim::SGD>(first, optim::SGD::Options{.lr = 0.1});
            o->add_param_group({net.five}, {.lr = 0.2});
            EXPECT_EQ(o->parameters()[1].numel().value(), zero ? 3 : 5);
            if (zero) {
                const Variable other(zeros({2}, {.device = d}));
                EXPECT_EQ(error_of([&] { return o->add_param_group({other}), 0; }).kind, ErrorKind::argument);
            }
            ddp(rows(w, 0, d)).sum().backward();
            o->step();
            const Bytes now = bytes_of(net.state_dict());
            if (w.rank() == 0) weights[zero] = now;
        });
    EXPECT_EQ(weights[0], weights[1]);
}

// A program outlives the optimizer and its DistributedDataParallel.
TEST(ZeroUse, LeavesProgramsWhole)
{
    on_ranks(2, [](const World& w, const Device& d) {
        Odd net;
        net.to(d);
        Program step;
        {
            nn::DistributedDataParallel ddp(net, w);
            ZeroRedundancyOptimizer<optim::AdamW> o(ddp, 0.1);
            step = record(
                [&](Tensor x) {
                    const Tensor loss = (ddp(x) - 0.5).square().mean();
                    o.zero_grad();
                    loss.backward();
                    o.step();
                    return loss;
                },
                {spec({symbol("n"), 2})}, {.device = d});
        }
        const Bytes before = bytes_of(net.state_dict());
        step(rows(w, 0, d).contiguous()).item<float>();
        EXPECT_NE(bytes_of(net.state_dict()), before);
        net(rows(w, 0, d)).sum().backward(); // by no hook
        EXPECT_TRUE(net.table.grad().defined());
    });
}

} // namespace
} // namespace reprise
