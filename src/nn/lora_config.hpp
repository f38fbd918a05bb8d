// The file adapter_config.json of PEFT.
#pragma once
#include <filesystem>
#include <string>

#include <reprise/nn/lora.hpp>

namespace reprise::nn {

inline constexpr const char* lora_config_file = "adapter_config.json";
inline constexpr const char* lora_tensor_file = "adapter_model.safetensors";

// Reads the options of a folder. Throws Error(file) and Error(unsupported) as Lora::load().
LoraOptions read_lora_options(const std::filesystem::path& folder);
std::string lora_config(const LoraOptions&); // the file's text

} // namespace reprise::nn
