#include "options.hpp"

#include "../common/command_line.hpp"

namespace char_gpt {

CommandLine parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err)
{
    CommandLine result;
    Options& o = result.options;
    CLI::App app(
        "Trains a small GPT on the lines of a text, character by character, and lets it write some. Writes "
        "the weights (char_gpt.safetensors), a checkpoint to go on from (checkpoint.json and its files), a "
        "picture of the training (training.svg) and its figures (metrics.json). `mpirun -n 4 char_gpt` "
        "trains "
        "in four processes.",
        "char_gpt");
    add_number(app, "--epochs", o.epochs, "Passes through the text", 1)->capture_default_str();
    add_number(app, "--batch", o.batch, "Lines in a step", 1, 10'000)->capture_default_str();
    add_number(app, "--features", o.features, "Width of the network, a multiple of 32", 32, 8192)
        ->check(multiple_of(32))
        ->capture_default_str();
    add_number(app, "--layers", o.layers, "Depth of the network", 1, 1000)->capture_default_str();
    add_number(app, "--steps", o.steps, "End after so many steps", 1);
    add_number(app, "--sentences", o.sentences, "Lines to be written at the end", 0, 10'000)
        ->capture_default_str();
    add_number(app, "--longest", o.longest, "Characters of such a line, at most", 1, 100'000)
        ->capture_default_str();
    app.add_option("--temperature", o.temperature,
                   "Of the writing, from 0.01 (the likeliest character) to 100")
        ->check(number_between(0.01, 100))
        ->capture_default_str()
        ->type_name("NUMBER");
    app.add_option("--precision", o.precision,
                   "f32, bf16 or f16: of products and attention in the training (autocast)")
        ->check(CLI::IsMember({"f32", "bf16", "f16"}))
        ->capture_default_str()
        ->type_name("DTYPE");
    app.add_option("--device", o.device, "vulkan, vulkan:1, ... (without it REPRISE_DEVICE, else the best)")
        ->type_name("NAME");
    add_path(app, "--text", o.text, "File of lines (without it the Proverbs, King James Version)", "FILE");
    add_path(app, "--out", o.out, "Folder for the results");
    add_number(app, "--seed", o.seed, "Of the initial weights, the order of lines and the writing", 0,
               std::numeric_limits<std::uint64_t>::max())
        ->capture_default_str();
    app.add_flag("--resume", o.resume, "Go on where an earlier run with this folder stopped");
    app.add_flag("--nccl", o.nccl, "Let the processes exchange by NCCL, each with a CUDA device");
    result.exit_code = parse_arguments(app, std::move(arguments), out, err);
    return result;
}

} // namespace char_gpt
