// The files of adapters: adapter_config.json with PEFT's fields, and adapter_model.safetensors.
#include <cmath>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include <nlohmann/json.hpp>

#include <reprise/io.hpp>
#include <reprise/path_text.hpp>
#include <reprise/whole_file.hpp>

#include "nn/lora_config.hpp"

namespace reprise::nn {

using detail::fail;

namespace {

using Json = nlohmann::json;

Json to_json(const ModuleNames& names)
{
    if (names.empty()) return nullptr;
    return std::visit([](const auto& value) { return Json(value); }, names.value());
}

ModuleNames names_of(const Json& config, const char* key)
{
    const auto at = config.find(key);
    if (at == config.end() || at->is_null()) return {};
    if (at->is_string()) return at->get<std::string>();
    return at->get<std::vector<std::string>>();
}

// Throws Error(unsupported) for options by which PEFT would compute something else than Lora does.
void check_supported(const Json& config, const std::string& file)
{
    for (const char* key :
         {"alora_invocation_tokens", "alpha_pattern", "arrow_config", "kasa_config", "layer_replication",
          "layers_to_transform", "lora_bias", "monteclora_config", "rank_pattern", "target_parameters",
          "trainable_token_indices", "use_bdlora", "use_dora", "use_qalora", "velora_config"}) {
        const Json value = config.value(key, Json());
        if (!value.is_null() && value != false && value != Json::object() && value != Json::array())
            fail(ErrorKind::unsupported, "Lora", "The file (", file, ") sets (", key,
                 "), which adapters here do not have.");
    }
    // These initialisations also change the weights of the model.
    const Json start = config.value("init_lora_weights", Json());
    for (const char* method : {"pissa", "olora", "corda", "loftq", "lora_ga"})
        if (start.is_string() && start.get<std::string>().starts_with(method))
            fail(ErrorKind::unsupported, "Lora", "The adapters of (", file, ") were initialised by (", method,
                 "), which changes the model's weights, too: convert them in PEFT when they are saved.");
}

} // namespace

LoraOptions read_lora_options(const std::filesystem::path& folder)
{
    const std::string file = path_text(folder / lora_config_file);
    std::ifstream in(folder / lora_config_file, std::ios::binary);
    if (!in)
        fail(ErrorKind::file, "Lora", "The file (", file,
             ") can't be read: give the folder that Lora::save() or PEFT wrote.");
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    LoraOptions options;
    try {
        const Json config = Json::parse(text);
        if (const std::string type = config.at("peft_type"); type != "LORA")
            fail(ErrorKind::unsupported, "Lora", "The file (", file, ") is of adapters of the type (", type,
                 "), not (LORA).");
        check_supported(config, file);
        options.rank = config.at("r").get<std::int64_t>();
        options.alpha = config.at("lora_alpha").get<double>();
        options.dropout = config.value("lora_dropout", 0.0);
        options.use_rslora = config.value("use_rslora", false);
        options.bias = Choice<LoraBias>(config.value("bias", std::string("none")));
        options.target_modules = names_of(config, "target_modules");
        options.exclude_modules = names_of(config, "exclude_modules");
        options.modules_to_save = names_of(config, "modules_to_save");
    } catch (const Json::exception& error) {
        fail(ErrorKind::file, "Lora", "The file (", file,
             ") is no adapter_config.json of PEFT: ", error.what(), ".");
    }
    return options;
}

std::string lora_config(const LoraOptions& options)
{
    std::string bias;
    for (const auto& [name, value] : names_of_choices(LoraBias()))
        if (value == options.bias) bias = name;
    Json config{{"peft_type", "LORA"},
                {"auto_mapping", nullptr},
                {"base_model_name_or_path", nullptr},
                {"task_type", nullptr},
                {"inference_mode", true},
                {"init_lora_weights", true},
                {"fan_in_fan_out", false},
                {"use_dora", false},
                {"r", options.rank},
                {"lora_alpha", options.alpha},
                {"lora_dropout", options.dropout},
                {"use_rslora", options.use_rslora},
                {"bias", bias},
                {"target_modules", to_json(options.target_modules)},
                {"exclude_modules", to_json(options.exclude_modules)},
                {"modules_to_save", to_json(options.modules_to_save)}};
    if (options.alpha == std::rint(options.alpha) && std::abs(options.alpha) < 1e15)
        config["lora_alpha"] = static_cast<std::int64_t>(options.alpha); // an integer in PEFT
    return config.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Lora Lora::from_pretrained(Module& model, const std::filesystem::path& folder)
{
    Lora lora(model, read_lora_options(folder));
    lora.load(folder);
    return lora;
}

void Lora::save(const std::filesystem::path& folder) const
{
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        fail(ErrorKind::file, "Lora", "The folder (", path_text(folder),
             ") can't be created: ", error.message(), ".");
    save_safetensors(folder / lora_tensor_file, state_dict(), {.metadata = {{"format", "pt"}}});
    WholeFile config(folder / lora_config_file);
    LoraOptions saved = options();
    // PEFT leaves the output layer out of "all-linear".
    if (saved.target_modules.value() == ModuleNames("all-linear").value()) saved.target_modules = targets();
    config.write(lora_config(saved));
    config.commit();
}

void Lora::load(const std::filesystem::path& folder)
{
    if (is_merged())
        fail(ErrorKind::state, "Lora",
             "The adapters are merged into the weights: call unmerge() before load().");
    const LoraOptions given = read_lora_options(folder);
    const LoraOptions& own = options();
    if (given.rank != own.rank || given.alpha != own.alpha || given.use_rslora != own.use_rslora)
        fail(ErrorKind::argument, "Lora", "The adapters of (", path_text(folder), ") have rank (", given.rank,
             "), alpha (", given.alpha, ") and use_rslora (", given.use_rslora, ") where (", own.rank, "), (",
             own.alpha, ") and (", own.use_rslora, ") are needed: give Lora these options.");
    // With biases PEFT also saves those of modules_to_save under the names of its wrappers.
    const auto rename = [](const std::string& name) -> std::optional<std::string> {
        const bool wrapper =
            name.find(".original_module.") != name.npos || name.find(".modules_to_save.") != name.npos;
        return wrapper ? std::nullopt : std::optional(name);
    };
    // From a map, which is loaded before the first value changes.
    load_state_dict(load_safetensors(folder / lora_tensor_file), {.rename = rename, .cast = true});
}

} // namespace reprise::nn
