#include "options.hpp"

#include "../common/command_line.hpp"

namespace bert_lora {

CommandLine parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err)
{
    CommandLine result;
    Options& o = result.options;
    CLI::App app(
        "Fine-tunes a BERT to tell the topics of texts, by low-rank adapters over weights of 4 bits (qlora), "
        "over f32 "
        "weights (lora), or in full. Writes the adapters in PEFT's format, a picture (training.svg) and the "
        "figures (metrics.json).",
        "bert_lora");
    add_path(app, "--data", o.data, "Folder with a file of texts for each topic, separated by lines of %");
    app.add_option("--topics", o.topics, "The topics to tell apart: names of files, separated by commas")
        ->delimiter(',')
        ->capture_default_str()
        ->type_name("LIST");
    add_path(
        app, "--base", o.base,
        "Folder of a BERT in Hugging Face's format (without it, one is pre-trained on the other topics)");
    app.add_option("--methods", o.methods, "qlora, lora and full, separated by commas: one after the other")
        ->delimiter(',')
        ->check(CLI::IsMember({"qlora", "lora", "full"}))
        ->capture_default_str()
        ->type_name("LIST");
    add_number(app, "--epochs", o.epochs, "Passes through the texts of the topics", 1, 10'000)
        ->capture_default_str();
    add_number(app, "--base-epochs", o.base_epochs, "Passes through the other texts", 1, 10'000)
        ->capture_default_str();
    add_number(app, "--batch", o.batch, "Texts in a step", 1, 10'000)->capture_default_str();
    add_number(app, "--longest", o.longest, "Tokens of a text, which is cut there", 3, 512)
        ->capture_default_str();
    add_number(app, "--features", o.features, "Width of a pre-trained base, a multiple of 32", 32, 8192)
        ->check(multiple_of(32))
        ->capture_default_str();
    add_number(app, "--layers", o.layers, "Depth of a pre-trained base", 1, 1000)->capture_default_str();
    add_number(app, "--vocabulary", o.vocabulary, "Pieces of a pre-trained base's vocabulary", 300, 1'000'000)
        ->capture_default_str();
    add_number(app, "--rank", o.rank, "Rank of the adapters", 1, 8192)->capture_default_str();
    app.add_option("--weights", o.weights, "q4_0, q8_0 or int8: the frozen weights of qlora")
        ->check(CLI::IsMember({"q4_0", "q8_0", "int8"}))
        ->capture_default_str()
        ->type_name("FORMAT");
    app.add_option("--precision", o.precision, "f32 or bf16: of products and attention (autocast)")
        ->check(CLI::IsMember({"f32", "bf16"}))
        ->capture_default_str()
        ->type_name("DTYPE");
    app.add_option(
           "--budget", o.budget,
           "MiB of temporaries of a fine-tuning step; values are recomputed to keep it (without it and "
           "without --base, qlora and lora keep to 0.6 of what they take, if they can)")
        ->check(number_between(0.001, 1e6))
        ->type_name("MIB");
    app.add_option("--rate", o.rate,
                   "Highest learning rate of fine-tuning (without it 0.002 for adapters, 0.0003 in full)")
        ->check(number_between(1e-9, 10))
        ->type_name("NUMBER");
    add_number(app, "--steps", o.steps, "End each training after so many steps", 1);
    app.add_flag("--resume", o.resume, "Go on where an earlier run with this folder stopped");
    app.add_option("--device", o.device, "vulkan, vulkan:1, ... (without it REPRISE_DEVICE, else the best)")
        ->type_name("NAME");
    add_path(app, "--out", o.out, "Folder for the results");
    add_number(app, "--seed", o.seed, "Of the initial weights, the order of texts and dropout", 0,
               std::numeric_limits<std::uint64_t>::max())
        ->capture_default_str();
    result.exit_code = parse_arguments(app, std::move(arguments), out, err);
    return result;
}

} // namespace bert_lora
