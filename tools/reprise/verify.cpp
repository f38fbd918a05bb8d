// reprise verify: checks whether this machine's driver computes correctly.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <stdexcept>

#include <reprise/io.hpp>
#include <reprise/reprise.hpp>
#include <reprise/testing.hpp>

#include "command.hpp"
#include "progress.hpp"
#include "verify_text.hpp"

namespace command {

namespace {

using reprise::testing::Verified;

struct Options {
    std::string device, op, part, markdown, expect, covers;
    bool list = false;
};

std::vector<OpTable> tables_in(const std::string& path)
{
    std::ifstream file(reprise::path_of_text(path));
    std::stringstream text;
    text << file.rdbuf();
    std::vector<OpTable> tables = tables_of(text.str());
    if (tables.empty()) throw std::runtime_error(path + " holds no table of ops.");
    return tables;
}

[[noreturn]] void stale(const std::string& path, const std::string& what)
{
    throw std::runtime_error(path + " " + what +
                             ": write the table of this driver anew with reprise verify --markdown FILE.");
}

// Throws unless every table of the file lists every op, and no other.
void check_covers(const std::string& path)
{
    const std::vector<std::string> names = reprise::testing::verified_ops();
    for (const OpTable& table : tables_in(path)) {
        for (const std::string& name : names)
            if (std::ranges::find(table.lines, name, &OpLine::op) == table.lines.end())
                stale(path, "lacks the op " + name);
        for (const OpLine& line : table.lines)
            if (std::ranges::find(names, line.op) == names.end())
                stale(path, "lists, but there is not, " + line.op);
    }
}

// Throws unless the file's table of this device says what was found.  Returns false if there is no such table.
bool check_expected(const std::string& path, const std::string& markdown)
{
    const OpTable found = tables_of(markdown).front();
    for (const OpTable& table : tables_in(path)) {
        if (table.device != found.device) continue;
        for (const OpLine& line : found.lines) {
            const auto expected = std::ranges::find(table.lines, line.op, &OpLine::op);
            if (expected == table.lines.end() || expected->text != line.text)
                stale(path, "does not say of " + found.device + " what was found, \"" + line.text + "\"");
        }
        return true;
    }
    return false;
}

void write_markdown(const std::string& path, const std::string& markdown)
{
    reprise::WholeFile file(reprise::path_of_text(path));
    file.write(markdown);
    file.commit();
}

// For "2/8" returns every eighth name, from the second on.  Throws if `part` is malformed.
std::vector<std::string> part_of(const std::vector<std::string>& names, const std::string& part)
{
    std::size_t first = 0, of = 0;
    char rest = 0;
    if (std::sscanf(part.c_str(), "%zu/%zu%c", &first, &of, &rest) != 2 || first < 1 || first > of ||
        of > names.size())
        throw std::runtime_error("\"" + part + "\" is no part: 2/8 is every eighth op, from the second on.");
    std::vector<std::string> chosen;
    for (std::size_t i = first - 1; i < names.size(); i += of) chosen.push_back(names[i]);
    return chosen;
}

std::vector<std::string> chosen_ops(const Options& o)
{
    if (!o.op.empty()) return {o.op};
    const std::vector<std::string> names = reprise::testing::verified_ops();
    return o.part.empty() ? names : part_of(names, o.part);
}

// Returns whether all results are right.
bool run(const Options& o)
{
    const reprise::Device device = o.device.empty() ? reprise::default_device() : reprise::Device(o.device);
    const std::vector<std::string> names = chosen_ops(o);
    std::size_t width = 2;
    for (const std::string& name : reprise::testing::verified_ops()) width = std::max(width, name.size());
    std::cout << device.name() << ": " << device.description() << "\n\n" << verify_header(width);
    std::vector<std::vector<Verified>> all;
    std::vector<std::string> messages;
    std::size_t cells = 0, done = 0;
    const auto from = std::chrono::steady_clock::now();
    const std::size_t of = names.size();
    const auto note = [&](const std::vector<Verified>& op) {
        show_progress(of, of, "");
        std::cout << verify_line(op, width) << std::flush;
        for (const Verified& v : op) {
            cells += v.forward == reprise::testing::Verdict::right ? 1 : 0;
            if (!v.passed()) messages.push_back(v.op + " in " + name_of(v.dtype) + ", " + v.message);
        }
        all.push_back(op);
        show_progress(++done, of, op[0].op);
    };
    for (const std::string& name : names) reprise::testing::verify(device, note, name);
    for (const std::string& m : messages) std::cout << "FAIL " << m << "\n";
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - from).count();
    char text[160];
    std::snprintf(text, sizeof(text),
                  "\n%zu ops, right in %zu combinations with a dtype, wrong in %zu; %.0f s\n", all.size(),
                  cells, messages.size(), seconds);
    std::cout << text;
    const std::string markdown = verify_markdown(device.description(), all);
    if (!o.markdown.empty()) write_markdown(o.markdown, markdown);
    if (!o.expect.empty() && !check_expected(o.expect, markdown))
        std::cout << o.expect << " has no table of this device.\n";
    return messages.empty();
}

} // namespace

void add_verify(CLI::App& app)
{
    CLI::App* const verify =
        app.add_subcommand("verify", "Checks every op, dtype and gradient on a device against the reference");
    const auto options = std::make_shared<Options>();
    verify->add_option("--device", options->device, "\"vulkan:1\"; the default device if left out");
    CLI::Option* const op = verify->add_option("--op", options->op, "Only this one");
    verify
        ->add_option("--part", options->part,
                     "2/8: every eighth op, from the second on, so that several processes can share the work")
        ->excludes(op);
    verify->add_flag("--list", options->list, "Names the ops and does nothing");
    verify->add_option("--markdown", options->markdown, "Writes the table to this file");
    verify->add_option("--expect", options->expect, "Fails where this file has another table of the device");
    verify->add_option("--covers", options->covers, "Only checks that the tables of this file list every op");
    verify->callback([options] {
        if (options->list) {
            for (const std::string& name : reprise::testing::verified_ops()) std::cout << name << "\n";
            return;
        }
        if (!options->covers.empty()) return check_covers(options->covers);
        if (!run(*options)) throw Failed();
    });
}

} // namespace command
