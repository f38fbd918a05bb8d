// Fine-tunes a BERT by adapters over frozen weights of 4 bits, by one recorded program for all sizes of batches.
#include <algorithm>
#include <cstdio>
#include <iostream>

#include <reprise/reprise.hpp>
#include <reprise/train.hpp>

#include "../common/bert_files.hpp"
#include "../common/run.hpp"
#include "options.hpp"
#include "report.hpp"
#include "training.hpp"

namespace {

namespace rp = reprise;
namespace fs = std::filesystem;
using namespace bert_lora;

// A pre-trained model.
struct Base {
    fs::path folder;
    bert::Config config;
    WordPiece vocabulary;
};

Reporter reporter_of(const rp::train::Interrupt& interrupt, ProgressBar& bar)
{
    return {.step = [&bar](const Progress& p) { bar.show(p); },
            .epoch =
                [&bar](const History& h) {
                    bar.clear();
                    std::printf("%s, epoch %zu: loss %.4f; test: loss %.4f, %s right\n", h.method.c_str(),
                                h.epoch_loss.size(), h.epoch_loss.back(), h.test_loss.back(),
                                percent(h.test_accuracy.back()).c_str());
                    std::fflush(stdout);
                },
            .stop = [&interrupt] { return interrupt.requested(); }};
}

int interrupted(const fs::path& checkpoint)
{
    std::cout << "Interrupted: " << checkpoint.string() << " has all that is needed to go on with --resume."
              << std::endl;
    return exit_interrupted;
}

// Pre-trains a model on these texts and writes it to the folder; nullopt if it was interrupted.
std::optional<Base> pretrain(const Options& o, const Texts& texts, const WordPiece& vocabulary,
                             const fs::path& folder, const Reporter& reporter)
{
    const Examples examples = encode(texts, vocabulary, o.longest);
    const bert::Config config{.vocab_size = static_cast<std::int64_t>(vocabulary.pieces().size()),
                              .hidden_size = o.features,
                              .num_hidden_layers = o.layers,
                              .num_attention_heads = o.features / 32,
                              .intermediate_size = 4 * o.features,
                              .max_position_embeddings = o.longest,
                              .labels = examples.topics};
    std::printf("Pre-training on %zu texts of %zu other topics\n", examples.train.size(),
                examples.topics.size());
    std::fflush(stdout);
    Training training(o, base_method(o), config, examples);
    if (training.run(folder / "checkpoint.safetensors", reporter).interrupted) return std::nullopt;
    bert::save(folder, training.net(), config, vocabulary);
    return Base{folder, config, vocabulary};
}

void print_memory(const std::string& name, const History& h, const History& full)
{
    const std::uint64_t all = bytes_of(h.memory);
    std::printf("  %-15s %12lld %19.1f %13.1f %9.1f (%.2f)\n", name.c_str(),
                static_cast<long long>(h.trained), mib(h.memory.state), mib(h.memory.peak + h.memory.outputs),
                mib(all), static_cast<double>(all) / static_cast<double>(bytes_of(full.memory)));
    std::fflush(stdout);
}

// Prints and returns the memory of a step of each method, none of which is trained; in full it is that in f32.
std::vector<History> compare_memory(const Options& o, const bert::Config& config, const Examples& examples,
                                    const fs::path& base)
{
    std::printf("Memory of a step of %lld texts of %lld tokens, in MiB:\n"
                "          trained parameters   weights and state   temporaries    in all\n",
                static_cast<long long>(
                    std::min<std::int64_t>(o.batch, static_cast<std::int64_t>(examples.train.size()))),
                static_cast<long long>(o.longest));
    std::vector<History> out;
    for (const char* name : {"full", "lora", "qlora"}) {
        Method method = method_of(o, name);
        method.budget.reset();
        if (!method.adapters) method.precision = rp::f32;
        out.push_back(Training(o, method, config, examples, base).history());
        print_memory(method.adapters ? name : "full in f32", out.back(), out[0]);
    }
    return out;
}

void print_predictions(Training& training, const Examples& examples)
{
    std::vector<std::size_t> numbers; // of texts that fit a line, from all over the test
    for (std::size_t i = 0; i < examples.test.size() && numbers.size() < 4; i += 1 + examples.test.size() / 7)
        for (std::size_t k = i; k < examples.test.size(); ++k)
            if (examples.test[k].text->size() < 70) {
                numbers.push_back(k);
                break;
            }
    if (numbers.empty()) return;
    const std::vector<std::int64_t> found = training.predict(numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        std::string text = *examples.test[numbers[i]].text;
        std::replace_if(
            text.begin(), text.end(), [](char c) { return c == '\n' || c == '\t'; }, ' ');
        std::printf("> %s-> %s\n", text.c_str(),
                    examples.topics.at(static_cast<std::size_t>(found[i])).c_str());
    }
}

int run(const Options& o)
{
    if (!o.device.empty()) rp::set_default_device(rp::Device(o.device));
    const std::string device = device_text(rp::default_device());
    const fs::path out = o.out;
    make_folder(out, {"training.svg", "metrics.json"});
    std::cout << "Device: " << device << std::endl;
    Texts others = read_texts(o.data);
    std::vector<std::string> all;
    for (const auto& [topic, list] : others) all.insert(all.end(), list.begin(), list.end());
    const Texts texts = take(others, o.topics);
    std::erase_if(others, [](const auto& topic) { return topic.second.size() < texts_needed; });

    const rp::train::Interrupt interrupt;
    ProgressBar bar(std::cout, is_terminal_stdout());
    const Reporter reporter = reporter_of(interrupt, bar);
    std::optional<Base> base;
    const fs::path made = out / "base";
    if (!o.base.empty() || (o.resume && fs::exists(made / "config.json"))) {
        const fs::path folder = o.base.empty() ? made : fs::path(o.base);
        base = {folder, bert::read_config(folder), WordPiece::read(folder / "vocab.txt")};
    } else if (others.empty()) {
        throw rp::Error(
            rp::ErrorKind::argument,
            "No texts are left to pre-train on: choose fewer --topics, or give a model with --base.");
    } else {
        make_folder(made, {"checkpoint.safetensors"});
        base = pretrain(o, others, WordPiece::train(all, static_cast<std::size_t>(o.vocabulary)), made,
                        reporter);
        bar.clear();
        if (!base) return interrupted(made / "checkpoint.safetensors");
    }
    if (o.longest > base->config.max_position_embeddings)
        throw rp::Error(rp::ErrorKind::argument, "The model has positions for " +
                                                     std::to_string(base->config.max_position_embeddings) +
                                                     " tokens: give a smaller --longest.");
    const Examples examples = encode(texts, base->vocabulary, o.longest);
    base->config.labels = examples.topics;
    std::vector<History> memory = compare_memory(o, base->config, examples, base->folder);

    std::vector<History> histories;
    for (const std::string& name : o.methods) {
        const fs::path folder = out / name, checkpoint = folder / "checkpoint.safetensors";
        make_folder(folder, {"checkpoint.safetensors"});
        Training training(o, method_of(o, name), base->config, examples, base->folder);
        if (o.budget > 0) {
            memory.push_back(training.history());
            memory.back().method += "_within_budget";
            print_memory(name + " in budget", memory.back(), memory[0]);
        }
        histories.push_back(training.run(checkpoint, reporter));
        bar.clear();
        rp::train::save_svg(out / "training.svg", picture(histories, device));
        figures(histories, memory, o, device).save(out / "metrics.json");
        if (histories.back().interrupted) return interrupted(checkpoint);
        if (training.adapters()) training.adapters()->save(folder);
        else bert::save(folder, training.net(), base->config, base->vocabulary);
        print_predictions(training, examples);
    }
    for (const History& h : histories)
        std::printf("%-5s  loss %.4f; test: loss %.4f, %s right (%s of training, %.0f texts/s, %llu new "
                    "recordings)\n",
                    h.method.c_str(), h.epoch_loss.back(), h.test_loss.back(),
                    percent(h.test_accuracy.back()).c_str(), duration(h.seconds).c_str(), h.texts_per_second,
                    static_cast<unsigned long long>(h.recordings));
    print_results(out, {{"<method>/adapter_model.safetensors", "the adapters, for PEFT, too"},
                        {"training.svg", "loss and accuracy over the training"},
                        {"metrics.json", "the figures and options"}});
    return 0;
}

} // namespace

int main(int argc, char** argv) { return run_main(argc, argv, parse, run); }
