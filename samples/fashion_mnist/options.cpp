#include "options.hpp"

#include <algorithm>
#include <limits>

#include <CLI/CLI.hpp>

CommandLine parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err)
{
    CommandLine result;
    Options& options = result.options;
    CLI::App app("Trains a convolutional network on Fashion-MNIST and writes its weights (fashion_mnist.safetensors), "
                 "a picture of the training (training.svg) and its figures (metrics.json).",
                 "fashion_mnist");
    const CLI::Range count(std::int64_t{1}, std::numeric_limits<std::int64_t>::max());
    const CLI::Range batch_sizes(std::int64_t{1}, std::int64_t{60000});
    app.add_option("--epochs", options.epochs, "Passes through the training images")
        ->check(count)->capture_default_str()->type_name("N");
    app.add_option("--batch", options.batch, "Images in a step, up to 60000")
        ->check(batch_sizes)->capture_default_str()->type_name("N");
    app.add_option("--device", options.device, "vulkan, vulkan:1, ... (without it REPRISE_DEVICE, else the best)")
        ->type_name("NAME");
    app.add_option("--data", options.data,
                   "Folder with the four IDX files, plain or .gz (without it /usr/share/datasets/fashion-mnist)")
        ->type_name("DIR");
    app.add_option("--out", options.out, "Folder for the results")->capture_default_str()->type_name("DIR");
    app.add_option("--seed", options.seed, "Of the initial weights and the order of images")
        ->check(CLI::NonNegativeNumber)->capture_default_str()->type_name("N");
    app.add_option("--train-limit", options.train_limit, "Only the first N training images")
        ->check(count)->type_name("N");
    try {
        std::reverse(arguments.begin(), arguments.end()); // as CLI11 takes them
        app.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
        result.exit_code = app.exit(error, out, err) == 0 ? 0 : exit_usage;
    }
    return result;
}
