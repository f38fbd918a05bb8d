// Trains a GPT at a depth that does not fit a memory budget, within that budget.
#include <cstdio>
#include <iostream>

#include <reprise/reprise.hpp>
#include <reprise/train.hpp>

#include "../common/run.hpp"
#include "options.hpp"
#include "report.hpp"
#include "training.hpp"

namespace {

namespace rp = reprise;
namespace fs = std::filesystem;

void print(const char* what, const deep_gpt::Step& s)
{
    std::printf("  %-36s %s, %zu launches\n", what, memory_text(s.memory).c_str(), s.by_launch.size());
}

int run(const deep_gpt::Options& options)
{
    if (!options.device.empty()) rp::set_default_device(rp::Device(options.device));
    const std::string device = device_text(rp::default_device());
    const fs::path& out = options.out;
    make_folder(out, {"memory.svg", "training.svg", "metrics.json"});
    std::cout << "Device: " << device << std::endl;

    const rp::train::Interrupt interrupt;
    rp::train::ProgressBar bar(std::cout, rp::train::is_terminal_stdout());
    const deep_gpt::Reporter reporter{
        .recorded =
            [&](const deep_gpt::History& h) {
                std::printf("%lld layers, %lld parameters.\n"
                            "Memory of a step of %lld sequences of %lld numbers:\n",
                            static_cast<long long>(options.layers), static_cast<long long>(h.parameters),
                            static_cast<long long>(options.batch), static_cast<long long>(options.length));
                print("as recorded", h.without);
                print("with a checkpoint around each block", h.checkpoints);
                print("within the budget", h.within);
                std::printf("Parameters and optimizer state: %.1f MiB\n",
                            deep_gpt::mib(h.within.memory.state));
                std::fflush(stdout);
                rp::train::save_svg(out / "memory.svg", deep_gpt::memory_picture(h, options, device));
            },
        .step = [&](const rp::train::Progress& p) { bar.show(p); },
        .stop = [&] { return interrupt.requested(); },
    };
    const deep_gpt::History history = deep_gpt::train(options, reporter);
    bar.clear();
    if (!history.loss.empty())
        rp::train::save_svg(out / "training.svg", deep_gpt::training_picture(history, options, device));
    deep_gpt::figures(history, options, device).save(out / "metrics.json");
    if (history.interrupted) {
        std::cout << "Interrupted after " << history.loss.size() << " steps." << std::endl;
        return exit_interrupted;
    }
    std::printf("Loss: %.4f nats a number after %zu steps (%s of training)\n",
                rp::train::running_mean(history.loss, 10).back(), history.loss.size(),
                rp::train::duration_text(history.train_seconds).c_str());
    print_results(out, {{"memory.svg", "memory over a step, without and with the budget"},
                        {"training.svg", "loss over the training"},
                        {"metrics.json", "the figures and options"}});
    return 0;
}

} // namespace

int main(int argc, char** argv) { return run_main(argc, argv, deep_gpt::parse, run); }
