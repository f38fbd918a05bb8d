// The folder of a model in Hugging Face's format: config.json, vocab.txt and model.safetensors.
#pragma once
#include <filesystem>

#include "bert.hpp"
#include "wordpiece.hpp"

namespace bert {

// Reads config.json, without the labels; values that it does not have are Config's.  Throws Error(file) where it is
// missing, malformed or has numbers out of range, and Error(unsupported) for another architecture, activation or kind
// of positions, and for a cased model (tokenizer_config.json).
Config read_config(const std::filesystem::path& folder);
// Loads the weights of the encoder, `bert`, of a model with any head, also from a file of BertModel, which has no
// "bert." in its names, and from old files with "gamma" and "beta".  A pooler that is not in the file keeps its values.
//  Throws Error(file) for other weights that are missing, and errors as nn::Module::load_state_dict().
void load_encoder(Bert&, const std::filesystem::path& folder);
// Writes config.json with the labels to an existing folder.  Throws Error(file) where it can't be written.
void save_config(const std::filesystem::path& folder, const Config&);
// Writes the three files to an existing folder.  Throws Error(file) where they can't be written.
void save(const std::filesystem::path& folder, const Classifier&, const Config&, const WordPiece&);

} // namespace bert
