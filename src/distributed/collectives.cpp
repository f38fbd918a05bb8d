// Each collective is an op that the host computes (graph/host_call.hpp), on tensors whose ranks' parts lie one after
// the other: along dimension 0.
#include <reprise/distributed/collectives.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <reprise/error.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/shapes.hpp>

#include "distributed/world_state.hpp"
#include "graph/cell.hpp"
#include "ops/registry.hpp"

namespace reprise::distributed {

namespace {

using graph::HostCall;
using graph::InputTypes;
using graph::Op;
using graph::TensorType;
using graph::TensorTypes;
using graph::VjpArguments;
using ops::HostTensor;

const HostCall& call_of(const graph::Attributes& a)
{
    return *a.get<std::shared_ptr<const HostCall>>("call");
}

TensorTypes infer(const Op& op, const InputTypes& in, const graph::Attributes& a)
{
    return call_of(a).infer(op, in);
}
std::vector<Tensor> vjp(const VjpArguments& v) { return call_of(v.node.attributes).vjp(v); }
void reference(const ops::ReferenceArguments& a) { call_of(a.attributes).run(a.inputs, a.outputs); }

const Op collective_op{.name = "collective",
                       .infer = infer,
                       .vjp = vjp,
                       .reference = reference,
                       .narrow = true,
                       .doubles = true,
                       .on_host = true};

struct KindInfo {
    const char* name;
    bool reduces;
};
constexpr KindInfo infos[] = {{"all_reduce", true},   {"broadcast", false},     {"reduce", true},
                              {"all_gather", false},  {"reduce_scatter", true}, {"all_to_all", false},
                              {"send_receive", false}};
constexpr const KindInfo& info_of(Kind k) { return infos[static_cast<std::size_t>(k)]; }

std::size_t bytes_of(const HostTensor& t) { return static_cast<std::size_t>(t.count()) * size_of(t.dtype); }
std::span<const std::byte> whole(const HostTensor& t) { return {t.data, bytes_of(t)}; }

// Calls the collective on a tensor whose parts lie along dimension 0.
Tensor collective(WorldState& world, Kind kind, const Tensor& x, int a = 0, int b = 0)
{
    const Op& op = ops::named(collective_op, info_of(kind).name);
    if (world.size() == 1) {
        const graph::Value value = graph::read(x);
        world.call(kind, a, b)->infer(op, InputTypes({&value, 1})); // for its errors
        return graph::make_tensor(graph::identity(value));
    }
    world.use(x.device());
    const Tensor y = graph::apply1(op, {x}, {{"call", world.call(kind, a, b)}});
    // Every rank takes part as soon as it calls, not only once it reads the result.
    const graph::Value value = graph::read(y);
    if (value.node->trace == 0) value.node->evaluator->evaluate({&value, 1});
    return y;
}

class Collective : public HostCall {
public:
    // `detail` is a part of the label: what all ranks must agree in besides dtype and size.
    Collective(WorldState& world, Kind kind, std::string detail = {})
        : world_(world), kind_(kind), detail_(std::move(detail))
    {}

    TensorTypes infer(const Op& op, const InputTypes& in) const override
    {
        const TensorType& x = in[0];
        if (info_of(kind_).reduces && x.dtype == boolean) ops::wrong_dtype(op.name, x.dtype, "a number");
        return {{x.dtype, shape(op, x.shape)}};
    }

protected:
    virtual Shape shape(const Op&, const Shape& x) const { return x; }

    std::size_t ranks() const { return static_cast<std::size_t>(world_.size()); }
    std::size_t self() const { return static_cast<std::size_t>(world_.rank()); }
    std::string label(const HostTensor& x) const
    {
        return info_of(kind_).name + detail_ + " " + name_of(x.dtype) + " [" + std::to_string(x.count()) +
               "]";
    }
    Sends none_to_send() const { return Sends(ranks()); }
    Receives none_to_receive() const { return Receives(ranks()); }
    Tensor call(Kind kind, const Tensor& x, int a = 0, int b = 0) const
    {
        return collective(world_, kind, x, a, b);
    }

    WorldState& world_;

private:
    Kind kind_;
    std::string detail_;
};

std::string named(ReduceOp r)
{
    constexpr const char* names[] = {" sum", " mean", " min", " max", " product"};
    return names[static_cast<std::size_t>(r)];
}
std::string of_root(int root) { return " of " + std::to_string(root); }

// The part of each rank: elements [begin(k), begin(k + 1)) of `count`.
std::size_t begin_of(std::size_t rank, std::size_t ranks, std::size_t count) { return count * rank / ranks; }

// Sends each rank its part of x, and reduces the parts that arrive for this rank into `into`.
void reduce_parts(WorldState& world, const std::string& label, const HostTensor& x, int reduction,
                  std::byte* into)
{
    const auto ranks = static_cast<std::size_t>(world.size()), self = static_cast<std::size_t>(world.rank());
    const std::size_t count = static_cast<std::size_t>(x.count()), element = size_of(x.dtype);
    const auto begin = [&](std::size_t k) { return begin_of(k, ranks, count) * element; };
    const std::size_t mine = begin(self + 1) - begin(self);
    std::vector<std::byte> arrived(mine * ranks);
    Sends send(ranks);
    Receives receive(ranks);
    std::vector<const std::byte*> parts;
    for (std::size_t k = 0; k < ranks; ++k) {
        std::byte* const to = arrived.data() + k * mine;
        parts.push_back(k == self ? x.data + begin(self) : to);
        if (k == self) continue;
        send[k] = {x.data + begin(k), begin(k + 1) - begin(k)};
        receive[k] = {to, mine};
    }
    world.exchange(label, send, receive);
    reduce(x.dtype, reduction, parts, into, mine / element);
}

// Of the form y = sum over ranks of x, in two exchanges: each rank reduces its part, and sends it to all.
class AllReduce final : public Collective {
public:
    AllReduce(WorldState& world, int reduction)
        : Collective(world, Kind::all_reduce, named(static_cast<ReduceOp>(reduction))), reduction_(reduction)
    {}
    void run(std::span<const HostTensor> in, std::span<const HostTensor> out) const override
    {
        const HostTensor &x = in[0], &y = out[0];
        const std::size_t count = static_cast<std::size_t>(x.count()), element = size_of(x.dtype);
        const auto begin = [&](std::size_t k) { return begin_of(k, ranks(), count) * element; };
        const std::span<std::byte> mine{y.data + begin(self()), begin(self() + 1) - begin(self())};
        reduce_parts(world_, label(x), x, reduction_, mine.data());
        Sends send(ranks(), mine);
        Receives receive = none_to_receive();
        for (std::size_t k = 0; k < ranks(); ++k)
            if (k != self()) receive[k] = {y.data + begin(k), begin(k + 1) - begin(k)};
        send[self()] = {};
        world_.exchange(label(x), send, receive);
    }
    std::vector<Tensor> vjp(const VjpArguments& v) const override
    {
        return {call(Kind::all_reduce, v.cotangents[0], reduction_)};
    }

private:
    int reduction_;
};

class Broadcast final : public Collective {
public:
    Broadcast(WorldState& world, int root) : Collective(world, Kind::broadcast, of_root(root)), root_(root) {}
    void run(std::span<const HostTensor> in, std::span<const HostTensor> out) const override
    {
        const HostTensor &x = in[0], &y = out[0];
        const auto root = static_cast<std::size_t>(root_);
        Sends send = none_to_send();
        Receives receive = none_to_receive();
        if (self() == root) {
            for (std::size_t k = 0; k < ranks(); ++k)
                if (k != root) send[k] = whole(x);
            if (bytes_of(x) > 0) std::memcpy(y.data, x.data, bytes_of(x));
        } else receive[root] = {y.data, bytes_of(y)};
        world_.exchange(label(x), send, receive);
    }
    std::vector<Tensor> vjp(const VjpArguments& v) const override
    {
        return {call(Kind::reduce, v.cotangents[0], root_)};
    }

private:
    int root_;
};

// The sum at the root, and zeros elsewhere: the gradient of a broadcast.
class Reduce final : public Collective {
public:
    Reduce(WorldState& world, int root) : Collective(world, Kind::reduce, of_root(root)), root_(root) {}
    void run(std::span<const HostTensor> in, std::span<const HostTensor> out) const override
    {
        const HostTensor &x = in[0], &y = out[0];
        const auto root = static_cast<std::size_t>(root_);
        const std::size_t bytes = bytes_of(x);
        Sends send = none_to_send();
        Receives receive = none_to_receive();
        std::vector<std::byte> arrived(self() == root ? bytes * ranks() : 0);
        if (self() != root) send[root] = whole(x);
        for (std::size_t k = 0; self() == root && k < ranks(); ++k)
            if (k != root) receive[k] = {arrived.data() + k * bytes, bytes};
        world_.exchange(label(x), send, receive);
        if (self() != root) {
            std::fill_n(y.data, bytes, std::byte{0});
            return;
        }
        std::vector<const std::byte*> parts;
        for (std::size_t k = 0; k < ranks(); ++k)
            parts.push_back(k == root ? x.data : arrived.data() + k * bytes);
        reduce(x.dtype, static_cast<int>(ReduceOp::sum), parts, y.data, static_cast<std::size_t>(x.count()));
    }
    std::vector<Tensor> vjp(const VjpArguments& v) const override
    {
        return {call(Kind::broadcast, v.cotangents[0], root_)};
    }

private:
    int root_;
};

class AllGather final : public Collective {
public:
    explicit AllGather(WorldState& world) : Collective(world, Kind::all_gather) {}
    void run(std::span<const HostTensor> in, std::span<const HostTensor> out) const override
    {
        const HostTensor &x = in[0], &y = out[0];
        const std::size_t bytes = bytes_of(x);
        Sends send(ranks(), whole(x));
        send[self()] = {};
        Receives receive = none_to_receive();
        for (std::size_t k = 0; k < ranks(); ++k)
            if (k != self()) receive[k] = {y.data + k * bytes, bytes};
        if (bytes > 0) std::memcpy(y.data + self() * bytes, x.data, bytes);
        world_.exchange(label(x), send, receive);
    }
    std::vector<Tensor> vjp(const VjpArguments& v) const override
    {
        return {call(Kind::reduce_scatter, v.cotangents[0], static_cast<int>(ReduceOp::sum))};
    }

private:
    Shape shape(const Op&, const Shape& x) const override
    {
        Shape out = x;
        out[0] *= world_.size();
        return out;
    }
};

// The size of dimension 0 of each rank's part.
Dim part_size(const WorldState& world, const char* op, const Shape& x)
{
    if (!x[0].divisible_by(world.size()))
        detail::fail(ErrorKind::shape, op, "The size (", x[0], ") can't be cut into a part for each of the (",
                     world.size(), ") ranks: make it a multiple of that.");
    return floor_div(x[0], world.size());
}

class ReduceScatter final : public Collective {
public:
    ReduceScatter(WorldState& world, int reduction)
        : Collective(world, Kind::reduce_scatter, named(static_cast<ReduceOp>(reduction))),
          reduction_(reduction)
    {}
    void run(std::span<const HostTensor> in, std::span<const HostTensor> out) const override
    {
        reduce_parts(world_, label(in[0]), in[0], reduction_, out[0].data);
    }
    std::vector<Tensor> vjp(const VjpArguments& v) const override
    {
        return {call(Kind::all_gather, v.cotangents[0])};
    }

private:
    Shape shape(const Op& op, const Shape& x) const override
    {
        Shape out = x;
        out[0] = part_size(world_, op.name, x);
        return out;
    }
    int reduction_;
};

class AllToAll final : public Collective {
public:
    explicit AllToAll(WorldState& world) : Collective(world, Kind::all_to_all) {}
    void run(std::span<const HostTensor> in, std::span<const HostTensor> out) const override
    {
        const HostTensor &x = in[0], &y = out[0];
        const std::size_t part = bytes_of(x) / ranks();
        Sends send = none_to_send();
        Receives receive = none_to_receive();
        for (std::size_t k = 0; k < ranks(); ++k) {
            if (k == self()) continue;
            send[k] = {x.data + k * part, part};
            receive[k] = {y.data + k * part, part};
        }
        if (part > 0) std::memcpy(y.data + self() * part, x.data + self() * part, part);
        world_.exchange(label(x), send, receive);
    }
    std::vector<Tensor> vjp(const VjpArguments& v) const override
    {
        return {call(Kind::all_to_all, v.cotangents[0])};
    }

private:
    Shape shape(const Op& op, const Shape& x) const override
    {
        part_size(world_, op.name, x);
        return x;
    }
};

class SendReceive final : public Collective {
public:
    SendReceive(WorldState& world, int to, int from)
        : Collective(world, Kind::send_receive), to_(to), from_(from)
    {}
    void run(std::span<const HostTensor> in, std::span<const HostTensor> out) const override
    {
        const HostTensor &x = in[0], &y = out[0];
        const auto to = static_cast<std::size_t>(to_), from = static_cast<std::size_t>(from_);
        Sends send = none_to_send();
        Receives receive = none_to_receive();
        if (to != self()) send[to] = whole(x);
        if (from != self()) receive[from] = {y.data, bytes_of(y)};
        else if (bytes_of(x) > 0) std::memcpy(y.data, x.data, bytes_of(x));
        world_.exchange(label(x), send, receive);
    }
    std::vector<Tensor> vjp(const VjpArguments& v) const override
    {
        return {call(Kind::send_receive, v.cotangents[0], from_, to_)};
    }

private:
    int to_, from_;
};

void require_rank(const char* op, const World& world, int rank)
{
    if (rank < 0 || rank >= world.size())
        detail::fail(ErrorKind::argument, op, "There is no rank (", rank, "): the world has (", world.size(),
                     ").");
}

// Calls f on x with dimension `dim` in front, and moves it back.
template <class F> Tensor along(const char* op, const Tensor& x, std::int64_t dim, const F& f)
{
    const auto rank = static_cast<std::int64_t>(x.dim());
    if (rank == 0) detail::fail(ErrorKind::shape, op, "A scalar has no dimension: reshape it to [1] first.");
    if (dim < -rank || dim >= rank)
        detail::fail(ErrorKind::argument, op, "The dimension (", dim, ") is out of range for (", rank,
                     ") dimensions.");
    const std::int64_t d = dim < 0 ? dim + rank : dim;
    return d == 0 ? f(x) : movedim(f(movedim(x, d, 0)), 0, d);
}

// The mean is the sum, divided by the number of ranks on the device.
template <class F> Tensor reduced(const char* op, const Tensor& x, const World& world, ReduceOp r, const F& f)
{
    if (r == ReduceOp::sum) return f(x, static_cast<int>(r));
    if (r != ReduceOp::mean) return f(x.detach(), static_cast<int>(r)); // without gradient
    ops::require_floating(op, x.dtype());
    const Tensor sum = f(x, static_cast<int>(ReduceOp::sum));
    return world.size() == 1 ? sum : sum / static_cast<double>(world.size());
}

} // namespace

std::unique_ptr<const HostCall> make_call(WorldState& world, Kind kind, int a, int b)
{
    switch (kind) {
    case Kind::all_reduce: return std::make_unique<AllReduce>(world, a);
    case Kind::broadcast: return std::make_unique<Broadcast>(world, a);
    case Kind::reduce: return std::make_unique<Reduce>(world, a);
    case Kind::all_gather: return std::make_unique<AllGather>(world);
    case Kind::reduce_scatter: return std::make_unique<ReduceScatter>(world, a);
    case Kind::all_to_all: return std::make_unique<AllToAll>(world);
    case Kind::send_receive: return std::make_unique<SendReceive>(world, a, b);
    }
    detail::fail(ErrorKind::internal, "collective", "There is no such kind.");
}

Tensor all_reduce(const Tensor& x, const World& world, ReduceOp r)
{
    return reduced("all_reduce", x, world, r, [&](const Tensor& t, int reduction) {
        return collective(*world.state(), Kind::all_reduce, t, reduction);
    });
}

Tensor broadcast(const Tensor& x, const World& world, int root)
{
    require_rank("broadcast", world, root);
    return collective(*world.state(), Kind::broadcast, x, root);
}

Tensor all_gather(const Tensor& x, const World& world, std::int64_t dim)
{
    return along("all_gather", x, dim,
                 [&](const Tensor& t) { return collective(*world.state(), Kind::all_gather, t); });
}

Tensor reduce_scatter(const Tensor& x, const World& world, ReduceOp r, std::int64_t dim)
{
    return reduced("reduce_scatter", x, world, r, [&](const Tensor& given, int reduction) {
        return along("reduce_scatter", given, dim, [&](const Tensor& t) {
            return collective(*world.state(), Kind::reduce_scatter, t, reduction);
        });
    });
}

Tensor all_to_all(const Tensor& x, const World& world, std::int64_t dim)
{
    return along("all_to_all", x, dim,
                 [&](const Tensor& t) { return collective(*world.state(), Kind::all_to_all, t); });
}

Tensor send_receive(const Tensor& x, const World& world, int to, int from)
{
    require_rank("send_receive", world, to);
    require_rank("send_receive", world, from);
    return collective(*world.state(), Kind::send_receive, x, to, from);
}

} // namespace reprise::distributed
