// Fine-tunes a BERT by adapters over frozen weights of 4 bits, by one recorded program for all sizes of batches.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <memory>

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

constexpr std::int64_t features_of_head = 32; // of a base that is pre-trained

// A pre-trained model.
struct Base {
    fs::path folder;
    bert::Config config;
    WordPiece vocabulary;
};

Reporter reporter_of(const rp::train::Interrupt& interrupt, rp::train::ProgressBar& bar)
{
    return {.step = [&bar](const rp::train::Progress& p) { bar.show(p); },
            .epoch =
                [&bar](const History& h) {
                    bar.clear();
                    std::printf("%s, epoch %zu: loss %.4f; test: loss %.4f, %s right\n", h.method.c_str(),
                                h.epoch_loss.size(), h.epoch_loss.back(), h.test_loss.back(),
                                rp::train::percent_text(h.test_accuracy.back()).c_str());
                    std::fflush(stdout);
                },
            .stop = [&interrupt] { return interrupt.requested(); }};
}

int interrupted(const fs::path& checkpoint)
{
    std::cout << "Interrupted: " << rp::path_text(checkpoint)
              << " has all that is needed to go on with --resume." << std::endl;
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
                              .num_attention_heads = o.features / features_of_head,
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

// full: training in full in f32, if there is memory for it.
void print_memory(const std::string& name, const History& h, const History* full)
{
    const std::uint64_t all = bytes_of(h.memory);
    std::printf("  %-15s %12lld %19.1f %13.1f %9.1f", name.c_str(), static_cast<long long>(h.trained),
                mib(h.memory.state), mib(h.memory.peak + h.memory.outputs), mib(all));
    if (full) std::printf(" (%.2f)", static_cast<double>(all) / static_cast<double>(bytes_of(full->memory)));
    std::printf("\n");
    std::fflush(stdout);
}

// Returns the memory of a step that trains in full in f32; nullopt if there is not enough for it.
std::optional<History> memory_in_full(const Options& o, const bert::Config& config, const Examples& examples,
                                      const fs::path& base)
{
    Method method = method_of(o, "full");
    method.budget.reset();
    method.precision = rp::f32;
    try {
        History h = Training(o, method, config, examples, base).history();
        h.method = "full_in_f32";
        return h;
    } catch (const rp::Error& error) {
        if (error.kind() != rp::ErrorKind::out_of_memory) throw;
        return std::nullopt;
    }
}

// The memory of a step of each method without a budget, and in full in f32.
struct Comparison {
    std::vector<History> methods;
    std::optional<History> full;
};

// Prints and returns it; nothing is trained.
Comparison compare_memory(const Options& o, const bert::Config& config, const Examples& examples,
                          const fs::path& base)
{
    std::printf("Memory of a step of %lld texts of %lld tokens, in MiB:\n"
                "          trained parameters   weights and state   temporaries    in all\n",
                static_cast<long long>(
                    std::min<std::int64_t>(o.batch, static_cast<std::int64_t>(examples.train.size()))),
                static_cast<long long>(o.longest));
    Comparison out{.methods = {}, .full = memory_in_full(o, config, examples, base)};
    const History* const full = out.full ? &*out.full : nullptr;
    if (full) print_memory("full in f32", *full, full);
    for (const std::string& name : o.methods) {
        Method method = method_of(o, name);
        method.budget.reset();
        out.methods.push_back(Training(o, method, config, examples, base).history());
        print_memory(name, out.methods.back(), full);
    }
    return out;
}

// Without --budget, adapters over a pre-trained base are trained within this part of the temporaries of a step that
// recomputes nothing, if recomputation reaches it.
constexpr double default_budget = 0.6;

// `memory`: of a step without a budget.
std::unique_ptr<Training> training_within_budget(const Options& o, const std::string& name, const Base& base,
                                                 const Examples& examples, const rp::CallMemory& memory)
{
    Method method = method_of(o, name);
    if (!method.budget && method.adapters && o.base.empty()) {
        method.budget =
            static_cast<std::uint64_t>(default_budget * static_cast<double>(memory.peak + memory.outputs));
        try {
            return std::make_unique<Training>(o, method, base.config, examples, base.folder);
        } catch (const rp::Error& error) {
            if (error.kind() != rp::ErrorKind::out_of_memory) throw;
            method.budget.reset();
        }
    }
    return std::make_unique<Training>(o, method, base.config, examples, base.folder);
}

// Prints some texts of the test that fit a line, with the topics that were found and the true ones.
void print_predictions(Training& training, const Examples& examples)
{
    std::vector<std::size_t> numbers;
    for (std::size_t i = 0; i < examples.test.size() && numbers.size() < 4; ++i) {
        const bool far = numbers.empty() || i > numbers.back() + examples.test.size() / 5;
        if (far && examples.test[i].text->size() < 60) numbers.push_back(i);
    }
    if (numbers.empty()) return;
    const std::vector<std::int64_t> found = training.predict(numbers);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        const Example& example = examples.test[numbers[i]];
        std::string text = *example.text;
        while (text.ends_with('\n')) text.pop_back();
        std::replace_if(
            text.begin(), text.end(), [](unsigned char c) { return c < ' ' || c == 127; }, ' ');
        std::printf("> %s -> %s (%s)\n", text.c_str(),
                    examples.topics.at(static_cast<std::size_t>(found[i])).c_str(),
                    examples.topics.at(static_cast<std::size_t>(example.topic)).c_str());
    }
}

int run(const Options& o)
{
    if (!o.device.empty()) rp::set_default_device(rp::Device(o.device));
    const std::string device = device_text(rp::default_device());
    const fs::path& out = o.out;
    make_folder(out, {"training.svg", "metrics.json"});
    std::cout << "Device: " << device << std::endl;
    Texts others = read_texts(o.data);
    std::vector<std::string> all_texts;
    for (const auto& [topic, list] : others) all_texts.insert(all_texts.end(), list.begin(), list.end());
    const Texts texts = take(others, o.topics);
    std::erase_if(others, [](const auto& topic) { return topic.second.size() < texts_needed; });

    const rp::train::Interrupt interrupt;
    rp::train::ProgressBar bar(std::cout, rp::train::is_terminal_stdout());
    const Reporter reporter = reporter_of(interrupt, bar);
    std::optional<Base> base;
    if (!o.base.empty()) {
        base = {o.base, bert::read_config(o.base), WordPiece::read(o.base / "vocab.txt")};
        if (static_cast<std::int64_t>(base->vocabulary.pieces().size()) > base->config.vocab_size)
            throw rp::Error(rp::ErrorKind::file,
                            rp::path_text(o.base) +
                                ": vocab.txt has more pieces than config.json's vocab_size.");
    } else {
        if (others.size() < 2)
            throw rp::Error(rp::ErrorKind::argument, "No two topics are left to pre-train on: choose fewer "
                                                     "--topics, or give a model with --base.");
        const fs::path folder = out / "base";
        make_folder(folder, {"checkpoint.safetensors"});
        const WordPiece vocabulary = WordPiece::train(all_texts, static_cast<std::size_t>(o.vocabulary));
        base = pretrain(o, others, vocabulary, folder, reporter);
        bar.clear();
        if (!base) return interrupted(folder / "checkpoint.safetensors");
    }
    if (o.longest > base->config.max_position_embeddings)
        throw rp::Error(rp::ErrorKind::argument, "The model has positions for " +
                                                     std::to_string(base->config.max_position_embeddings) +
                                                     " tokens: give a smaller --longest.");
    const Examples examples = encode(texts, base->vocabulary, o.longest);
    base->config.labels = examples.topics;
    const Comparison comparison = compare_memory(o, base->config, examples, base->folder);
    std::vector<History> memory = comparison.methods; // all that is printed
    if (comparison.full) memory.push_back(*comparison.full);

    std::vector<History> histories;
    for (std::size_t i = 0; i < o.methods.size(); ++i) {
        const std::string& name = o.methods[i];
        const fs::path folder = out / name, checkpoint = folder / "checkpoint.safetensors";
        make_folder(folder, {"checkpoint.safetensors"});
        const std::unique_ptr<Training> made =
            training_within_budget(o, name, *base, examples, comparison.methods[i].memory);
        Training& training = *made;
        if (training.has_budget()) {
            memory.push_back(training.history());
            memory.back().method += "_within_budget";
            print_memory(name + " in budget", memory.back(), comparison.full ? &*comparison.full : nullptr);
        }
        histories.push_back(training.run(checkpoint, reporter));
        bar.clear();
        rp::train::save_svg(out / "training.svg", picture(histories, device));
        figures(histories, memory, o, device).save(out / "metrics.json");
        if (histories.back().interrupted) return interrupted(checkpoint);
        if (training.adapters()) {
            training.adapters()->save(folder);
            bert::save_config(folder, base->config); // has the topics' names
        } else bert::save(folder, training.net(), base->config, base->vocabulary);
        print_predictions(training, examples);
    }
    for (const History& h : histories)
        std::printf("%-5s  loss %.4f; test: loss %.4f, %s right (%s of training, %.0f texts/s, %llu new "
                    "recordings)\n",
                    h.method.c_str(), h.epoch_loss.back(), h.test_loss.back(),
                    rp::train::percent_text(h.test_accuracy.back()).c_str(),
                    rp::train::duration_text(h.seconds).c_str(), h.texts_per_second,
                    static_cast<unsigned long long>(h.recordings));
    print_results(out, {{"<method>/adapter_model.safetensors", "the adapters, for PEFT, too"},
                        {"training.svg", "loss and accuracy over the training"},
                        {"metrics.json", "the figures and options"}});
    return 0;
}

} // namespace

int main(int argc, char** argv) { return run_main(argc, argv, parse, run); }
