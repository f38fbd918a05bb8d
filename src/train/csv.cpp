#include <reprise/train/csv.hpp>

#include <charconv>
#include <cmath>

#include <reprise/error.hpp>
#include <reprise/path_text.hpp>
#include <reprise/whole_file.hpp>

namespace reprise::train {

using detail::fail;

namespace {

constexpr const char* op = "CsvFile";

// A text with characters that separate fields or rows is quoted.
std::string field(const std::string& text)
{
    if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
    std::string out = "\"";
    for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
    return out + '"';
}

std::string number(double value)
{
    constexpr double whole_below = 9007199254740992; // 2^53
    const bool is_whole = std::abs(value) <= whole_below && std::trunc(value) == value;
    char text[64];
    return {text, is_whole ? std::to_chars(text, text + sizeof text, value, std::chars_format::fixed).ptr
                           : std::to_chars(text, text + sizeof text, value).ptr};
}

// Removes all rows of the file but the first ones.  Rows are lines, as they consist of numbers.
void keep(const std::filesystem::path& path, const std::string& head, std::size_t rows)
{
    std::ifstream in(path, std::ios::binary);
    if (!in)
        fail(ErrorKind::file, op, "The file (", path_text(path), ") with the rows to keep can't be opened.");
    std::string kept(head.size(), '\0');
    in.read(kept.data(), static_cast<std::streamsize>(kept.size()));
    if (!in || kept != head)
        fail(ErrorKind::file, op, "The file (", path_text(path),
             ") does not begin with the names of the columns.");
    std::string line;
    for (std::size_t i = 0; i < rows; ++i) {
        if (!std::getline(in, line) || in.eof()) // the last line of a killed process may be cut
            fail(ErrorKind::file, op, "The file (", path_text(path), ") has fewer rows (", i,
                 ") than those to keep (", rows, ").");
        kept += line + "\n";
    }
    in.close();
    WholeFile out(path);
    out.write(kept);
    out.commit();
}

} // namespace

CsvFile::CsvFile(const std::filesystem::path& path, const std::vector<std::string>& columns,
                 const Options& options)
    : path_(path), columns_(columns.size())
{
    if (columns.empty()) fail(ErrorKind::argument, op, "There are no columns: give at least one name.");
    std::string head;
    for (std::size_t i = 0; i < columns.size(); ++i) head += (i ? "," : "") + field(columns[i]);
    head += "\n";
    if (options.keep_rows) {
        keep(path, head, *options.keep_rows);
        rows_ = *options.keep_rows;
    }
    file_.open(path, std::ios::binary | (options.keep_rows ? std::ios::app : std::ios::trunc));
    if (!options.keep_rows) file_ << head << std::flush;
    if (!file_) fail(ErrorKind::file, op, "The file (", path_text(path), ") can't be written.");
}

void CsvFile::add(const std::vector<double>& row)
{
    if (row.size() != columns_)
        fail(ErrorKind::argument, op, "The row has (", row.size(), ") numbers for (", columns_, ") columns.");
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) line += (i ? "," : "") + number(row[i]);
    file_ << line + "\n" << std::flush;
    if (!file_) fail(ErrorKind::file, op, "The file (", path_text(path_), ") can't be written.");
    ++rows_;
}

} // namespace reprise::train
