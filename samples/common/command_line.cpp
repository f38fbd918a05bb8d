#include "command_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <sstream>

#include <reprise/path_text.hpp>

CLI::Validator whole_number(std::uint64_t min, std::uint64_t max)
{
    return CLI::Validator(
        [=](const std::string& text) -> std::string {
            std::uint64_t value = 0;
            const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
            if (error == std::errc() && end == text.data() + text.size() && value >= min && value <= max)
                return "";
            return "the value (" + text + ") must be a whole number " +
                   (max < unlimited ? "from " + std::to_string(min) + " to " + std::to_string(max)
                                    : "of at least " + std::to_string(min));
        },
        "");
}

CLI::Validator multiple_of(std::uint64_t unit)
{
    return CLI::Validator(
        [=](const std::string& text) {
            return std::stoull(text) % unit == 0
                       ? std::string()
                       : "the value (" + text + ") must be a multiple of " + std::to_string(unit);
        },
        "");
}

CLI::Validator number_between(double min, double max)
{
    return CLI::Validator(
        [=](const std::string& text) -> std::string {
            double value = 0;
            std::istringstream in(text); // libc++ has no std::from_chars for doubles before version 20
            if (in >> value && in.peek() == EOF && value >= min && value <= max) return "";
            std::ostringstream message;
            message << "the value (" << text << ") must be a number from " << min << " to " << max;
            return message.str();
        },
        "");
}

CLI::Option* add_path(CLI::App& app, const char* name, std::filesystem::path& path, const char* text,
                      const char* type_name)
{
    const auto assign = [&path](const std::string& utf8) { path = reprise::path_of_text(utf8); };
    return app.add_option_function<std::string>(name, assign, text)
        ->default_str(reprise::path_text(path))
        ->type_name(type_name);
}

std::optional<int> parse_arguments(CLI::App& app, std::vector<std::string> arguments, std::ostream& out,
                                   std::ostream& err)
{
    try {
        std::reverse(arguments.begin(), arguments.end()); // CLI11 takes them in reverse order
        app.parse(std::move(arguments));
    } catch (const CLI::ParseError& error) {
        return app.exit(error, out, err) == 0 ? 0 : exit_usage;
    }
    return std::nullopt;
}
