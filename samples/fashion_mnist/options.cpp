#include "options.hpp"

#include "../common/command_line.hpp"

CommandLine parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err)
{
    CommandLine result;
    Options& options = result.options;
    CLI::App app(
        "Trains a convolutional network on Fashion-MNIST and writes its weights (fashion_mnist.safetensors), "
        "a checkpoint to go on from (checkpoint.safetensors), a picture of the training (training.svg) and "
        "its "
        "figures (metrics.json).",
        "fashion_mnist");
    app.add_option("--epochs", options.epochs, "Passes through the training images")
        ->check(whole_number(1, unlimited))
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--batch", options.batch, "Images in a step, up to 60000")
        ->check(whole_number(1, 60'000))
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--device", options.device,
                   "vulkan, vulkan:1, ... (without it REPRISE_DEVICE, else the best)")
        ->type_name("NAME");
    add_path(app, "--data", options.data,
             "Folder with the four IDX files, plain or .gz (without it /usr/share/datasets/fashion-mnist)");
    add_path(app, "--out", options.out, "Folder for the results");
    app.add_option("--seed", options.seed, "Of the initial weights and the order of images")
        ->check(whole_number(0, std::numeric_limits<std::uint64_t>::max()))
        ->capture_default_str()
        ->type_name("N");
    app.add_option("--train-limit", options.train_limit, "Only the first N training images")
        ->check(whole_number(1, unlimited))
        ->type_name("N");
    app.add_flag("--resume", options.resume, "Go on where an earlier run with this folder stopped");
    result.exit_code = parse_arguments(app, std::move(arguments), out, err);
    return result;
}
