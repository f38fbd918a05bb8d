#include "texts.hpp"

#include <algorithm>
#include <fstream>

#include <reprise/path_text.hpp>

#include "../common/batches.hpp"
#include "../common/bert.hpp"

namespace bert_lora {

namespace rp = reprise;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> read_file(const fs::path& path)
{
    std::ifstream file(path, std::ios::binary);
    if (!file) throw rp::Error(rp::ErrorKind::file, "The texts (" + rp::path_text(path) + ") can't be read.");
    std::vector<std::string> texts(1);
    for (std::string line; std::getline(file, line);) {
        if (line.ends_with('\r')) line.pop_back();
        if (line == "%") texts.emplace_back();
        else texts.back() += line + "\n";
    }
    std::erase_if(
        texts, [](const std::string& text) { return text.find_first_not_of(" \t\n") == std::string::npos; });
    return texts;
}

} // namespace

Texts read_texts(const fs::path& folder)
{
    Texts texts;
    try {
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
            const fs::path extension = entry.path().extension();
            if (!entry.is_regular_file() || !(extension.empty() || extension == ".txt")) continue;
            std::vector<std::string> found = read_file(entry.path());
            if (!found.empty()) texts[rp::path_text(entry.path().stem())] = std::move(found);
        }
    } catch (const fs::filesystem_error& error) {
        throw rp::Error(rp::ErrorKind::file,
                        "The folder of texts (" + rp::path_text(folder) +
                            ") can't be read: " + error.code().message() +
                            ". Debian's package fortunes has some; --data names another.");
    }
    if (texts.empty())
        throw rp::Error(rp::ErrorKind::argument, "The folder (" + rp::path_text(folder) + ") has no texts.");
    return texts;
}

Texts take(Texts& texts, const std::vector<std::string>& topics)
{
    Texts out;
    for (const std::string& topic : topics) {
        auto node = texts.extract(topic);
        if (node.empty() && !out.contains(topic)) {
            std::string names;
            for (const auto& each : {&out, &texts})
                for (const auto& [name, list] : *each) names += (names.empty() ? "" : ", ") + name;
            throw rp::Error(rp::ErrorKind::argument,
                            "The topic (" + topic + ") is not one of the texts': " + names + ".");
        }
        if (!node.empty()) out.insert(std::move(node));
    }
    return out;
}

Examples encode(const Texts& texts, const WordPiece& vocabulary, std::int64_t longest)
{
    if (texts.size() < 2)
        throw rp::Error(rp::ErrorKind::argument, "At least two topics are needed to tell apart.");
    Examples out;
    for (const auto& [topic, list] : texts) {
        for (std::size_t i = 0; i < list.size(); ++i)
            ((i + 1) % texts_needed == 0 ? out.test : out.train)
                .push_back({vocabulary.encode(list[i], static_cast<std::size_t>(longest)),
                            static_cast<std::int32_t>(out.topics.size()), &list[i]});
        if (list.size() < texts_needed)
            throw rp::Error(rp::ErrorKind::argument,
                            "The topic (" + topic +
                                ") has too few texts: five are needed, one of them for the test.");
        out.topics.push_back(topic);
    }
    return out;
}

Batch make_batch(const std::vector<Example>& examples, const std::vector<std::size_t>& numbers)
{
    std::size_t length = 0;
    for (const std::size_t i : numbers) length = std::max(length, examples[i].tokens.size());
    std::vector<std::int32_t> tokens(numbers.size() * length, bert::padding), topics;
    for (std::size_t row = 0; row < numbers.size(); ++row) {
        const Example& example = examples[numbers[row]];
        std::copy(example.tokens.begin(), example.tokens.end(),
                  tokens.begin() + static_cast<std::ptrdiff_t>(row * length));
        topics.push_back(example.topic);
    }
    return {rp::from_vector(tokens, {numbers.size(), length}), rp::from_vector(topics, {numbers.size()})};
}

std::vector<std::vector<std::size_t>> batches_of(const std::vector<Example>& examples, std::int64_t batch,
                                                 std::uint64_t seed)
{
    std::vector<std::size_t> lengths;
    for (const Example& example : examples) lengths.push_back(example.tokens.size());
    return batches_by_length(lengths, batch, seed);
}

} // namespace bert_lora
