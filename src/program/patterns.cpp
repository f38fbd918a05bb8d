#include "program/patterns.hpp"

#include <algorithm>
#include <bit>
#include <sstream>
#include <utility>

namespace reprise::program {

namespace {

constexpr std::size_t most_met = 4, most_patterns = 4; // of a structure
constexpr std::uint64_t most_made = 12;                // after so many it is planned for itself
constexpr std::size_t most_weight = 128 << 20;         // bytes, about
constexpr std::size_t recording_weight = 256 << 10;    // bytes: lavapipe's command buffers of 16 slots
constexpr std::size_t launch_weight = 3072; // bytes of a recorded launch: its record in each slot, commands

bool alike(const Figures& a, const Figures& b)
{
    return a.sizes == b.sizes &&
           std::equal(a.numbers.begin(), a.numbers.end(), b.numbers.begin(), b.numbers.end(),
                      [](double x, double y) {
                          return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
                      });
}

} // namespace

std::size_t Patterns::Entry::weight() const
{
    std::size_t bytes = structure.size() * sizeof(std::uint64_t);
    for (const Figures& f : met)
        bytes += f.sizes.size() * sizeof(std::int64_t) + f.numbers.size() * sizeof(double);
    for (const auto& p : patterns)
        bytes += recording_weight + p->launches() * launch_weight + p->known_bytes();
    return bytes;
}

Pattern* Patterns::find(const Evaluation& e, Form& form)
{
    if (!form.plain || limit_ == 0) return nullptr;
    Entry& entry = entry_of(e, form);
    for (const auto& p : entry.patterns)
        if (p->fits(form.figures)) {
            ++entry.hits;
            ++hits_;
            return p.get();
        }
    Pattern* made = make(entry, e, form.figures);
    if (!was_met(entry, form.figures)) {
        if (entry.met.size() == most_met) entry.met.erase(entry.met.begin());
        entry.met.push_back(form.figures);
    }
    shrink();
    return made;
}

Patterns::Entry& Patterns::entry_of(const Evaluation& e, Form& form)
{
    const auto [from, to] = by_hash_.equal_range(form.hash);
    for (auto it = from; it != to; ++it)
        if (it->second->structure == form.structure) {
            entries_.splice(entries_.begin(), entries_, it->second);
            return entries_.front();
        }
    entries_.push_front(
        {.structure = std::exchange(form.structure, {}),
         .hash = form.hash,
         .name = std::to_string(e.nodes.size()) + " nodes up to " + e.nodes.back()->op->name});
    by_hash_.emplace(form.hash, entries_.begin());
    return entries_.front();
}

bool Patterns::was_met(const Entry& entry, const Figures& figures)
{
    return std::any_of(entry.met.begin(), entry.met.end(),
                       [&](const Figures& f) { return alike(f, figures); });
}

bool Patterns::was_met_at(const Entry& entry, const Figures& figures)
{
    return std::any_of(entry.met.begin(), entry.met.end(),
                       [&](const Figures& f) { return f.sizes == figures.sizes; });
}

// For the first of a structure none: it may be the only one.
Pattern* Patterns::make(Entry& entry, const Evaluation& e, const Figures& figures)
{
    if (entry.met.empty() || entry.is_refused || entry.made >= most_made) return nullptr;
    std::vector<Figures> all = entry.met; // and those of the evaluation last
    std::erase_if(all, [&](const Figures& f) { return alike(f, figures); });
    all.push_back(figures);
    if (entry.refused.empty() && (all.size() > 1 || was_met(entry, figures)))
        if (Pattern* p = add(entry, e, all)) {
            entry.patterns.resize(1); // it serves what the others did
            return p;
        }
    if (entry.refused.empty() || !was_met_at(entry, figures)) return nullptr;
    // Numbers may differ where sizes may not.
    std::erase_if(all, [&](const Figures& f) { return f.sizes != figures.sizes; });
    return add(entry, e, all);
}

// Null where the shape rules do not follow.
Pattern* Patterns::add(Entry& entry, const Evaluation& e, const std::vector<Figures>& all)
{
    ++entry.made;
    try {
        auto made = std::make_unique<Pattern>(e, all, device_);
        if (entry.patterns.size() == most_patterns) entry.patterns.pop_back();
        entry.patterns.insert(entry.patterns.begin(), std::move(made));
        return entry.patterns.front().get();
    } catch (const Error& error) {
        if (error.kind() != ErrorKind::shape && error.kind() != ErrorKind::argument &&
            error.kind() != ErrorKind::state && error.kind() != ErrorKind::unsupported)
            throw;
        entry.refused = error.what();
        return nullptr;
    }
}

void Patterns::refuse(const Error& error)
{
    Entry& entry = entries_.front();
    entry.patterns.clear();
    entry.is_refused = true;
    entry.refused = error.what();
}

void Patterns::set_limit(std::size_t structures)
{
    limit_ = structures;
    if (limit_ == 0) {
        entries_.clear();
        by_hash_.clear();
        size_ = 0;
    } else shrink();
}

void Patterns::shrink()
{
    std::size_t weight = 0;
    for (const Entry& e : entries_) weight += e.weight();
    while (entries_.size() > limit_ || (weight > most_weight && entries_.size() > 1)) {
        const auto last = std::prev(entries_.end());
        weight -= last->weight();
        const auto [from, to] = by_hash_.equal_range(last->hash);
        by_hash_.erase(std::find_if(from, to, [&](const auto& at) { return at.second == last; }));
        entries_.pop_back();
    }
    size_ = entries_.size();
}

std::string Patterns::text() const
{
    std::ostringstream out;
    for (const Entry& e : entries_) {
        out << e.name << ": ";
        if (e.patterns.empty()) out << "planned once";
        else
            out << "served " << e.hits << " times by " << e.patterns.size() << " plan"
                << (e.patterns.size() > 1 ? "s" : "");
        if (e.made >= most_made) out << ", planned anew since: they were " << e.made;
        if (!e.refused.empty())
            out << (e.is_refused ? ", planned anew: " : ", planned anew for other sizes: ") << e.refused;
        out << '\n';
    }
    return out.str();
}

} // namespace reprise::program
