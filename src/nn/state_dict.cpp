// Saves and loads the values of parameters and buffers by name.
#include <reprise/autograd/grad.hpp>
#include <reprise/nn/module.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <reprise/quantized.hpp>

#include "nn/checks.hpp"

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
    void unexpected(const std::string& name) { unexpected_.push_back(name); }
    void shape(const std::string& name, const Shape& given, const Shape& own)
    {
        kind_ = ErrorKind::shape;
        unlike_.push_back(name + " has the shape " + to_string(given) + " where " + to_string(own) +
                          " is needed");
    }
    void dtype(const std::string& name, const StoredType& given, DType own)
    {
        if (unlike_.empty()) kind_ = ErrorKind::dtype;
        unlike_.push_back(name + " has the dtype " + to_string(given) + " where " + name_of(own) +
                          " is needed");
    }
    void undefined(const std::string& name) { unlike_.push_back(name + " is undefined"); }
    void twice(const std::string& name, const std::string& first)
    {
        unlike_.push_back(name + " has the name of " + first);
    }
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

// A value before it is read.
struct Given {
    std::string name; // in the file or the map
    Shape shape{};
    StoredType type = f32;
    bool defined = true;
    std::string label{}; // the name for errors
};
using Matched = std::vector<std::pair<Variable, std::string>>; // of the module, and the name of its value

// Whether load_quantized() takes a value of this type and shape.
bool is_quantized_matrix(const StoredType& type, const Shape& shape)
{
    const BlockType* const blocks = std::get_if<BlockType>(&type);
    return blocks && shape.size() == 2 && quantized_format_of(*blocks);
}

// A file names a matrix in blocks like any weight.  Where the module has a quantised weight of this name and format,
// gives the value the name, the shape and the dtype of its bytes.
void take_as_bytes(std::string& name, Given& value, const std::set<std::string>& names)
{
    if (!is_quantized_matrix(value.type, value.shape)) return;
    const BlockType type = std::get<BlockType>(value.type);
    const std::string suffix = std::string(".") + name_of(type);
    const std::string of_bytes = name.ends_with(suffix) ? name : name + suffix;
    if (!names.contains(of_bytes)) return;
    name = of_bytes;
    value.shape.back() = value.shape.back().value() / elements_per_block(type) * bytes_per_block(type);
    value.type = u8;
}

// Returns the values by the names that the module should have for them.
std::map<std::string, Given> by_own_name(std::vector<Given> values, const std::set<std::string>& names,
                                         const LoadOptions& options, LoadResult& left, Mismatches& mismatches)
{
    std::map<std::string, Given> out;
    for (Given& value : values) {
        if (!value.name.starts_with(options.prefix)) {
            left.dropped_keys.push_back(value.name);
            continue;
        }
        const std::string name = value.name.substr(options.prefix.size());
        std::optional<std::string> own = options.rename ? options.rename(name) : name;
        if (!own) {
            left.dropped_keys.push_back(value.name);
            continue;
        }
        value.label = "(" + value.name + (*own == name ? ")" : ", renamed to " + *own + ")");
        take_as_bytes(*own, value, names);
        const auto [at, added] = out.emplace(*own, value);
        if (!added) mismatches.twice(value.label, at->second.label);
    }
    std::sort(left.dropped_keys.begin(), left.dropped_keys.end());
    return out;
}

// Throws one Error for all values that do not fit the module's `state`.
Matched match(const std::vector<std::pair<std::string, Variable>>& state, std::vector<Given> values,
              const LoadOptions& options, LoadResult& left)
{
    Mismatches mismatches;
    std::set<std::string> names;
    for (const auto& [name, own] : state) names.insert(name);
    const std::map<std::string, Given> given =
        by_own_name(std::move(values), names, options, left, mismatches);
    const auto castable = [&](const Given& value, DType to) {
        if (std::holds_alternative<BlockType>(value.type))
            return options.cast && is_floating(to) && is_quantized_matrix(value.type, value.shape);
        const DType dtype = std::get<DType>(value.type);
        return dtype == to || (options.cast && is_floating(dtype) == is_floating(to));
    };
    Matched matched;
    for (const auto& [name, own] : state) {
        const auto found = given.find(name);
        if (found == given.end()) {
            left.missing_keys.push_back(name);
            if (options.strict) mismatches.missing(name);
            continue;
        }
        const Given& value = found->second;
        if (!value.defined) mismatches.undefined(value.label);
        else if (!same_shape(value.shape, own.shape()))
            mismatches.shape(value.label, value.shape, own.shape());
        else if (!castable(value, own.dtype())) mismatches.dtype(value.label, value.type, own.dtype());
        else matched.emplace_back(own, value.name);
    }
    for (const auto& [name, value] : given)
        if (!names.contains(name)) {
            left.unexpected_keys.push_back(name);
            if (options.strict) mismatches.unexpected(value.label);
        }
    mismatches.throw_if_any();
    std::sort(left.missing_keys.begin(), left.missing_keys.end());
    return matched;
}

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
    check_not_recording("load_state_dict", "Values can't be loaded");
    std::vector<Given> given;
    for (const auto& [name, value] : values)
        given.push_back(value.defined() ? Given{name, value.shape(), value.dtype()}
                                        : Given{.name = name, .defined = false});
    LoadResult left;
    Matched matched = match(state(), std::move(given), options, left);
    const no_grad guard;
    std::vector<Tensor> ready; // all copies are made before the first change, as they may fail
    for (const auto& [own, name] : matched)
        ready.push_back(values.at(name).detach().to(own.device(), own.dtype()));
    for (std::size_t i = 0; i < matched.size(); ++i) matched[i].first.assign(ready[i]);
    return left;
}

namespace {

// Returns the value for a parameter or a buffer, which match() found to fit, on its device and in its dtype.
Tensor load_for(const Variable& own, const ModelFile& file, const std::string& name)
{
    if (std::holds_alternative<DType>(file.at(name).type))
        return file.load(name, {.dtype = own.dtype(), .device = own.device()});
    const QuantizedTensor q = file.load_quantized(name, own.device());
    if (!is_floating(own.dtype())) return q.bytes();
    const Tensor out = dequantize(q, own.dtype());
    out.eval(); // so that the bytes are freed
    return out;
}

} // namespace

LoadResult Module::load_state_dict(const ModelFile& file, const LoadOptions& options)
{
    check_not_recording("load_state_dict", "Values can't be loaded");
    std::vector<Given> given;
    for (const auto& [name, tensor] : file.tensors()) given.push_back({name, tensor.shape, tensor.type});
    LoadResult left;
    Matched matched = match(state(), std::move(given), options, left);
    const no_grad guard;
    for (auto& [own, name] : matched) own.assign(load_for(own, file, name));
    return left;
}

} // namespace reprise::nn
