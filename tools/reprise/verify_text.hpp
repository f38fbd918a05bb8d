// What a device computed, as a person reads it.
#pragma once
#include <string>
#include <vector>

#include <reprise/testing.hpp>

namespace command {

// Of one op: a line of the table.
std::string verify_header(std::size_t width);
std::string verify_line(const std::vector<reprise::testing::Verified>& op, std::size_t width);
// A table of all of them in Markdown, one column a dtype.
std::string verify_markdown(const std::string& device,
                            const std::vector<std::vector<reprise::testing::Verified>>& ops);
// The tables that such a file holds, and their lines in order.
struct OpLine {
    std::string op, text;
};
struct OpTable {
    std::string device;
    std::vector<OpLine> lines;
};
std::vector<OpTable> tables_of(const std::string& markdown);

} // namespace command
