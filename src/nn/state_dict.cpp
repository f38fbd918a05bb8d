// Saves and loads the values of parameters and buffers by name.
#include <reprise/autograd/grad.hpp>
#include <reprise/nn/module.hpp>
#include <reprise/program.hpp>

#include <algorithm>
#include <set>

namespace reprise::nn {

namespace {

constexpr std::size_t max_names = 8; // listed per kind of mismatch, so that the error stays readable

bool same_shape(const Shape& a, const Shape& b)
{
    return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                      [](const Dim& x, const Dim& y) { return x.value() == y.value(); });
}

// Collects all mismatches, and throws one Error that lists them.
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
        for (std::size_t i = 0; i < std::min(parts.size(), max_names); ++i)
            text += (i ? ", " : "") + parts[i];
        if (parts.size() > max_names) text += " and " + std::to_string(parts.size() - max_names) + " more";
    }
    ErrorKind kind_ = ErrorKind::argument;
    std::vector<std::string> missing_, unexpected_, unlike_;
};

} // namespace

StateDict Module::state_dict(const std::string& prefix) const
{
    StateDict out;
    for (const auto& [name, value] : state()) out.emplace(prefix + name, value.detach());
    return out;
}

LoadResult Module::load_state_dict(const StateDict& values, bool strict)
{
    return load_state_dict(values, LoadOptions{.strict = strict});
}

LoadResult Module::load_state_dict(const StateDict& values, const LoadOptions& options)
{
    if (is_recording())
        detail::fail(ErrorKind::state, "load_state_dict",
                     "Values can't be loaded while a program is recorded: load them before.");
    const auto castable = [&](DType from, DType to) {
        return from == to || (options.cast && is_floating(from) == is_floating(to));
    };
    std::vector<std::pair<Variable, const Tensor*>> matched;
    std::set<std::string> names;
    LoadResult left;
    Mismatches mismatches;
    for (const auto& [own_name, own] : state()) {
        const std::string name = options.prefix + own_name;
        names.insert(name);
        const auto found = values.find(name);
        if (found == values.end()) {
            left.missing_keys.push_back(own_name);
            if (options.strict) mismatches.missing(own_name);
        } else if (!found->second.defined()) {
            mismatches.undefined(name);
        } else if (!same_shape(found->second.shape(), own.shape())) {
            mismatches.shape(name, found->second.shape(), own.shape());
        } else if (!castable(found->second.dtype(), own.dtype())) {
            mismatches.dtype(name, found->second.dtype(), own.dtype());
        } else {
            matched.emplace_back(own, &found->second);
        }
    }
    for (const auto& [name, value] : values)
        if (name.starts_with(options.prefix) && !names.contains(name)) {
            left.unexpected_keys.push_back(name.substr(options.prefix.size()));
            if (options.strict) mismatches.unexpected(name);
        }
    mismatches.throw_if_any();

    const no_grad guard;
    std::vector<Tensor> ready; // all copies are made before the first change, as they may fail
    for (const auto& [own, value] : matched) ready.push_back(value->detach().to(own.device(), own.dtype()));
    for (std::size_t i = 0; i < matched.size(); ++i) matched[i].first.assign(ready[i]);
    std::sort(left.missing_keys.begin(), left.missing_keys.end());
    return left;
}

} // namespace reprise::nn
