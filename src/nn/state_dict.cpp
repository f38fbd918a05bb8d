// Values of parameters and buffers by name.
#include <reprise/io.hpp>
#include <reprise/nn/module.hpp>
#include <reprise/ops/creation.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/program.hpp>

#include <algorithm>
#include <set>

namespace reprise::nn {

namespace {

constexpr std::size_t names_told = 8; // of each kind, so that the sentence stays readable

bool same_shape(const Shape& a, const Shape& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Dim& x, const Dim& y) { return x.value() == y.value(); });
}

// The parts of one sentence about all that does not fit.
class Mismatches {
public:
    void missing(const std::string& name) { missing_.push_back("(" + name + ")"); }
    void unexpected(const std::string& name) { unexpected_.push_back("(" + name + ")"); }
    void shape(const std::string& name, const Shape& given, const Shape& own)
    {
        kind_ = ErrorKind::shape;
        unlike_.push_back("(" + name + ") has the shape " + to_string(given) + " where " + to_string(own) +
                          " is needed");
    }
    void dtype(const std::string& name, DType given, DType own)
    {
        if (unlike_.empty()) kind_ = ErrorKind::dtype;
        unlike_.push_back("(" + name + ") has the dtype " + name_of(given) + " where " + name_of(own) +
                          " is needed");
    }
    void undefined(const std::string& name) { unlike_.push_back("(" + name + ") is undefined"); }
    void throw_if_any() const
    {
        std::string text;
        add(text, "missing: ", missing_);
        add(text, "unexpected: ", unexpected_);
        add(text, "", unlike_);
        if (!text.empty())
            detail::fail(kind_, "load_state_dict",
                         "The values do not fit the module, which is unchanged: ", text, ".");
    }

private:
    static void add(std::string& text, const char* title, const std::vector<std::string>& parts)
    {
        if (parts.empty()) return;
        text += (text.empty() ? "" : "; ") + std::string(title);
        for (std::size_t i = 0; i < std::min(parts.size(), names_told); ++i)
            text += (i ? ", " : "") + parts[i];
        if (parts.size() > names_told) text += " and " + std::to_string(parts.size() - names_told) + " more";
    }
    ErrorKind kind_ = ErrorKind::argument;
    std::vector<std::string> missing_, unexpected_, unlike_;
};

Tensor on_device(const Tensor& value, const Device& device)
{
    if (value.device() == device) return value.detach();
    return from_bytes(to_bytes(value), value.shape(), {.dtype = value.dtype(), .device = device});
}

} // namespace

StateDict Module::state_dict() const
{
    StateDict out;
    for (const auto& [name, value] : state()) out.emplace(name, value.detach());
    return out;
}

void Module::load_state_dict(const StateDict& values, bool strict)
{
    if (is_recording())
        detail::fail(ErrorKind::state, "load_state_dict",
                     "Values can't be loaded while a program is recorded: load them before.");
    std::vector<std::pair<Variable, const Tensor*>> matched;
    std::set<std::string> known;
    Mismatches mismatches;
    for (const auto& [name, own] : state()) {
        known.insert(name);
        const auto found = values.find(name);
        if (found == values.end()) {
            if (strict) mismatches.missing(name);
        } else if (!found->second.defined()) {
            mismatches.undefined(name);
        } else if (!same_shape(found->second.shape(), own.shape())) {
            mismatches.shape(name, found->second.shape(), own.shape());
        } else if (found->second.dtype() != own.dtype()) {
            mismatches.dtype(name, found->second.dtype(), own.dtype());
        } else {
            matched.emplace_back(own, &found->second);
        }
    }
    for (const auto& entry : values)
        if (strict && !known.contains(entry.first)) mismatches.unexpected(entry.first);
    mismatches.throw_if_any();

    std::vector<Tensor> ready; // all copies between devices before the first change: they may fail
    for (const auto& [own, value] : matched) ready.push_back(on_device(*value, own.device()));
    for (std::size_t i = 0; i < matched.size(); ++i) matched[i].first.assign(ready[i]);
}

} // namespace reprise::nn
