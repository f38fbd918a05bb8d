#include "optim/state_parts.hpp"

#include <charconv>
#include <map>
#include <vector>

#include <reprise/grad_mode.hpp>
#include <reprise/ops/shapes.hpp>

namespace reprise::optim {

namespace {

constexpr const char *op = "load_state_dict", *mark = ".part_", *of = "_of_";

// The name of a part: `part` of `parts`, of the entry.
struct Name {
    std::string entry;
    int part = 0, parts = 0;
};

std::optional<Name> parsed(const std::string& name)
{
    const std::size_t at = name.rfind(mark);
    if (at == std::string::npos) return std::nullopt;
    Name n{.entry = name.substr(0, at)};
    const char *begin = name.data() + at + std::string(mark).size(), *end = name.data() + name.size();
    std::from_chars(begin, end, n.part);
    if (const std::size_t second = name.find(of, at); second != std::string::npos)
        std::from_chars(name.data() + second + std::string(of).size(), end, n.parts);
    return n.part >= 0 && n.part < n.parts && part_name(n.entry, n.part, n.parts) == name ? std::optional(n)
                                                                                          : std::nullopt;
}

} // namespace

std::string part_name(const std::string& entry, int part, int parts)
{
    return entry + mark + std::to_string(part) + of + std::to_string(parts);
}

std::string without_part(const std::string& name)
{
    const std::optional<Name> n = parsed(name);
    return n ? n->entry : name;
}

std::optional<Tensor> whole_entry(const StateDict& state, const std::string& name, const Shape& shape)
{
    if (const auto found = state.find(name); found != state.end()) return found->second;
    std::int64_t elements = 1;
    for (const Dim& d : shape) elements *= d.value();
    std::map<int, Tensor> parts;
    int n = 0;
    for (auto at = state.lower_bound(name + mark); at != state.end() && at->first.starts_with(name + mark);
         ++at) {
        const std::optional<Name> part = parsed(at->first);
        if (!part || part->entry != name) continue; // not known to any optimizer
        if (n != 0 && part->parts != n)
            detail::fail(ErrorKind::argument, op, "The entry (", at->first, ") is a part of (", part->parts,
                         "), but others are of (", n, "): load the states of one world.");
        n = part->parts;
        if (at->second.defined() && at->second.dtype() == u8)
            detail::fail(ErrorKind::unsupported, op, "The entry (", at->first,
                         ") is a part of a moment in 8 bits, which fits the rank only that had it.");
        const std::int64_t size = (elements + n - 1) / n;
        if (!at->second.defined() || !same(at->second.numel(), size))
            detail::fail(ErrorKind::shape, op, "The entry (", at->first, ") has the shape ",
                         at->second.defined() ? to_string(at->second.shape()) : "of an undefined tensor",
                         " but should have [", size, "].");
        parts.emplace(part->part, at->second);
    }
    if (n == 0) return std::nullopt;
    std::vector<Tensor> all; // on the device of the first, as ranks have devices of their own
    for (int k = 0; k < n; ++k) {
        const auto found = parts.find(k);
        if (found == parts.end())
            detail::fail(ErrorKind::argument, op, "The part (", k, ") of the (", n, ") of the entry (", name,
                         ") is missing: load the states of all ranks together.");
        all.push_back(all.empty() ? found->second : found->second.to(all[0].device()));
    }
    const no_grad off;
    return reshape(narrow(cat(all, 0), 0, 0, elements), shape);
}

} // namespace reprise::optim
