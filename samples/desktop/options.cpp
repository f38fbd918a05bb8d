#include "options.hpp"

#include "../common/command_line.hpp"

CommandLine parse(std::vector<std::string> arguments, std::ostream& out, std::ostream& err)
{
    CommandLine result;
    Options& options = result.options;
    CLI::App app("Trains a small network in a window, on the window's own Vulkan device, between its frames.",
                 "desktop");
    app.add_option("--task", options.task, "points: two classes of points; picture: an image")
        ->check(CLI::IsMember({"points", "picture"}))
        ->capture_default_str()
        ->type_name("NAME");
    add_path(app, "--picture", options.picture, "A PNG to learn, in place of the built-in picture", "FILE");
    add_number(app, "--batch", options.batch, "Examples in a step, up to 16384", 1, 16'384)
        ->capture_default_str();
    add_number(app, "--width", options.width, "Features of a hidden layer, from 16 to 256", 16, 256)
        ->capture_default_str();
    app.add_option("--slice", options.slice, "Milliseconds of training in a frame, from 1 to 16")
        ->check(number_between(1, 16))
        ->capture_default_str()
        ->type_name("MS");
    add_number(app, "--fps", options.fps, "Frames in a second, at most (0: as the display has it)", 0, 1000)
        ->capture_default_str();
    app.add_option("--gpu", options.gpu, "Use a device whose name contains this text")->type_name("NAME");
    add_path(app, "--checkpoint", options.checkpoint, "File for the buttons Save and Load", "FILE");
    app.add_flag("--load", options.load, "Start from the checkpoint");
    app.add_flag("--save", options.save, "Save the checkpoint when the window is closed");
    app.add_option("--seconds", options.seconds, "Close the window after this time (0: never)")
        ->check(number_between(0, 1e6))
        ->type_name("N");
    app.add_flag("--script", options.script, "Use every control once, print what happens, and close");
    app.add_flag("--barriers", options.barriers,
                 "Put a barrier between all launches of training, for synchronization validation");
    add_path(app, "--screenshots", options.screenshots, "Folder for pictures of the window");
    result.exit_code = parse_arguments(app, std::move(arguments), out, err);
    return result;
}
