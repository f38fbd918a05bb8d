// Trains a convolutional network on Fashion-MNIST, on any device.
#include <cstdio>
#include <iostream>

#include <reprise/reprise.hpp>
#include <reprise/train.hpp>

#include "../common/run.hpp"
#include "options.hpp"
#include "report.hpp"
#include "training.hpp"

namespace rp = reprise;
namespace fs = std::filesystem;

namespace {

constexpr const char* weights_name = "fashion_mnist.safetensors";
constexpr const char* picture_name = "training.svg";
constexpr const char* figures_name = "metrics.json";

int run(const Options& options)
{
    if (!options.device.empty()) rp::set_default_device(rp::Device(options.device));
    const std::string device = device_text(rp::default_device());
    const fs::path& out = options.out;
    const Files files{out / weights_name, out / "checkpoint.safetensors"};
    const rp::data::TrainTest data = rp::data::fashion_mnist(options.data);
    make_folder(out, {weights_name, picture_name, figures_name});

    const rp::train::Interrupt interrupt;
    std::cout << "Device: " << device << std::endl;
    rp::train::ProgressBar bar(std::cout, rp::train::is_terminal_stdout());
    const Reporter reporter{
        .recorded =
            [&](const History& h) {
                std::printf("Recorded: a training step of a whole batch takes %s of memory\n",
                            memory_text(h.memory).c_str());
                std::fflush(stdout);
            },
        .step = [&](const rp::train::Progress& p) { bar.show(p); },
        .epoch =
            [&](const History& h) {
                bar.clear();
                std::printf("epoch %zu/%lld: test accuracy %.2f %%, test loss %.4f\n", h.test_accuracy.size(),
                            static_cast<long long>(options.epochs), 100 * h.test_accuracy.back(),
                            h.test_loss.back());
                std::fflush(stdout);
            },
        .stop = [&] { return interrupt.requested(); },
    };
    const History history = train(options, data, files, reporter);
    bar.clear();
    if (!history.loss.empty()) rp::train::save_svg(out / picture_name, picture(history, device));
    figures(history, options, device).save(out / figures_name);
    if (history.interrupted) {
        std::cout << "Interrupted after " << history.loss.size() << " steps; ";
        if (history.test_accuracy.empty()) std::cout << "no epoch was complete, so no weights were written.";
        else
            std::cout << "the weights of epoch " << history.test_accuracy.size() << " are in "
                      << rp::path_text(files.weights) << ".";
        std::cout << " --resume goes on." << std::endl;
        return exit_interrupted;
    }
    std::printf("Test accuracy: %.2f %% (%lld parameters, %.0f images/s, %s of training)\n",
                100 * history.test_accuracy.back(), static_cast<long long>(history.parameters),
                history.images_per_second, rp::train::duration_text(history.train_seconds).c_str());
    print_results(out, {{weights_name, "the weights, for Python's safetensors too"},
                        {picture_name, "loss and accuracy over the training"},
                        {figures_name, "the figures and options"}});
    return 0;
}

} // namespace

int main(int argc, char** argv) { return run_main(argc, argv, parse, run); }
