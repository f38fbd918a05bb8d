// The `reprise` command.
#include <cstdio>
#include <exception>
#include <iostream>

#include "command.hpp"

namespace {

constexpr command::Add commands[] = {
    command::add_devices,
    command::add_verify,
    command::add_tune,
};

} // namespace

int main(int argc, char** argv)
{
    CLI::App app("Reprise trains neural networks on any Vulkan GPU.", "reprise");
    app.set_version_flag("--version", "reprise " REPRISE_VERSION);
    app.require_subcommand(1);
    for (const command::Add add : commands) add(app);
    try {
        app.parse(argc, argv); // runs the subcommand
    } catch (const CLI::ParseError& error) {
        constexpr int usage = 2;
        // For unknown options and subcommands, CLI11's message says only that a subcommand is required.
        if (const auto rest = app.remaining();
            app.get_subcommands().empty() && !rest.empty() && error.get_exit_code() != 0) {
            std::fprintf(stderr, "unknown %s %s\nRun with --help for more information.\n",
                         rest[0].starts_with("-") ? "option" : "subcommand", rest[0].c_str());
            return usage;
        }
        return app.exit(error, std::cout, std::cerr) == 0 ? 0 : usage;
    } catch (const command::Failed&) {
        return 1;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return 1;
    }
}
