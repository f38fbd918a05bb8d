#include "eager/dynamic_dims.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "shape/checked.hpp"

namespace reprise::eager {

namespace {

using Values = std::vector<std::int64_t>; // the values of one size, by call
constexpr std::size_t max_factors = 16;   // number of symbols that are tried as factors of products

class Inference {
public:
    Inference(const std::vector<Values>& calls, std::size_t attributes)
        : calls_(calls), attributes_(attributes)
    {}

    DynamicDims run()
    {
        const std::size_t count = calls_.front().size();
        out_.sizes.reserve(count);
        std::vector<std::size_t> open;
        for (std::size_t i = 0; i < count; ++i) {
            out_.sizes.emplace_back(calls_.front()[i]);
            if (std::any_of(calls_.begin(), calls_.end(),
                            [&](const Values& c) { return c[i] != calls_.front()[i]; }))
                open.push_back(i);
        }
        // Sorts sizes of externals and small sizes first, as others are likely to be multiples of them.
        std::stable_sort(open.begin(), open.end(), [&](std::size_t a, std::size_t b) {
            return std::pair(a < attributes_, calls_.front()[a]) <
                   std::pair(b < attributes_, calls_.front()[b]);
        });
        for (const std::size_t i : open) out_.sizes[i] = expression_at(i);
        return std::move(out_);
    }

private:
    struct Base {
        Values values;
        Dim symbol;
    };

    Dim expression_at(std::size_t position)
    {
        Values values;
        for (const Values& c : calls_) values.push_back(c[position]);
        const auto [entry, is_new] = expressions_.try_emplace(values, 0);
        if (is_new) entry->second = derived(values, position < attributes_).value_or(Dim(0));
        if (entry->second.is_constant()) entry->second = new_symbol(std::move(values), position);
        return entry->second;
    }

    Dim new_symbol(Values values, std::size_t position)
    {
        const Dim s = symbol("size_" + std::to_string(bases_.size()));
        out_.symbols.push_back({s.symbols().front(), position});
        bases_.push_back({std::move(values), s});
        return s;
    }

    // Expresses a size by the symbols so far; none: it needs a new symbol.  Sizes of externals are only expressed as
    // multiples, since with few calls an offset between two independent sizes may be accidental.
    std::optional<Dim> derived(const Values& values, bool of_attribute) const
    {
        for (const Base& b : bases_)
            if (const auto k = factor(values, b.values)) return b.symbol * Dim(*k);
        if (!of_attribute) return std::nullopt;
        for (const Base& b : bases_)
            if (const auto k = factor(b.values, values); k && *k != 0) return floor_div(b.symbol, Dim(*k));
        const std::size_t factors = std::min(bases_.size(), max_factors);
        for (std::size_t i = 0; i < factors; ++i)
            for (std::size_t j = i; j < factors && is_small(bases_[i]) && is_small(bases_[j]); ++j)
                if (const auto k = factor(values, product(bases_[i].values, bases_[j].values)))
                    return bases_[i].symbol * bases_[j].symbol * Dim(*k);
        for (const Base& b : bases_)
            if (const auto m = offset(values, b.values)) return b.symbol + Dim(*m);
        return std::nullopt;
    }

    static bool is_small(const Base& b)
    {
        return std::all_of(b.values.begin(), b.values.end(),
                           [](std::int64_t v) { return v == static_cast<std::int32_t>(v); });
    }
    static Values product(const Values& a, const Values& b)
    {
        Values out;
        for (std::size_t i = 0; i < a.size(); ++i) out.push_back(a[i] * b[i]);
        return out;
    }

    // Returns k with a = k * b at every call.
    static std::optional<std::int64_t> factor(const Values& a, const Values& b)
    {
        std::optional<std::int64_t> k;
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (b[i] == 0) {
                if (a[i] != 0) return std::nullopt;
                continue;
            }
            if (a[i] % b[i] != 0 || (k && *k != a[i] / b[i])) return std::nullopt;
            k = a[i] / b[i];
        }
        return k;
    }

    // Returns m with a = b + m at every call.
    static std::optional<std::int64_t> offset(const Values& a, const Values& b)
    {
        std::int64_t first = 0, m = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            if (shape::subtract_overflows(a[i], b[i], m) || (i > 0 && m != first)) return std::nullopt;
            first = m;
        }
        return first;
    }

    const std::vector<Values>& calls_;
    std::size_t attributes_;
    DynamicDims out_;
    std::vector<Base> bases_;
    std::map<Values, Dim> expressions_;
};

} // namespace

DynamicDims infer_dynamic_dims(const std::vector<std::vector<std::int64_t>>& calls, std::size_t attributes)
{
    return Inference(calls, attributes).run();
}

} // namespace reprise::eager
