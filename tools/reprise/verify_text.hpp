// The results of `reprise verify` as text.
#pragma once
#include <string>
#include <vector>

#include <reprise/testing.hpp>

namespace command {

// The header of the table, and the line of one op.
std::string verify_header(std::size_t width);
std::string verify_line(const std::vector<reprise::testing::Verified>& op, std::size_t width);
// A table of all ops in Markdown, one column per dtype.
std::string verify_markdown(const std::string& device,
                            const std::vector<std::vector<reprise::testing::Verified>>& ops);
// The tables in a Markdown file, with their lines in order.
struct OpLine {
    std::string op, text;
};
struct OpTable {
    std::string device;
    std::vector<OpLine> lines;
};
std::vector<OpTable> tables_of(const std::string& markdown);

} // namespace command
