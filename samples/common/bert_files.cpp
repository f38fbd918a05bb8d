#include "bert_files.hpp"

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>
#include <reprise/path_text.hpp>

namespace bert {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

// Calls f(name, value) for each number of the configuration.
template <class C, class F> void for_each_number(C& c, const F& f)
{
    f("vocab_size", c.vocab_size);
    f("hidden_size", c.hidden_size);
    f("num_hidden_layers", c.num_hidden_layers);
    f("num_attention_heads", c.num_attention_heads);
    f("intermediate_size", c.intermediate_size);
    f("max_position_embeddings", c.max_position_embeddings);
    f("type_vocab_size", c.type_vocab_size);
    f("hidden_dropout_prob", c.hidden_dropout_prob);
    f("attention_probs_dropout_prob", c.attention_probs_dropout_prob);
    f("layer_norm_eps", c.layer_norm_eps);
}

[[noreturn]] void refuse(rp::ErrorKind kind, const fs::path& path, const std::string& what)
{
    throw rp::Error(kind, rp::path_text(path) + ": " + what);
}

// Throws unless the texts of the model's vocabulary are in lower case; a folder without tokenizer_config.json is one of
// them.
void require_lower_case(const fs::path& folder)
{
    const fs::path path = folder / "tokenizer_config.json";
    std::ifstream file(path, std::ios::binary);
    if (!file) return;
    bool lower = true;
    try {
        lower = json::parse(file).value("do_lower_case", true);
    } catch (const json::exception& error) {
        refuse(rp::ErrorKind::file, path, error.what());
    }
    if (!lower)
        refuse(rp::ErrorKind::unsupported, path, "the model is cased: take one for texts in lower case.");
}

} // namespace

Config read_config(const fs::path& folder)
{
    const fs::path path = folder / "config.json";
    std::ifstream file(path, std::ios::binary);
    if (!file) refuse(rp::ErrorKind::file, path, "the configuration of a model can't be read.");
    Config c;
    std::string type, activation;
    try {
        const json values = json::parse(file);
        for_each_number(c, [&](const char* name, auto& value) { value = values.value(name, value); });
        type = values.value("model_type", "bert");
        activation = values.value("hidden_act", "gelu");
        if (values.value("position_embedding_type", "absolute") != "absolute" ||
            values.value("pad_token_id", padding) != padding || values.value("is_decoder", false))
            refuse(rp::ErrorKind::unsupported, path,
                   "only encoders with absolute positions and the padding token 0 are supported.");
    } catch (const json::exception& error) {
        refuse(rp::ErrorKind::file, path, error.what());
    }
    const auto sizes = {
        c.vocab_size,        c.hidden_size,     c.num_hidden_layers,      c.num_attention_heads,
        c.intermediate_size, c.type_vocab_size, c.max_position_embeddings};
    if (std::ranges::any_of(sizes, [](std::int64_t size) { return size < 1; }) ||
        c.hidden_size % c.num_attention_heads != 0 || !(c.layer_norm_eps >= 0) ||
        !(c.hidden_dropout_prob >= 0 && c.hidden_dropout_prob < 1) ||
        !(c.attention_probs_dropout_prob >= 0 && c.attention_probs_dropout_prob < 1))
        refuse(rp::ErrorKind::file, path,
               "all sizes must be at least 1, hidden_size a multiple of num_attention_heads, probabilities "
               "from 0 "
               "to below 1, and layer_norm_eps at least 0.");
    if (type != "bert" || activation != "gelu")
        refuse(rp::ErrorKind::unsupported, path,
               "the model (" + type + ", " + activation + ") is no BERT with the activation gelu.");
    require_lower_case(folder);
    return c;
}

void load_encoder(Bert& net, const fs::path& folder)
{
    const rp::ModelFile file(folder);
    bool headed = false; // "bert.encoder..." beside the names of a head
    for (const auto& [name, tensor] : file.tensors()) headed = headed || name.starts_with("bert.");
    const auto replace = [](std::string& name, const std::string& end, const char* by) {
        if (name.ends_with(end)) name.replace(name.size() - end.size(), end.size(), by);
    };
    const nn::LoadResult result =
        net.load_state_dict(file, {.strict = false,
                                   .prefix = headed ? "bert." : "",
                                   .rename =
                                       [&](std::string name) {
                                           replace(name, "LayerNorm.gamma", "LayerNorm.weight");
                                           replace(name, "LayerNorm.beta", "LayerNorm.bias");
                                           return name;
                                       },
                                   .cast = true});
    for (const std::string& name : result.missing_keys)
        if (!name.starts_with("pooler."))
            refuse(rp::ErrorKind::file, file.path(), "the weight " + name + " is missing.");
}

void save_config(const fs::path& folder, const Config& c)
{
    json values = {{"architectures", {"BertForSequenceClassification"}},
                   {"model_type", "bert"},
                   {"hidden_act", "gelu"},
                   {"pad_token_id", padding}};
    for_each_number(c, [&](const char* name, const auto& value) { values[name] = value; });
    for (std::size_t i = 0; i < c.labels.size(); ++i) {
        values["id2label"][std::to_string(i)] = c.labels[i];
        values["label2id"][c.labels[i]] = i;
    }
    rp::WholeFile file(folder / "config.json");
    file.write(values.dump(2, ' ', false, json::error_handler_t::replace) + "\n");
    file.commit();
}

void save(const fs::path& folder, const Classifier& net, const Config& c, const WordPiece& vocabulary)
{
    vocabulary.save(folder / "vocab.txt");
    rp::save_safetensors(folder / "model.safetensors", net.state_dict(), {.metadata = {{"format", "pt"}}});
    save_config(folder, c);
}

} // namespace bert
