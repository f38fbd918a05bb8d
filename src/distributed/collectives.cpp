// Each collective is an op that the host computes (graph/host_call.hpp), on tensors whose ranks' parts lie one after
// the other: along dimension 0.
#include <reprise/distributed/collectives.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include <reprise/error.hpp>
#include <reprise/ops/creation.hpp>
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

// One call of a collective on the host: y of x, with the parameters a and b (see `rows`).
struct Call {
    WorldState& world;
    int a, b;
    const HostTensor &x, &y;
    const std::string& label;

    std::size_t ranks() const { return static_cast<std::size_t>(world.size()); }
    std::size_t self() const { return static_cast<std::size_t>(world.rank()); }
    static std::size_t bytes(const HostTensor& t)
    {
        return static_cast<std::size_t>(t.count()) * size_of(t.dtype);
    }
    // The bytes of a rank's part of t, which is cut into one for each.
    std::span<std::byte> part(const HostTensor& t, std::size_t rank) const
    {
        const std::size_t count = static_cast<std::size_t>(t.count()), element = size_of(t.dtype);
        const std::size_t begin = count * rank / ranks(), end = count * (rank + 1) / ranks();
        return {t.data + begin * element, (end - begin) * element};
    }
    // Sends send(k) to each other rank k, and receives receive(k) from it.
    template <class Send, class Receive> void exchange(const Send& send, const Receive& receive) const
    {
        Sends sends(ranks());
        Receives receives(ranks());
        for (std::size_t k = 0; k < ranks(); ++k) {
            if (k == self()) continue;
            sends[k] = send(k);
            receives[k] = receive(k);
        }
        world.exchange(label, sends, receives);
    }
};

using Bytes = std::span<const std::byte>;
using Space = std::span<std::byte>;

void copy_bytes(Bytes from, Space to)
{
    if (!from.empty()) std::memcpy(to.data(), from.data(), from.size());
}
Space whole(const HostTensor& t) { return {t.data, Call::bytes(t)}; }

using Enqueue = void (*)(const Call&, Nccl&, Nccl::Queue);

// Reduces what all ranks have for this one, where it has `own`.
template <class Send>
void gather_and_reduce(const Call& c, int reduction, Space own, const Send& send, Space into)
{
    std::vector<std::byte> arrived(own.size() * c.ranks());
    const auto from = [&](std::size_t k) { return Space(arrived).subspan(k * own.size(), own.size()); };
    c.exchange(send, from);
    std::vector<const std::byte*> parts;
    for (std::size_t k = 0; k < c.ranks(); ++k) parts.push_back(k == c.self() ? own.data() : from(k).data());
    reduce(c.x.dtype, reduction, parts, into.data(), own.size() / size_of(c.x.dtype));
}

void run_reduce_scatter(const Call& c, Space into)
{
    gather_and_reduce(
        c, c.a, c.part(c.x, c.self()), [&](std::size_t k) { return c.part(c.x, k); }, into);
}
void run_reduce_scatter(const Call& c) { run_reduce_scatter(c, whole(c.y)); }

// In two exchanges: each rank reduces its part, and sends it to all.
void run_all_reduce(const Call& c)
{
    const Space mine = c.part(c.y, c.self());
    run_reduce_scatter(c, mine);
    c.exchange([&](std::size_t) { return mine; }, [&](std::size_t k) { return c.part(c.y, k); });
}

void run_broadcast(const Call& c)
{
    const auto root = static_cast<std::size_t>(c.a);
    const bool is_root = c.self() == root;
    if (is_root) copy_bytes(whole(c.x), whole(c.y));
    c.exchange([&](std::size_t) { return is_root ? whole(c.x) : Space(); },
               [&](std::size_t k) { return k == root ? whole(c.y) : Space(); });
}

// The sum at the root, and zeros elsewhere: the gradient of a broadcast.
void run_reduce(const Call& c)
{
    const auto root = static_cast<std::size_t>(c.a);
    const bool is_root = c.self() == root;
    std::fill_n(c.y.data, Call::bytes(c.y), std::byte{0});
    gather_and_reduce(
        c, static_cast<int>(ReduceOp::sum), is_root ? whole(c.x) : Space(),
        [&](std::size_t k) { return k == root ? whole(c.x) : Space(); }, whole(c.y));
}

void run_all_gather(const Call& c)
{
    copy_bytes(whole(c.x), c.part(c.y, c.self()));
    c.exchange([&](std::size_t) { return whole(c.x); }, [&](std::size_t k) { return c.part(c.y, k); });
}

void run_all_to_all(const Call& c)
{
    copy_bytes(c.part(c.x, c.self()), c.part(c.y, c.self()));
    c.exchange([&](std::size_t k) { return c.part(c.x, k); }, [&](std::size_t k) { return c.part(c.y, k); });
}

void run_send_receive(const Call& c)
{
    const auto to = static_cast<std::size_t>(c.a), from = static_cast<std::size_t>(c.b);
    if (from == c.self()) copy_bytes(whole(c.x), whole(c.y));
    c.exchange([&](std::size_t k) { return k == to ? whole(c.x) : Space(); },
               [&](std::size_t k) { return k == from ? whole(c.y) : Space(); });
}

// The size of dimension 0 of the result.
Dim same_size(const WorldState&, const char*, const Dim& n) { return n; }
Dim gathered_size(const WorldState& world, const char*, const Dim& n) { return n * world.size(); }
Dim part_size(const WorldState& world, const char* op, const Dim& n)
{
    if (!n.divisible_by(world.size()))
        detail::fail(ErrorKind::shape, op, "The size (", n, ") can't be cut into a part for each of the (",
                     world.size(), ") ranks: make it a multiple of that.");
    return floor_div(n, world.size());
}
Dim cut_size(const WorldState& world, const char* op, const Dim& n)
{
    part_size(world, op, n);
    return n;
}

// By NCCL; tensors are in device memory, and not empty.

void enqueue_all_reduce(const Call& c, Nccl& nccl, Nccl::Queue queue)
{
    nccl.all_reduce(c.x.data, c.y.data, static_cast<std::size_t>(c.x.count()), c.x.dtype, c.a, queue);
}
void enqueue_broadcast(const Call& c, Nccl& nccl, Nccl::Queue queue)
{
    nccl.broadcast(c.x.data, c.y.data, Call::bytes(c.x), c.a, queue);
}
void enqueue_all_gather(const Call& c, Nccl& nccl, Nccl::Queue queue)
{
    nccl.all_gather(c.x.data, c.y.data, Call::bytes(c.x), queue);
}
void enqueue_reduce_scatter(const Call& c, Nccl& nccl, Nccl::Queue queue)
{
    nccl.reduce_scatter(c.x.data, c.y.data, static_cast<std::size_t>(c.y.count()), c.x.dtype, c.a, queue);
}
void enqueue_all_to_all(const Call& c, Nccl& nccl, Nccl::Queue queue)
{
    std::vector<Nccl::Transfer> transfers;
    for (std::size_t k = 0; k < c.ranks(); ++k)
        transfers.push_back({static_cast<int>(k), c.part(c.x, k), c.part(c.y, k)});
    nccl.exchange(transfers, queue);
}
void enqueue_send_receive(const Call& c, Nccl& nccl, Nccl::Queue queue)
{
    const int self = c.world.rank();
    std::vector<Nccl::Transfer> transfers;
    if (c.a != self) transfers.push_back({c.a, whole(c.x), {}});
    if (c.b != self) transfers.push_back({c.b, {}, whole(c.y)});
    else transfers.push_back({self, whole(c.x), whole(c.y)});
    nccl.exchange(transfers, queue);
}

// What a and b are; the label has those that all ranks must agree in.
enum class Parameters : std::uint8_t { none, reduction, root, to_and_from };

struct Row {
    const char* name;
    Parameters parameters;
    void (*run)(const Call&);
    Dim (*size)(const WorldState&, const char* op, const Dim&);
    Kind gradient;     // with the same parameters, but to and from swapped
    Enqueue enqueue;   // of NCCL; null: see collective()
    bool sums = false; // takes numbers only
};
constexpr Row rows[] = {
    // by Kind
    {"all_reduce", Parameters::reduction, run_all_reduce, same_size, Kind::all_reduce, enqueue_all_reduce,
     true},
    {"broadcast", Parameters::root, run_broadcast, same_size, Kind::reduce, enqueue_broadcast},
    {"reduce", Parameters::root, run_reduce, same_size, Kind::broadcast, nullptr, true},
    {"all_gather", Parameters::none, run_all_gather, gathered_size, Kind::reduce_scatter, enqueue_all_gather},
    {"reduce_scatter", Parameters::reduction, run_reduce_scatter, part_size, Kind::all_gather,
     enqueue_reduce_scatter, true},
    {"all_to_all", Parameters::none, run_all_to_all, cut_size, Kind::all_to_all, enqueue_all_to_all},
    {"send_receive", Parameters::to_and_from, run_send_receive, same_size, Kind::send_receive,
     enqueue_send_receive},
};
const Row& row_of(Kind k) { return rows[static_cast<std::size_t>(k)]; }

// Calls the collective on a tensor whose parts lie along dimension 0.
Tensor collective(WorldState& world, Kind kind, const Tensor& x, int a = 0, int b = 0)
{
    const std::string name = row_of(kind).name;
    const Op& op = ops::named(collective_op, name);
    if (world.size() == 1) {
        const graph::Value value = graph::read(x);
        world.call(kind, a, b)->infer(op, InputTypes({&value, 1})); // for its errors
        return graph::make_tensor(graph::identity(value));
    }
    world.use(x.device());
    if (world.nccl()) {
        // NCCL has no sums of 16 bits, and no sum that is zero for all ranks but one.
        if (row_of(kind).sums && x.dtype() == i16)
            return cast(collective(world, kind, cast(x, i32), a, b), i16);
        if (kind == Kind::reduce) {
            const Tensor sum = collective(world, Kind::all_reduce, x, static_cast<int>(ReduceOp::sum));
            const Tensor zeros = zeros_like(sum);
            return where(zeros == (world.rank() == a ? 0 : 1), sum, zeros); // computed on each rank
        }
    }
    const Tensor y = graph::apply1(op, {x}, {{"call", world.call(kind, a, b)}});
    // Every rank takes part as soon as it calls, not only once it reads the result.
    const graph::Value value = graph::read(y);
    if (value.node->trace == 0) value.node->evaluator->evaluate({&value, 1});
    return y;
}

std::string label_of(const Row& row, int a)
{
    constexpr const char* reductions[] = {" sum", " mean", " min", " max", " product"};
    if (row.parameters == Parameters::reduction) return std::string(row.name) + reductions[a];
    if (row.parameters == Parameters::root) return std::string(row.name) + " of " + std::to_string(a);
    return row.name;
}

class Collective final : public HostCall {
public:
    Collective(WorldState& world, const Row& row, int a, int b)
        : world_(world), row_(row), a_(a), b_(b), label_(label_of(row, a))
    {}

    TensorTypes infer(const Op& op, const InputTypes& in) const override
    {
        TensorType y = in[0];
        if (row_.sums && y.dtype == boolean) ops::wrong_dtype(op.name, y.dtype, "a number");
        if (!y.shape.empty()) y.shape[0] = row_.size(world_, op.name, y.shape[0]);
        return {y};
    }
    void run(std::span<const HostTensor> in, std::span<const HostTensor> out) const override
    {
        row_.run({world_, a_, b_, in[0], out[0], label_of_call(in[0])});
    }
    bool is_on_stream() const override { return world_.nccl() != nullptr; }
    void enqueue(void* stream, std::span<const HostTensor> in, std::span<const HostTensor> out) const override
    {
        if (in[0].count() == 0) return;
        // Twice the time in which labels are compared, whose error names the rank.
        row_.enqueue({world_, a_, b_, in[0], out[0], label_}, *world_.nccl(), {stream, 2 * world_.timeout()});
    }
    void supervise(std::span<const HostTensor> in, const std::function<void()>& await_begin,
                   const std::function<bool()>& has_ended) const override
    {
        world_.supervise(label_of_call(in[0]), Call::bytes(in[0]), await_begin, has_ended);
    }
    std::vector<Tensor> vjp(const VjpArguments& v) const override
    {
        const bool swaps = row_.parameters == Parameters::to_and_from;
        return {collective(world_, row_.gradient, v.cotangents[0], swaps ? b_ : a_, swaps ? a_ : b_)};
    }

private:
    std::string label_of_call(const HostTensor& x) const
    {
        return label_ + " " + name_of(x.dtype) + " [" + std::to_string(x.count()) + "]";
    }

    WorldState& world_;
    const Row& row_;
    int a_, b_;
    std::string label_;
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
    return std::make_unique<Collective>(world, row_of(kind), a, b);
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
