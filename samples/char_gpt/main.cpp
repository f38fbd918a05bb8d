// Trains a character-level GPT on lines of any length, on any device, by one recorded program.
#include <cstdio>
#include <iostream>
#include <optional>

#include <reprise/distributed.hpp>
#include <reprise/reprise.hpp>
#include <reprise/train.hpp>

#include "../common/run.hpp"
#include "options.hpp"
#include "report.hpp"
#include "training.hpp"
#include "world.hpp"

namespace {

namespace rp = reprise;
namespace fs = std::filesystem;

int run(const char_gpt::Options& options)
{
    const rp::distributed::World world = launched_world();
    rp::set_default_device(options.device.empty() ? rp::distributed::local_device(world)
                                                  : rp::Device(options.device));
    if (options.nccl) rp::distributed::use_nccl(world, rp::default_device());
    const std::string device = device_text(rp::default_device());
    const fs::path& out = options.out;
    const char_gpt::Files files{out / "char_gpt.safetensors", out / "checkpoint.json"};
    const char_gpt::Text text = char_gpt::Text::read(
        options.text.empty() ? rp::path_of_text(REPRISE_SAMPLE_DATA) / "proverbs.txt" : options.text);
    if (world.rank() == 0) {
        make_folder(out, {"metrics.json"});
        std::cout << "Device: " << device << std::endl;
        if (world.size() > 1)
            std::cout << "Rank 0 of " << world.size() << " (" << world.description() << ")" << std::endl;
    }

    // Several ranks can't agree on a step to stop at: Ctrl-C ends them, and --resume goes on from the last epoch.
    std::optional<rp::train::Interrupt> interrupt;
    if (world.size() == 1) interrupt.emplace();
    rp::train::ProgressBar bar(std::cout, rp::train::is_terminal_stdout());
    const char_gpt::Reporter reporter{
        .recorded =
            [&](const char_gpt::History& h) {
                std::printf("Recorded: a training step of the longest lines takes %s of memory\n",
                            memory_text(h.memory).c_str());
                std::fflush(stdout);
            },
        .step = [&](const rp::train::Progress& p) { bar.show(p); },
        .epoch =
            [&](const char_gpt::History& h) {
                bar.clear();
                std::printf("epoch %zu: loss %.4f\n", h.epoch_loss.size(), h.epoch_loss.back());
                std::fflush(stdout);
            },
        .stop = [&] { return interrupt && interrupt->requested(); },
    };
    const char_gpt::History history = [&] {
        try {
            return char_gpt::train(world, options, text, files, reporter);
        } catch (...) {
            world.leave(); // else this process would wait for the others at its end
            throw;
        }
    }();
    if (world.rank() != 0) return 0;
    bar.clear();
    if (!history.loss.empty()) rp::train::save_svg(out / "training.svg", char_gpt::picture(history, device));
    char_gpt::figures(history, options, device).save(out / "metrics.json");
    if (history.interrupted) {
        std::cout << "Interrupted after " << history.loss.size() << " steps; the weights are in "
                  << rp::path_text(files.weights) << ", and --resume goes on." << std::endl;
        return exit_interrupted;
    }
    for (const std::string& line : history.written) std::cout << "> " << line << std::endl;
    std::printf("Loss: %.4f nats a character (%lld parameters, %.0f characters/s,\n"
                "%s of training; %llu sizes of batches, %llu recordings made for them)\n",
                history.epoch_loss.back(), static_cast<long long>(history.parameters),
                history.characters_per_second, rp::train::duration_text(history.train_seconds).c_str(),
                static_cast<unsigned long long>(history.sizes),
                static_cast<unsigned long long>(history.recordings));
    print_results(out, {{"char_gpt.safetensors", "the weights"},
                        {"training.svg", "loss over the training"},
                        {"metrics.json", "the figures and options"}});
    return 0;
}

} // namespace

int main(int argc, char** argv) { return run_main(argc, argv, char_gpt::parse, run); }
