// Low-rank adapters: the choice of layers, the hooks, and merging. Their files are in lora_files.cpp.
#include <algorithm>
#include <cmath>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <regex>
#include <set>

#include <reprise/autocast.hpp>
#include <reprise/autograd/grad.hpp>
#include <reprise/nn/attention.hpp>
#include <reprise/nn/convolution.hpp>
#include <reprise/nn/embedding.hpp>
#include <reprise/nn/linear.hpp>
#include <reprise/nn/lora.hpp>
#include <reprise/ops/convolution.hpp>
#include <reprise/ops/elementwise.hpp>
#include <reprise/ops/indexing.hpp>
#include <reprise/ops/linear_algebra.hpp>
#include <reprise/ops/normalization.hpp>
#include <reprise/ops/shapes.hpp>

#include "nn/checks.hpp"
#include "nn/weights.hpp"

namespace reprise::nn {

using detail::fail;

namespace {

constexpr const char* op = "Lora";

// ---- names ----

// Whether modules_to_save select the module, or one that contains it.  PEFT takes any end of a name: "head" selects
// "lm_head", too.
bool contain_part_of(const ModuleNames& names, const std::string& module)
{
    const auto* const ends = std::get_if<std::vector<std::string>>(&names.value());
    const auto selects = [&](const std::string& name) {
        if (!ends) return names.contains(name);
        return std::any_of(ends->begin(), ends->end(),
                           [&](const std::string& end) { return name.ends_with(end); });
    };
    for (std::size_t end = module.find('.');; end = module.find('.', end + 1)) {
        if (selects(module.substr(0, end))) return true;
        if (end == module.npos) return false;
    }
}

// Returns the name of the module that has the parameter of this name.
std::string parent_of(const std::string& parameter)
{
    const std::size_t dot = parameter.rfind('.');
    return dot == parameter.npos ? "" : parameter.substr(0, dot);
}

// Returns PEFT's name of a module or parameter, without "base_model." at its start; PEFT's wrapper of an adapted
// layer holds the layer as "base_layer".
std::string peft_name(const std::string& name, const std::set<std::string>& adapted)
{
    std::string out = "model.";
    for (std::size_t begin = 0;;) {
        const std::size_t end = name.find('.', begin);
        out += name.substr(begin, end - begin);
        if (end == name.npos) return out;
        out += adapted.contains(name.substr(0, end)) ? ".base_layer." : ".";
        begin = end + 1;
    }
}

// A module for each part of a dotted name, so that Lora has parameters of PEFT's names.
struct Node : Module {
    void add(const std::string& name, const Variable& value, bool is_buffer = false)
    {
        const std::size_t dot = name.find('.');
        if (dot == name.npos) {
            if (is_buffer) register_buffer(name, value);
            else register_parameter(name, value);
            return;
        }
        std::shared_ptr<Node>& node = nodes[name.substr(0, dot)];
        if (!node) node = register_module(name.substr(0, dot), std::make_shared<Node>());
        node->add(name.substr(dot + 1), value, is_buffer);
    }
    std::map<std::string, std::shared_ptr<Node>> nodes;
};

// ---- adapters ----

// What the hooks of a Lora read.
struct Shared {
    double scale = 1, dropout = 0;
    Mode on{"the use of adapters (Lora)"};
    bool merged = false;
};

// The adapter of one layer.
struct Adapter {
    std::string layer; // its name in the model
    Variable weight;   // W, the layer's; the bytes of a quantised one
    Variable a, b;
    std::function<Tensor(const Tensor& x)> down{};                     // A(x)
    std::function<Tensor(const Tensor& low, const Tensor& rows)> up{}; // B(low), for all or some rows of B
    bool is_embedding = false;
    double factor = 1;            // of the scale
    const char* format = nullptr; // of a quantised weight
    Tensor unmerged{};            // W without B A, where they are merged
};

// Marks a weight as one that has an adapter, until it is destroyed.
class Claim {
public:
    explicit Claim(const Adapter& adapter) : weight_(adapter.weight)
    {
        const std::lock_guard lock(mutex());
        if (!all().insert(weight_.cell().get()).second)
            fail(ErrorKind::state, op, "The weight of (", adapter.layer,
                 ") has an adapter already, of another Lora or of a layer that shares it: call unload() of "
                 "that "
                 "Lora, or leave the layer out with exclude_modules.");
    }
    ~Claim()
    {
        const std::lock_guard lock(mutex());
        all().erase(weight_.cell().get());
    }
    Claim(const Claim&) = delete;
    Claim& operator=(const Claim&) = delete;

private:
    static std::mutex& mutex()
    {
        static std::mutex m;
        return m;
    }
    static std::set<const void*>& all()
    {
        static std::set<const void*> cells;
        return cells;
    }
    Variable weight_;
};

// Returns a parameter of this value on the device of the weight.
Variable beside(const Tensor& weight, const Tensor& value)
{
    return Variable(value.detach().to(weight.device(), weight.dtype() == f64 ? f64 : f32));
}

// `sizes` are those of the weight, [out, in].
Adapter linear_adapter(const std::string& name, const Variable& weight, const Shape& sizes, std::int64_t rank)
{
    const std::int64_t in = sizes[1].value();
    const Variable a = beside(weight, uniform_by_fan_in({rank, in}, in));
    return {.layer = name,
            .weight = weight,
            .a = a,
            .b = beside(weight, zeros({sizes[0], rank})),
            .down = [a](const Tensor& x) { return linear(x, a); },
            .up = [](const Tensor& low, const Tensor& b) { return linear(low, b); }};
}

template <std::size_t N>
Adapter conv_adapter(const std::string& name, const Conv<N>& layer, std::int64_t rank)
{
    ConvSettings<N> options = layer.options();
    if (options.groups != 1)
        fail(ErrorKind::argument, op, "The module (", name, ") is a convolution of (", options.groups,
             ") groups, which has no adapter: leave it out with exclude_modules.");
    options.bias = false;
    const auto down = std::make_shared<Conv<N>>(layer.weight.size(1).value(), rank, options);
    down->to(layer.weight.device(), layer.weight.dtype() == f64 ? f64 : f32);
    Shape shape(N + 2, 1);
    shape[0] = layer.weight.size(0);
    shape[1] = rank;
    return {.layer = name,
            .weight = layer.weight,
            .a = down->weight,
            .b = beside(layer.weight, zeros(shape)),
            .down = [down](const Tensor& x) { return down->forward(x); },
            .up =
                [](const Tensor& low, const Tensor& b) {
                    if constexpr (N == 1) return conv1d(low, b);
                    else if constexpr (N == 2) return conv2d(low, b);
                    else return conv3d(low, b);
                }};
}

// `sizes` are those of the weight, [num_embeddings, embedding_dim].
Adapter embedding_adapter(const std::string& name, const Embedding& layer, const Variable& weight,
                          const Shape& sizes, std::int64_t rank)
{
    const Variable a = beside(weight, zeros({rank, sizes[0]}));
    return {.layer = name,
            .weight = weight,
            .a = a,
            .b = beside(weight, randn({sizes[1], rank})),
            .down = [a, padding = layer.options().padding_idx](
                        const Tensor& indices) { return embedding(indices, a.t(), padding); },
            .up = [](const Tensor& low, const Tensor& b) { return linear(low, b); },
            .is_embedding = true};
}

// Returns the adapter that `make` makes for a matrix of a layer, given its Variable and its shape: the parameter, or
// the buffer with the bytes of a quantised one.  There is none where the layer has neither.
template <class Make> std::optional<Adapter> matrix_adapter(const Module& layer, const Variable& weight,
                                                            const QuantizedTensor& q, const Make& make)
{
    if (weight.defined()) return make(weight, weight.shape());
    if (!q.defined()) return std::nullopt;
    const auto buffers = layer.buffers(false);
    Adapter adapter = make(*std::find_if(buffers.begin(), buffers.end(),
                                         [&](const Variable& b) { return b.cell() == q.bytes().cell(); }),
                           q.shape());
    adapter.format = name_of(q.format());
    return adapter;
}

Adapter adapter_of(const std::string& name, const Module& layer, std::int64_t rank)
{
    const auto linear = [&](const Variable& weight, const Shape& sizes) {
        return linear_adapter(name, weight, sizes, rank);
    };
    std::optional<Adapter> adapter;
    if (const auto* m = layer.as<Linear>())
        adapter = matrix_adapter(*m, m->weight, m->quantized_weight, linear);
    if (const auto* m = layer.as<MultiheadAttention>())
        adapter = matrix_adapter(*m, m->in_proj_weight, m->quantized_in_proj_weight, linear);
    if (const auto* m = layer.as<Embedding>())
        adapter = matrix_adapter(*m, m->weight, m->quantized_weight,
                                 [&](const Variable& weight, const Shape& sizes) {
                                     return embedding_adapter(name, *m, weight, sizes, rank);
                                 });
    if (const auto* m = layer.as<Conv1d>()) adapter = conv_adapter(name, *m, rank);
    if (const auto* m = layer.as<Conv2d>()) adapter = conv_adapter(name, *m, rank);
    if (const auto* m = layer.as<Conv3d>()) adapter = conv_adapter(name, *m, rank);
    if (adapter) return *adapter;
    fail(ErrorKind::argument, op, "The module (", name, ") is a (", layer.name(),
         "), for which there is no adapter: there are some for Linear, Conv1d to Conv3d, Embedding and "
         "MultiheadAttention with in_proj_weight.");
}

bool is_quantised(const Module& layer)
{
    const auto* const dense = layer.as<Linear>();
    const auto* const attention = layer.as<MultiheadAttention>();
    const auto* const rows = layer.as<Embedding>();
    return (dense && dense->quantized_weight.defined()) ||
           (attention && attention->quantized_in_proj_weight.defined()) ||
           (rows && rows->quantized_weight.defined());
}

// Returns y + scale B(A(dropout(x))), or an undefined tensor where adapters are off.
Tensor adapted(const Shared& shared, const Adapter& adapter, const Module& layer, Tensor x, const Tensor& y,
               const Tensor& b)
{
    if (!shared.on.get()) {
        if (shared.merged && grad_enabled() && layer.is_training())
            fail(ErrorKind::state, op, "The adapter of (", adapter.layer,
                 ") is merged and would get no gradient: call unmerge() to train, or eval() of the model.");
        return {};
    }
    if (!adapter.format && is_quantised(layer))
        fail(ErrorKind::state, op, "The layer (", adapter.layer,
             ") was quantised after its adapter was attached: quantise the model before.");
    if (!adapter.is_embedding) {
        x = cast(x, adapter.a.dtype());
        if (shared.dropout > 0) x = dropout(x, shared.dropout, layer.is_training());
    }
    return cast(y + adapter.up(adapter.down(x), b) * (shared.scale * adapter.factor), y.dtype());
}

HookHandle attach(Module& layer, std::shared_ptr<const Adapter> adapter, std::shared_ptr<const Shared> shared)
{
    if (auto* attention = layer.as<MultiheadAttention>())
        return attention->register_in_proj_hook(
            [adapter, shared](const Module& m, const Tensor& x, const Tensor& y, std::int64_t first) {
                return adapted(*shared, *adapter, m, x, y, narrow(adapter->b, 0, first, y.size(-1)));
            });
    return layer.register_forward_hook([adapter, shared](Module& m, const Tensor& x, const Tensor& y) {
        return adapted(*shared, *adapter, m, x, y, adapter->b);
    });
}

// Returns W + scale B A.
Tensor merged_weight(const Adapter& adapter, double scale)
{
    Tensor product = matmul(flatten(adapter.b, 1), flatten(adapter.a, 1));
    if (adapter.is_embedding) product = product.t();
    const Tensor& weight = adapter.weight;
    return cast(cast(weight, product.dtype()) + reshape(product, weight.shape()) * (scale * adapter.factor),
                weight.dtype());
}

// ---- the choice of layers ----

void check(const LoraOptions& options)
{
    check_not_recording(op, "Adapters can't be attached");
    check_at_least(op, "rank", options.rank, 1);
    if (!std::isfinite(options.alpha))
        fail(ErrorKind::argument, op, "The alpha (", options.alpha, ") must be a finite number.");
    if (!(options.dropout >= 0 && options.dropout <= 1))
        fail(ErrorKind::argument, op, "The dropout (", options.dropout, ") must be from 0 to 1.");
    if (options.target_modules.empty())
        fail(ErrorKind::argument, op, "The target_modules are empty: name layers, or give \"all-linear\".");
}

// Returns the layers that get adapters.
std::vector<OrderedDict<ModulePointer>::Item> chosen(Module& model, const LoraOptions& options)
{
    const bool all_linear = options.target_modules.value() == ModuleNames("all-linear").value();
    std::vector<OrderedDict<ModulePointer>::Item> out;
    std::set<std::string> projections; // out_proj of chosen attention modules
    std::string last;
    for (const auto& item : model.named_modules()) {
        const auto& [name, layer] = item;
        if (name.empty()) continue;
        last = name;
        if (options.exclude_modules.contains(name) || contain_part_of(options.modules_to_save, name))
            continue;
        if (!(all_linear ? layer.as<Linear>() != nullptr : options.target_modules.contains(name)) &&
            !projections.contains(name))
            continue;
        out.push_back(item);
        if (layer.as<MultiheadAttention>()) projections.insert(name + ".out_proj");
    }
    if (out.empty())
        fail(ErrorKind::argument, op,
             "The target_modules select none of the modules of the model, the last of "
             "which is (",
             last, "): print the model to see their names.");
    return out;
}

// Returns the model's parameters that are trained beside the adapters of these layers, with their names.
OrderedDict<Variable> trained_parameters(Module& model, const LoraOptions& options,
                                         const std::set<std::string>& layers)
{
    const auto is_saved = [&](const std::string& name) {
        return contain_part_of(options.modules_to_save, parent_of(name));
    };
    OrderedDict<Variable> out("parameter");
    bool saves = false;
    for (const auto& [name, value] : model.named_parameters()) {
        const bool is_bias = name == "bias" || name.ends_with(".bias");
        const bool of_bias =
            is_bias && (options.bias == LoraBias::all ||
                        (options.bias == LoraBias::lora_only && layers.contains(parent_of(name))));
        saves |= is_saved(name);
        if (of_bias || is_saved(name)) out.insert(name, value);
    }
    if (!saves && !options.modules_to_save.empty())
        fail(ErrorKind::argument, op,
             "The modules_to_save select no module of the model that has parameters: "
             "print the model to see the names of its modules.");
    return out;
}

} // namespace

bool ModuleNames::contains(const std::string& name) const
{
    if (const auto* pattern = std::get_if<std::string>(&value_)) {
        try {
            return std::regex_match(name, std::regex(*pattern));
        } catch (const std::regex_error& error) {
            fail(ErrorKind::argument, "ModuleNames", "The text (", *pattern,
                 ") is no regular expression: ", error.what(), ".");
        }
    }
    const auto& list = std::get<List>(value_);
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& end) { return name == end || name.ends_with("." + end); });
}

// ---- Lora ----

struct Lora::State {
    LoraOptions options;
    std::shared_ptr<Shared> shared = std::make_shared<Shared>();
    std::vector<std::shared_ptr<Adapter>> adapters{};
    std::vector<std::unique_ptr<Claim>> claims{}; // none after unload()
    std::vector<HookHandle> hooks{};
    std::vector<std::pair<Variable, bool>> required_grad{}; // of the model's parameters, before

    explicit State(LoraOptions o) : options(std::move(o)) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State()
    {
        try {
            unload();
        } catch (const std::exception&) { // a destructor must not throw
        }
    }
    void restore_weights()
    {
        const no_grad guard;
        for (const auto& adapter : adapters) {
            Variable& weight = adapter->weight;
            if (adapter->unmerged.defined())
                weight.assign(adapter->unmerged.to(weight.device(), weight.dtype()));
            adapter->unmerged = Tensor();
        }
        shared->merged = false;
    }
    void unload()
    {
        for (const HookHandle& hook : hooks) hook.remove();
        hooks.clear();
        claims.clear();
        shared->on.set(false);
        restore_weights();
        for (auto& [parameter, on] : required_grad) parameter.requires_grad_(on);
        required_grad.clear();
    }
};

Lora::Lora(Module& model, LoraOptions options)
{
    check(options);
    state_ = std::make_shared<State>(std::move(options));
    State& s = *state_;
    s.shared->scale = scale();
    s.shared->dropout = s.options.dropout;
    const auto layers = chosen(model, s.options);
    std::set<std::string> names;
    for (const auto& [name, layer] : layers) {
        s.adapters.push_back(std::make_shared<Adapter>(adapter_of(name, *layer, s.options.rank)));
        s.claims.push_back(std::make_unique<Claim>(*s.adapters.back()));
        names.insert(name);
    }
    const auto root = register_module("base_model", std::make_shared<Node>());
    for (const auto& adapter : s.adapters) {
        // PEFT (0.21.2) adds the change of out_proj twice where it adapts the attention that contains it.
        if (names.contains(parent_of(adapter->layer))) adapter->factor = 2;
        const std::string name = peft_name(adapter->layer, names);
        root->add(name + (adapter->is_embedding ? ".lora_embedding_A" : ".lora_A.weight"), adapter->a);
        root->add(name + (adapter->is_embedding ? ".lora_embedding_B" : ".lora_B.weight"), adapter->b);
    }
    OrderedDict<Variable> trained = trained_parameters(model, s.options, names);
    for (const auto& [name, value] : trained) root->add(peft_name(name, names), value);
    for (const auto& [name, value] : model.named_buffers())
        if (contain_part_of(s.options.modules_to_save, parent_of(name)))
            root->add(peft_name(name, names), value, true);

    for (const Variable& parameter : model.parameters())
        s.required_grad.emplace_back(parameter, parameter.requires_grad());
    for (auto& [parameter, on] : s.required_grad) parameter.requires_grad_(false);
    for (auto& [name, value] : trained) value.requires_grad_(true);
    for (std::size_t i = 0; i < layers.size(); ++i)
        s.hooks.push_back(attach(*layers[i].second, s.adapters[i], s.shared));
}

Lora::State& Lora::attached(const char* call) const
{
    if (!state_ || state_->claims.empty())
        fail(ErrorKind::state, op, "The adapters are not attached to a model any more: ", call,
             " must come before unload().");
    return *state_;
}

void Lora::merge()
{
    State& s = attached("merge()");
    check_not_recording(op, "Adapters can't be merged");
    if (s.shared->merged)
        fail(ErrorKind::state, op, "The adapters are merged already: call unmerge() first.");
    if (!s.shared->on.get())
        fail(ErrorKind::state, op, "The adapters are turned off: call enable() before merge().");
    for (const auto& adapter : s.adapters)
        if (adapter->format)
            fail(ErrorKind::unsupported, op, "The weight of (", adapter->layer, ") is (", adapter->format,
                 "), which can't hold W + scale B A: merge the adapters into the model before it is "
                 "quantised.");
    const no_grad guard;
    const autocast full_precision(bf16, false);
    std::vector<Tensor> values; // all are computed before the first change, as that may fail
    for (const auto& adapter : s.adapters) {
        values.push_back(merged_weight(*adapter, s.shared->scale));
        values.back().eval();
    }
    for (std::size_t i = 0; i < values.size(); ++i) {
        s.adapters[i]->unmerged = s.adapters[i]->weight.detach().clone();
        s.adapters[i]->weight.assign(values[i]);
    }
    s.shared->merged = true;
    s.shared->on.set(false);
}

void Lora::unmerge()
{
    State& s = attached("unmerge()");
    check_not_recording(op, "Adapters can't be unmerged");
    if (!s.shared->merged) fail(ErrorKind::state, op, "The adapters are not merged: call merge() first.");
    s.restore_weights();
    s.shared->on.set(true);
}

void Lora::merge_and_unload()
{
    State& s = attached("merge_and_unload()");
    check_not_recording(op, "Adapters can't be merged");
    if (!s.shared->merged) merge();
    for (const auto& adapter : s.adapters) adapter->unmerged = Tensor();
    s.unload();
}

void Lora::enable(bool on)
{
    State& s = attached("enable()");
    if (s.shared->merged)
        fail(ErrorKind::state, op,
             "The adapters are merged into the weights: call unmerge() before enable().");
    s.shared->on.set(on);
}

void Lora::unload()
{
    if (!state_) return;
    check_not_recording(op, "Adapters can't be taken away");
    state_->unload();
}

bool Lora::is_merged() const { return state_ && state_->shared->merged; }

const LoraOptions& Lora::options() const
{
    if (!state_) fail(ErrorKind::state, op, "This Lora was moved from, so it has no options.");
    return state_->options;
}

double Lora::scale() const
{
    const auto rank = static_cast<double>(options().rank);
    return options().alpha / (options().use_rslora ? std::sqrt(rank) : rank);
}

std::vector<std::string> Lora::targets() const
{
    std::vector<std::string> names;
    if (state_)
        for (const auto& adapter : state_->adapters) names.push_back(adapter->layer);
    return names;
}

} // namespace reprise::nn
