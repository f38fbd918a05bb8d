// Low-rank adapters (LoRA) of a model's layers: fine-tuning with few parameters beside a frozen model.
#pragma once
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <reprise/choice.hpp>
#include <reprise/nn/module.hpp>

namespace reprise::nn {

// A choice of modules by their names in named_modules(), by the rules of Hugging Face's PEFT: either a list, of
// which "query" selects the module of that name and all whose names end with ".query"; or one text, a regular
// expression (ECMAScript's) that matches whole names.
class ModuleNames {
public:
    ModuleNames() = default; // no modules
    // A regular expression.  A template, as braces are a list: ModuleNames({"query"}) is one name.
    template <std::convertible_to<std::string> Text> ModuleNames(const Text& pattern)
        : value_(std::string(pattern))
    {}
    ModuleNames(std::initializer_list<std::string> names) : value_(List(names)) {} // a list
    ModuleNames(std::vector<std::string> names) : value_(std::move(names)) {}      // a list

    // Whether the module of this name is selected.  Throws Error(argument) for a text that is no regular
    // expression.
    bool contains(const std::string& name) const;
    bool empty() const { return value_ == decltype(value_)(); } // whether nothing was given
    // The list or the text.
    const std::variant<std::vector<std::string>, std::string>& value() const { return value_; }

private:
    using List = std::vector<std::string>;
    std::variant<std::vector<std::string>, std::string> value_;
};

// Which biases of the model are trained beside the adapters: none, those of the adapted layers, or all.
enum class LoraBias { none, all, lora_only };
// PEFT's names of them, for Choice.
inline constexpr ChoiceNames<LoraBias, 3> names_of_choices(LoraBias)
{
    using enum LoraBias;
    return {{{"none", none}, {"all", all}, {"lora_only", lora_only}}};
}
// Options of Lora, with PEFT's meanings and defaults; rank, alpha and dropout are its r, lora_alpha and
// lora_dropout.
struct LoraOptions {
    std::int64_t rank = 8; // columns of B and rows of A, at least 1
    double alpha = 8;      // the scale is alpha / rank
    double dropout = 0;    // probability with which an element of an adapter's input is dropped in training
    // The layers that get adapters; the text "all-linear" means all Linear layers, also the model's last one.
    ModuleNames target_modules{};
    ModuleNames exclude_modules{}; // layers that get none, though target_modules selects them
    // Modules that are trained in full, such as a new head, and saved with the adapters.
    ModuleNames modules_to_save{};
    Choice<LoraBias> bias = LoraBias::none; // biases that are trained and saved with the adapters
    bool use_rslora = false;                // the scale is alpha / sqrt(rank) (Kalajdzievski, 2023)
};

// The low-rank adapters of a model (Hu et al., 2021, arXiv 2106.09685).  While this object exists, each selected
// layer with the weight W computes y + scale B(A(dropout(x))) in place of its result y, as if its weight were
// W + scale B A, and the model's other parameters are frozen.  B A is formed by merge() only.
//
// | layer | A | B |
// |---|---|---|
// | Linear | [rank, in] | [out, rank] |
// | Conv1d, Conv2d, Conv3d with groups = 1 | [rank, in, kh, kw], with the layer's options | [out, rank, 1, 1] |
// | Embedding | [rank, num_embeddings], no dropout | [embedding_dim, rank] |
// | MultiheadAttention with in_proj_weight | [rank, E] | [3 E, rank] |
//
// Weights may be quantised, before the adapters are attached.
//
// An adapted MultiheadAttention's out_proj gets an adapter, too, with twice the scale: PEFT (0.21.2) adds it twice,
// and its files are trained for that.
//
// A is initialised uniformly from -b to b, b = 1 / sqrt(fan_in), and B with 0; of an Embedding, A with 0 and B from
// the standard normal distribution.  So the model computes the same at first.  Adapters are f32, or f64 where the
// weight is f64, on the device of the weight.  x is cast to their dtype, and the sum to y's; autocast applies to
// their products.  Dropout follows the layer's training mode.
//
// Adapters are forward hooks of the layers: they run in record(), within checkpoints and in models that were moved,
// after the hooks that were registered before, which see y, and not in calls of forward().  The parameters
// belong to this module, not to the model: pass lora.parameters() to the optimizer, and move both with to().
//
// Its destruction has the effect of unload().  Several of them on one model must end in the reverse order of their
// construction, since each restores the requires_grad() that it found.
class Lora : public Module {
public:
    // Attaches adapters to the layers of a model, a tree of modules.  Throws Error(argument) where
    // target_modules selects nothing, or a module that no adapter fits, and for options out of range;
    // Error(state) for a weight that has an adapter already, also where two layers share it, and while a
    // program is recorded.  Nothing has changed then.
    explicit Lora(Module& model, LoraOptions options);
    // Attaches the adapters of a folder that save() or PEFT wrote, with its options.  Throws errors as the
    // constructor and load().
    static Lora from_pretrained(Module& model, const std::filesystem::path& folder);

    // Writes adapter_model.safetensors, this module's state_dict(), and adapter_config.json to a folder, which is
    // created if needed.  PEFT reads them: names are "base_model.model.<layer>.lora_A.weight", of an Embedding
    // ".lora_embedding_A"; modules_to_save are "base_model.model.<module>.<parameter>".  Throws Error(file) where
    // they cannot be written.
    void save(const std::filesystem::path& folder) const;
    // Loads the values of such a folder; floating dtypes are cast.  Throws Error(file) for files that are missing
    // or malformed; Error(unsupported) for PEFT's options that are not in LoraOptions; Error(argument) for
    // another rank or scale; Error(state) while they are merged; and errors as load_state_dict(), which list
    // everything that does not fit.  Nothing has changed then.
    void load(const std::filesystem::path& folder);

    // Adds scale B A to the weights, in f32, and rounds them to their dtype: calls then cost as much as without
    // adapters.  The values from before are kept, in as much memory as the weights.  A call of such a layer in
    // training mode with gradients throws Error(state).  A layer that shares such a weight changes, too.  Throws
    // Error(state) if they are merged, while a program is recorded, after enable(false) and after unload();
    // Error(unsupported) for quantised weights.
    void merge();
    // Restores the weights' values from before merge(), bit for bit.  Throws Error(state) unless they are merged, and
    // while a program is recorded.
    void unmerge();
    bool is_merged() const; // whether merge() was called last

    // Turns the adapters off, or on again, as for comparison with the model before fine-tuning.  Programs that
    // were recorded in the other state throw Error(state) when called, as after merge(), unmerge() and unload().
    // Throws Error(state) while they are merged and after unload().
    void enable(bool on = true);

    // Removes the adapters: the model computes as before, with the requires_grad() of before, and the trained values
    // of biases and modules_to_save.  This module's parameters can still be saved.  Does nothing the second time.
    // Throws Error(state) while a program is recorded.
    void unload();
    void merge_and_unload(); // merges, keeps the merged weights, and removes the adapters

    const LoraOptions& options() const;       // as given to the constructor
    double scale() const;                     // alpha / rank, or alpha / sqrt(rank)
    std::vector<std::string> targets() const; // names of the adapted layers in the model

private:
    struct State;
    State& attached(const char* op) const; // Error(state) after unload()
    std::shared_ptr<State> state_;
};

} // namespace reprise::nn
