#include "eager/graph_cache.hpp"

#include <algorithm>
#include <bit>
#include <sstream>
#include <utility>

namespace reprise::eager {

namespace {

constexpr std::size_t max_seen = 4, max_graphs = 4; // of a structure
constexpr std::uint64_t max_made = 12;              // after so many it is planned for itself
constexpr std::size_t max_bytes = 128 << 20;        // bytes, about
constexpr std::size_t recording_bytes = 256 << 10;  // bytes: lavapipe's command buffers of 16 slots
constexpr std::size_t launch_bytes = 3072; // bytes of a recorded launch: its record in each slot, commands

bool alike(const DynamicValues& a, const DynamicValues& b)
{
    return a.sizes == b.sizes &&
           std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), b.numbers.end(),
                      [](double x, double y) {
                          return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
                      });
}

} // namespace

std::size_t GraphCache::Entry::estimated_bytes() const
{
    std::size_t bytes = structure.size() * sizeof(std::uint64_t);
    for (const DynamicValues& f : seen)
        bytes += f.sizes.size() * sizeof(std::int64_t) + f.numbers.size() * sizeof(double);
    for (const auto& p : graphs) bytes += recording_bytes + p->launches() * launch_bytes + p->known_bytes();
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
    CompiledGraph* made = make(entry, e, key.values);
    if (!was_seen(entry, key.values)) {
        if (entry.seen.size() == max_seen) entry.seen.erase(entry.seen.begin());
        entry.seen.push_back(key.values);
    }
    shrink();
    return made;
}

GraphCache::Entry& GraphCache::entry_of(const Evaluation& e, GraphKey& key)
{
    const auto [from, to] = by_hash_.equal_range(key.hash);
    for (auto it = from; it != to; ++it)
        if (it->second->structure == key.structure) {
            entries_.splice(entries_.begin(), entries_, it->second);
            return entries_.front();
        }
    entries_.push_front(
        {.structure = std::exchange(key.structure, {}),
         .hash = key.hash,
         .name = std::to_string(e.nodes.size()) + " nodes up to " + e.nodes.back()->op->name});
    by_hash_.emplace(key.hash, entries_.begin());
    return entries_.front();
}

bool GraphCache::was_seen(const Entry& entry, const DynamicValues& values)
{
    return std::any_of(entry.seen.begin(), entry.seen.end(),
                       [&](const DynamicValues& f) { return alike(f, values); });
}

bool GraphCache::sizes_were_seen(const Entry& entry, const DynamicValues& values)
{
    return std::any_of(entry.seen.begin(), entry.seen.end(),
                       [&](const DynamicValues& f) { return f.sizes == values.sizes; });
}

// For the first of a structure none: it may be the only one.
CompiledGraph* GraphCache::make(Entry& entry, const Evaluation& e, const DynamicValues& values)
{
    if (entry.seen.empty() || entry.is_refused || entry.made >= max_made) return nullptr;
    std::vector<DynamicValues> all = entry.seen; // and those of the evaluation last
    std::erase_if(all, [&](const DynamicValues& f) { return alike(f, values); });
    all.push_back(values);
    if (entry.refused.empty() && (all.size() > 1 || was_seen(entry, values)))
        if (CompiledGraph* p = add(entry, e, all)) {
            entry.graphs.resize(1); // it serves what the others did
            return p;
        }
    if (entry.refused.empty() || !sizes_were_seen(entry, values)) return nullptr;
    // Numbers may differ where sizes may not.
    std::erase_if(all, [&](const DynamicValues& f) { return f.sizes != values.sizes; });
    return add(entry, e, all);
}

// Null where the shape rules do not follow.
CompiledGraph* GraphCache::add(Entry& entry, const Evaluation& e, const std::vector<DynamicValues>& all)
{
    ++entry.made;
    try {
        auto made = std::make_unique<CompiledGraph>(e, all, device_);
        if (entry.graphs.size() == max_graphs) entry.graphs.pop_back();
        entry.graphs.insert(entry.graphs.begin(), std::move(made));
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
    Entry& entry = entries_.front();
    entry.graphs.clear();
    entry.is_refused = true;
    entry.refused = error.what();
}

void GraphCache::set_limit(std::size_t structures)
{
    limit_ = structures;
    if (limit_ == 0) {
        entries_.clear();
        by_hash_.clear();
        size_ = 0;
    } else shrink();
}

void GraphCache::shrink()
{
    std::size_t bytes = 0;
    for (const Entry& e : entries_) bytes += e.estimated_bytes();
    while (entries_.size() > limit_ || (bytes > max_bytes && entries_.size() > 1)) {
        const auto last = std::prev(entries_.end());
        bytes -= last->estimated_bytes();
        const auto [from, to] = by_hash_.equal_range(last->hash);
        by_hash_.erase(std::find_if(from, to, [&](const auto& at) { return at.second == last; }));
        entries_.pop_back();
    }
    size_ = entries_.size();
}

std::string GraphCache::text() const
{
    std::ostringstream out;
    for (const Entry& e : entries_) {
        out << e.name << ": ";
        if (e.graphs.empty()) out << "planned once";
        else
            out << "served " << e.hits << " times by " << e.graphs.size() << " plan"
                << (e.graphs.size() > 1 ? "s" : "");
        if (e.made >= max_made) out << ", planned anew since: they were " << e.made;
        if (!e.refused.empty())
            out << (e.is_refused ? ", planned anew: " : ", planned anew for other sizes: ") << e.refused;
        out << '\n';
    }
    return out.str();
}

} // namespace reprise::eager
