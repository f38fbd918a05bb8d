#include "options.hpp"

#include "../common/command_line.hpp"

namespace deep_gpt {

CommandLine parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err)
{
    CommandLine result;
    Options& o = result.options;
    CLI::App app(
        "Trains a GPT whose step does not fit a memory budget, within that budget: values are dropped and "
        "made again. It learns to continue arithmetic sequences. Writes a picture of the memory over a step, "
        "without and with the budget (memory.svg), one of the training (training.svg) and their figures "
        "(metrics.json).",
        "deep_gpt");
    const auto number = [&](const char* name, auto& value, const char* text, std::uint64_t min,
                            std::uint64_t max) {
        return add_number(app, name, value, text, min, max)->capture_default_str();
    };
    number("--layers", o.layers, "Depth of the network", 1, 1000);
    number("--features", o.features, "Width of the network, a multiple of 32", 32, 8192)
        ->check(multiple_of(32));
    number("--length", o.length, "Numbers in a sequence", 2, 8192);
    number("--batch", o.batch, "Sequences in a step", 1, 10'000);
    number("--steps", o.steps, "Steps of training", 1, unlimited);
    app.add_option("--budget", o.budget, "What a step may hold beside parameters and optimizer state, in MiB")
        ->check(number_between(0.001, 1e9))
        ->capture_default_str()
        ->type_name("NUMBER");
    app.add_option("--device", o.device, "vulkan, vulkan:1, ... (without it REPRISE_DEVICE, else the best)")
        ->type_name("NAME");
    add_path(app, "--out", o.out, "Folder for the results");
    number("--seed", o.seed, "Of the initial weights and the sequences", 0,
           std::numeric_limits<std::uint64_t>::max());
    result.exit_code = parse_arguments(app, std::move(arguments), out, err);
    return result;
}

} // namespace deep_gpt
