#include "device/cuda/recording.hpp"
#include <algorithm>
#include <reprise/error.hpp>

namespace reprise::device::cuda {

namespace {

constexpr std::size_t max_graphs = 32; // per recording
constexpr std::size_t max_counted = 1024;
// The number of launches that cost the host as much as the capture of a product, and of calls that cost as much as
// replacing a graph by another: estimates, not measured on a GPU.
constexpr std::size_t launches_of_capture = 8;
constexpr unsigned calls_of_replacement = 8;

struct OldGraphs : Retired {
    std::vector<std::unique_ptr<Graph>> graphs;
};

std::uint64_t hash_of(const std::vector<GraphCall>& call) // of the products, without their addresses
{
    std::uint64_t h = 0xCBF29CE484222325u; // FNV-1a
    const auto add = [&](std::int64_t v) { h = (h ^ static_cast<std::uint64_t>(v)) * 0x100000001B3u; };
    for (const GraphCall& c : call) {
        add(c.library ? 1 : 0);
        if (!c.library) continue;
        for (const Matrix* m : {&c.product->problem.a, &c.product->problem.b, &c.product->problem.d})
            for (const std::int64_t v : {m->rows, m->columns, m->pitch, m->stride}) add(v);
        add(static_cast<std::int64_t>(c.product->problem.numbers));
        add(c.product->problem.batch);
        add(c.product->problem.bias);
        add(c.product->repeats);
    }
    return h;
}

Constants constants_of(const Kernel& kernel)
{
    if (kernel.constants.size() > Constants::max_count) {
        reprise::detail::fail(ErrorKind::internal, "record", "The kernel (", kernel.name, ") has (",
                              kernel.constants.size(), ") constants, of at most (", Constants::max_count,
                              ").");
    }
    Constants c;
    c.count = static_cast<std::uint32_t>(kernel.constants.size());
    std::copy(kernel.constants.begin(), kernel.constants.end(), c.v);
    return c;
}

} // namespace

CudaRecording::CudaRecording(std::shared_ptr<Parts> parts, std::span<const LaunchDeclaration> launches,
                             const RecordingOptions& options)
    : parts_(std::move(parts)), records_(launches), resources_(std::make_unique<Resources>()),
      slots_(options.one_shot ? 1 : std::max<std::uint32_t>(options.slots, 1)), call_(launches.size()),
      calls_(*parts_, launches), one_shot_(options.one_shot), timed_(options.timestamps)
{
    const Context::Current current(parts_->context);
    parts_->queue.collect();
    const std::uint64_t bytes = std::max<std::uint64_t>(records_.bytes(), 16);
    const std::uint64_t slot_bytes = (bytes + 255) / 256 * 256;
    resources_->slots = parts_->pinned.allocate(slot_bytes * slots_.size());
    resources_->block = parts_->blocks.allocate(bytes);
    const std::vector<Function> functions = parts_->modules.get(launches);
    bool products = false;
    resources_->launches.reserve(launches.size());
    for (std::size_t i = 0; i < launches.size(); ++i) {
        const Kernel& kernel = launches[i].kernel;
        const auto product = parts_->blas.usable() ? product_kernel(kernel) : std::nullopt;
        products = products || product;
        resources_->launches.push_back(
            {functions[i], resources_->block.address() + records_.offset(static_cast<std::uint32_t>(i)),
             constants_of(kernel), launches[i].epoch, product});
    }
    for (std::size_t i = 0; i < slots_.size(); ++i) {
        slots_[i].host = resources_->slots.host() + i * slot_bytes;
        if (!timed_) continue;
        slots_[i].events.resize(launches.size() + 1);
        for (CUevent& e : slots_[i].events)
            parts_->context.call("cuEventCreate", &Driver::cuEventCreate, &e, 0);
    }
    if (!one_shot_ && !timed_ && !launches.empty() && !products && calls_.empty()) make_graph();
    ++parts_->recordings;
}

CudaRecording::~CudaRecording()
{
    const Context::Current current(parts_->context);
    for (const Slot& slot : slots_)
        for (const CUevent e : slot.events)
            if (e) parts_->context.driver.cuEventDestroy(e);
    parts_->queue.retire(last_, std::move(resources_));
}

void CudaRecording::begin()
{
    parts_->context.health.require_alive("begin");
    const std::uint32_t next = open_ ? current_ : (current_ + 1) % static_cast<std::uint32_t>(slots_.size());
    if (slots_[next].ticket > 0 && !one_shot_) parts_->queue.wait(slots_[next].ticket);
    current_ = next;
    set_ = 0;
    open_ = true;
}

void CudaRecording::set(std::uint32_t launch, const LaunchArguments& arguments)
{
    if (!open_) {
        reprise::detail::fail(ErrorKind::internal, "set", "The replay was not begun: call begin() first.");
    }
    records_.check(launch, arguments);
    ++set_;
    if (calls_.set(launch, arguments)) return;
    records_.write(slots_[current_].host, launch, arguments);
    const GraphLaunch& l = resources_->launches[launch];
    blocks_of(l.function, arguments.groups); // throws if there are too many
    GraphCall& call = call_[launch];
    call.groups = arguments.groups;
    std::optional<Product> product;
    if (l.product && arguments.groups > 0) {
        ProductKernel kernel = *l.product;
        if (kernel.numbers == Numbers::f32 && parts_->blas.tensor_float32()) kernel.numbers = Numbers::tf32;
        product = product_of(arguments, kernel);
    }
    if (!product) {
        call.library = nullptr;
    } else if (!call.product || call.product->problem != product->problem) {
        const Context::Current current(parts_->context);
        call.library = parts_->blas.prepare(product->problem);
    }
    call.product = std::move(product);
}

Ticket CudaRecording::submit()
{
    if (one_shot_ && slots_[0].ticket != 0) {
        reprise::detail::fail(ErrorKind::state, "submit", "A one-shot recording is submitted once.");
    }
    if (!open_ || set_ < records_.launches()) fail_unset(set_, records_.launches());
    Slot& slot = slots_[current_];
    Context& context = parts_->context;
    const Context::Current current(context);
    {
        const auto lock = parts_->queue.lock();
        const std::uint64_t bytes = records_.bytes();
        Graph* const graph = graph_for_call();
        bool sent = false;
        try {
            if (bytes > 0) {
                context.check("submit", "cuMemcpyHtoDAsync", [&] {
                    return context.driver.cuMemcpyHtoDAsync(resources_->block.address(), slot.host, bytes,
                                                            context.stream());
                });
            }
            if (graph) graph->launch();
            sent = true;
            if (!graph) launch_one_by_one(slot);
            slot.ticket = parts_->queue.submitted_now();
        } catch (...) {
            // Submitted work uses memory that the caller may free now.
            context.driver.cuStreamSynchronize(context.stream());
            calls_.abandon();
            if (sent) {
                open_ = false; // a second submission would run launches twice
                slot.ticket = 0;
            }
            throw;
        }
    }
    last_ = slot.ticket;
    open_ = false;
    ++parts_->submits;
    ++parts_->replays;
    if (!resources_->old.empty()) {
        auto old = std::make_unique<OldGraphs>();
        old->graphs = std::move(resources_->old);
        resources_->old.clear();
        parts_->queue.retire(last_, std::move(old));
    }
    return slot.ticket;
}

// Returns a graph that is ready to launch; null: the launches run one by one.
Graph* CudaRecording::graph_for_call()
{
    if (one_shot_ || timed_ || call_.empty() || !calls_.empty()) return nullptr;
    try {
        if (Graph* const graph = fitting_graph()) {
            if (graph->moved_products(call_) * launches_of_capture > call_.size()) return nullptr;
            if (graph->update(call_)) return graph;
            drop_graph(resources_->graphs.size() - 1);
        } else if (!deserves_graph()) {
            return nullptr;
        }
        Graph& created = make_graph();
        if (resources_->graphs.size() > max_graphs) drop_graph(0);
        created.update(call_); // the products' addresses are already those of this call
        return &created;
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::out_of_memory) throw;
        if (!resources_->graphs.empty()) drop_graph(0);
        return nullptr;
    }
}

Graph* CudaRecording::fitting_graph() // moves it to the end of the list
{
    auto& graphs = resources_->graphs;
    const auto fits =
        std::find_if(graphs.rbegin(), graphs.rend(), [&](const auto& g) { return g->fits(call_); });
    if (fits == graphs.rend()) return nullptr;
    std::rotate(fits.base() - 1, fits.base(), graphs.end());
    return graphs.back().get();
}

// True at the second call with these products, or later if another graph has to be dropped for it.
bool CudaRecording::deserves_graph()
{
    if (calls_without_graph_.size() >= max_counted) calls_without_graph_.clear();
    unsigned& calls = calls_without_graph_[hash_of(call_)];
    ++calls;
    if (calls < (resources_->graphs.size() < max_graphs ? 2 : calls_of_replacement)) return false;
    calls = 0;
    return true;
}

Graph& CudaRecording::make_graph()
{
    resources_->graphs.push_back(
        std::make_unique<Graph>(parts_->context, parts_->blas, resources_->launches, call_));
    return *resources_->graphs.back();
}

void CudaRecording::drop_graph(std::size_t i)
{
    const auto at = resources_->graphs.begin() + static_cast<std::ptrdiff_t>(i);
    resources_->old.push_back(std::move(*at));
    resources_->graphs.erase(at);
}

void CudaRecording::mark(Slot& slot, std::size_t i)
{
    if (!timed_) return;
    Context& context = parts_->context;
    context.call("cuEventRecord", &Driver::cuEventRecord, slot.events[i], context.stream());
}

void CudaRecording::launch_one_by_one(Slot& slot)
{
    Context& context = parts_->context;
    for (std::size_t i = 0; i < call_.size(); ++i) {
        mark(slot, i); // before the wait, which is a part of this launch's time
        calls_.join(i);
        if (calls_.begin(i)) continue;
        if (call_[i].library) parts_->blas.run(*call_[i].product, *call_[i].library, context.stream());
        if (call_[i].library || call_[i].groups == 0) continue;
        GraphLaunch& l = resources_->launches[i];
        void* arguments[] = {&l.record, &l.constants};
        context.call("cuLaunchKernel", &Driver::cuLaunchKernel, l.function.handle,
                     blocks_of(l.function, call_[i].groups), 1, 1, l.function.threads, 1, 1, 0,
                     context.stream(), arguments, nullptr);
    }
    calls_.join(call_.size());
    mark(slot, call_.size());
}

Recording::Times CudaRecording::times()
{
    parts_->context.health.require_alive("times");
    const Slot* newest = nullptr;
    for (const Slot& slot : slots_) {
        const bool better = slot.ticket > 0 && (!newest || slot.ticket > newest->ticket);
        if (better && parts_->queue.done(slot.ticket)) newest = &slot;
    }
    if (!newest || !timed_) return {};
    const Context::Current current(parts_->context);
    Times t{newest->ticket, {}};
    for (const CUevent e : newest->events) {
        float milliseconds = 0;
        parts_->context.call("cuEventElapsedTime", &Driver::cuEventElapsedTime, &milliseconds,
                             newest->events[0], e);
        t.begun.push_back(double{milliseconds} * 1e6);
    }
    return t;
}

} // namespace reprise::device::cuda
