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
// The names of ops that such a file has a line for, in each table that it holds.
std::vector<std::vector<std::string>> tables_of(const std::string& markdown);

} // namespace command
