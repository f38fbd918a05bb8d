// The tables of docs/onnx.md are those of the importer and of the cases that are expected to fail.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include <reprise/onnx.hpp>

namespace {

std::string read_all(const std::string& path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
}

std::string operators()
{
    std::ostringstream out;
    out << "| operator | from opset | limits |\n|---|---|---|\n";
    for (const auto& op : reprise::onnx::operators())
        out << "| " << (op.domain.empty() ? "" : op.domain + ".") << op.name << " | "
            << (op.since > 1 ? std::to_string(op.since) : "") << " | " << op.limits << " |\n";
    return out.str();
}

std::string cases()
{
    std::map<std::string, std::string> by_reason;
    std::istringstream lines(read_all(REPRISE_ONNX_EXPECTATIONS));
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string name, device, reason;
        words >> name >> device;
        std::getline(words >> std::ws, reason);
        if (name.empty() || name[0] == '#') continue;
        std::string& names = by_reason[reason];
        names += (names.empty() ? "`" : ", `") + name.substr(name.find('_') + 1) + "`";
    }
    std::ostringstream out;
    out << "| reason | cases |\n|---|---|\n";
    for (const auto& [reason, names] : by_reason) out << "| " << reason << " | " << names << " |\n";
    return out.str();
}

// The page with another text between the marks of a name.
std::string with(const std::string& page, const std::string& name, const std::string& text)
{
    const std::string begin = "<!-- " + name + " -->\n", end = "<!-- end of " + name + " -->";
    const std::size_t from = page.find(begin), to = page.find(end);
    EXPECT_NE(from, page.npos);
    EXPECT_NE(to, page.npos);
    return page.substr(0, from + begin.size()) + text + page.substr(to);
}

// scripts/make_onnx_tables sets the variable.
TEST(OnnxGuide, HasTheTables)
{
    const std::string page = read_all(REPRISE_ONNX_GUIDE);
    const std::string expected = with(with(page, "operators", operators()), "cases", cases());
    if (std::getenv("REPRISE_WRITE_TABLES")) std::ofstream(REPRISE_ONNX_GUIDE) << expected;
    else EXPECT_EQ(page, expected) << "Run scripts/make_onnx_tables.";
}

} // namespace
