#include "checkpointing/recording.hpp"

#include <algorithm>
#include <string>

namespace reprise::checkpointing {

using Tensors = std::vector<Tensor>;

Defined defined_of(const Tensors& tensors)
{
    Defined out;
    for (const Tensor& t : tensors) out.push_back(t.defined());
    return out;
}

Tensors without_undefined(const Tensors& tensors)
{
    Tensors out;
    for (const Tensor& t : tensors)
        if (t.defined()) out.push_back(t);
    return out;
}

Tensors with_undefined(const Tensors& tensors, const Defined& defined)
{
    Tensors out;
    auto next = tensors.begin();
    for (const bool is : defined) out.push_back(is ? *next++ : Tensor());
    return out;
}

Call::Call(const Tensors& all)
    : inputs(without_undefined(all)), defined(defined_of(all)),
      device(inputs.empty() ? default_device() : inputs[0].device())
{
    for (const Tensor& t : inputs) specs.push_back({t.shape(), t.dtype()});
}

Tensors Recording::operator()(const Call& call) const
{
    return with_undefined(program.call(call.inputs), outputs_defined);
}

bool same_kind(const Recording& r, const Call& call)
{
    return r.device == call.device && r.defined == call.defined &&
           std::equal(r.specs.begin(), r.specs.end(), call.specs.begin(), call.specs.end(),
                      [](const Spec& a, const Spec& b) {
                          return a.dtype == b.dtype && a.shape.size() == b.shape.size();
                      });
}

// Returns the index of the pair; all.size() if it is absent.
std::size_t index_of(const Differences& all, const std::pair<Dim, Dim>& pair)
{
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& other) {
        return same(other.first, pair.first) && same(other.second, pair.second);
    });
    return static_cast<std::size_t>(found - all.begin());
}

Differences differences(const std::vector<Spec>& recorded, const std::vector<Spec>& given)
{
    Differences found;
    for (std::size_t i = 0; i < given.size(); ++i)
        for (std::size_t d = 0; d < given[i].shape.size(); ++d) {
            const std::pair<Dim, Dim> pair{recorded[i].shape[d], given[i].shape[d]};
            if (!same(pair.first, pair.second) && index_of(found, pair) == found.size())
                found.push_back(pair);
        }
    return found;
}

bool fits(const Recording& r, const Call& call)
{
    const Differences all = differences(r.specs, call.specs);
    return std::all_of(all.begin(), all.end(), [&](const auto& pair) {
        return !pair.first.is_constant() && std::all_of(all.begin(), all.end(), [&](const auto& other) {
            return !same(other.first, pair.first) || same(other.second, pair.second);
        });
    });
}

std::vector<Spec> generalised(const std::vector<Spec>& recorded, const std::vector<Spec>& given, Ones ones)
{
    const Differences all = differences(recorded, given);
    DimVector symbols;
    for (std::size_t i = 0; i < all.size(); ++i) symbols.push_back(symbol("size_" + std::to_string(i)));
    std::vector<Spec> specs = recorded;
    for (std::size_t i = 0; i < given.size(); ++i)
        for (std::size_t d = 0; d < given[i].shape.size(); ++d) {
            const std::size_t found = index_of(all, {recorded[i].shape[d], given[i].shape[d]});
            if (ones == Ones::numbers && same(given[i].shape[d], 1)) specs[i].shape[d] = 1;
            else if (found != all.size()) specs[i].shape[d] = symbols[found];
        }
    return specs;
}

std::size_t count_symbols(const std::vector<Spec>& specs)
{
    std::size_t count = 0;
    for (const Spec& s : specs)
        count += static_cast<std::size_t>(
            std::count_if(s.shape.begin(), s.shape.end(), [](const Dim& d) { return !d.is_constant(); }));
    return count;
}

} // namespace reprise::checkpointing
