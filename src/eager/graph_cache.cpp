#include "eager/graph_cache.hpp"

#include <algorithm>
#include <functional>
#include <sstream>
#include <utility>

namespace reprise::eager {

namespace {

constexpr std::size_t max_seen = 4, max_graphs = 4; // per structure
constexpr std::uint64_t max_compiled = 12;   // graphs per structure; later evaluations are planned each time
constexpr std::size_t max_bytes = 128 << 20; // of the whole cache, approximately
constexpr std::size_t recording_bytes = 256 << 10; // per recording: lavapipe's command buffers of 16 slots
constexpr std::size_t launch_bytes = 3072; // per recorded launch: its record in each slot, and its commands

bool equal_values(const DynamicValues& a, const DynamicValues& b)
{
    return a.sizes == b.sizes && a.numbers == b.numbers;
}

} // namespace

std::size_t GraphCache::estimated_bytes(const Entries::value_type& of)
{
    const auto& [structure, entry] = of;
    std::size_t words = structure.size();
    for (const DynamicValues& f : entry.seen) words += f.sizes.size() + f.numbers.size();
    std::size_t bytes = words * sizeof(std::uint64_t);
    for (const auto& p : entry.graphs)
        bytes += recording_bytes + p->launches() * launch_bytes + p->cached_bytes();
    return bytes;
}

CompiledGraph* GraphCache::find(const Evaluation& e, GraphKey& key)
{
    if (!key.plain || limit_ == 0) return nullptr;
    Entry& entry = entry_of(e, key);
    for (const auto& p : entry.graphs)
        if (p->fits(key.values)) {
            ++entry.hits;
            ++hits_;
            return p.get();
        }
    CompiledGraph* graph = compile(entry, e, key.values);
    const auto is_equal = [&](const DynamicValues& f) { return equal_values(f, key.values); };
    if (std::none_of(entry.seen.begin(), entry.seen.end(), is_equal)) {
        if (entry.seen.size() == max_seen) entry.seen.erase(entry.seen.begin());
        entry.seen.push_back(key.values);
    }
    shrink();
    return graph;
}

GraphCache::Entry& GraphCache::entry_of(const Evaluation& e, GraphKey& key)
{
    const auto [at, is_new] = entries_.try_emplace(std::move(key.structure));
    found_ = &at->second;
    if (is_new) found_->name = std::to_string(e.nodes.size()) + " nodes up to " + e.nodes.back()->op->name;
    found_->last_use = ++uses_;
    return *found_;
}

// Compiles a graph for the evaluation, but not for the first one of a structure, as no other may follow.
CompiledGraph* GraphCache::compile(Entry& entry, const Evaluation& e, const DynamicValues& values)
{
    if (entry.seen.empty() || entry.is_refused || entry.compiled >= max_compiled) return nullptr;
    std::vector<DynamicValues> all = entry.seen; // followed by those of this evaluation
    std::erase_if(all, [&](const DynamicValues& f) { return equal_values(f, values); });
    all.push_back(values);
    if (entry.refused.empty())
        if (CompiledGraph* p = add(entry, e, all)) {
            entry.graphs.resize(1); // the new graph, at the front, replaces all others
            return p;
        }
    // Sizes can't be symbols: compiles for evaluations of these sizes, whose numbers may differ.
    const auto other_sizes = [&](const DynamicValues& f) { return f.sizes != values.sizes; };
    if (std::all_of(entry.seen.begin(), entry.seen.end(), other_sizes)) return nullptr;
    std::erase_if(all, other_sizes);
    return add(entry, e, all);
}

// Compiles a graph that serves all these values.  Returns null where the shape rules do not hold with symbols.
CompiledGraph* GraphCache::add(Entry& entry, const Evaluation& e, const std::vector<DynamicValues>& all)
{
    ++entry.compiled;
    try {
        auto graph = std::make_unique<CompiledGraph>(e, all, device_);
        if (entry.graphs.size() == max_graphs) entry.graphs.pop_back();
        entry.graphs.insert(entry.graphs.begin(), std::move(graph));
        return entry.graphs.front().get();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::shape && error.kind() != ErrorKind::argument &&
            error.kind() != ErrorKind::state && error.kind() != ErrorKind::unsupported)
            throw;
        entry.refused = error.what();
        return nullptr;
    }
}

void GraphCache::refuse(const Error& error)
{
    found_->graphs.clear();
    found_->is_refused = true;
    found_->refused = error.what();
}

void GraphCache::set_limit(std::size_t structures)
{
    limit_ = structures;
    shrink();
}

void GraphCache::shrink()
{
    std::size_t bytes = 0;
    for (const auto& entry : entries_) bytes += estimated_bytes(entry);
    const auto is_older = [](const auto& a, const auto& b) { return a.second.last_use < b.second.last_use; };
    while (entries_.size() > limit_ || (bytes > max_bytes && entries_.size() > 1)) {
        const auto oldest = std::min_element(entries_.begin(), entries_.end(), is_older);
        bytes -= estimated_bytes(*oldest);
        entries_.erase(oldest);
    }
    size_ = entries_.size();
}

std::string GraphCache::text() const
{
    std::vector<const Entry*> entries; // most recently used first
    for (const auto& [structure, entry] : entries_) entries.push_back(&entry);
    std::ranges::sort(entries, std::ranges::greater(), &Entry::last_use);
    std::ostringstream out;
    for (const Entry* const entry : entries) {
        const Entry& e = *entry;
        out << e.name << ": ";
        if (e.graphs.empty()) out << "planned once";
        else
            out << "served " << e.hits << " times by " << e.graphs.size() << " plan"
                << (e.graphs.size() > 1 ? "s" : "");
        if (e.compiled >= max_compiled) out << ", planned anew since, after " << e.compiled << " plans";
        if (!e.refused.empty())
            out << (e.is_refused ? ", planned anew: " : ", planned anew for other sizes: ") << e.refused;
        out << '\n';
    }
    return out.str();
}

} // namespace reprise::eager
