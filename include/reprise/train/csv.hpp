// Tables of numbers, a row for each step or epoch, as CSV.
#pragma once
#include <concepts>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

namespace reprise::train {

// Options of a CsvFile.
struct CsvFileOptions {
    // Keeps this number of rows of an existing file and removes later ones, for a run that goes on from a checkpoint.
    // Without it the file is written anew.
    std::optional<std::size_t> keep_rows{};
};
// A CSV file (RFC 4180) with the names of its columns in the first line.  Each row is in the file when add() returns.
class CsvFile {
public:
    using Options = CsvFileOptions; // the options in braces

    // Throws Error(argument) where there is no column; Error(file) where the file can't be written or, with keep_rows,
    // is missing, has other columns or fewer rows.
    CsvFile(const std::filesystem::path&, const std::vector<std::string>& columns, const Options& = {});
    // Appends a row of numbers, in the fewest digits that read back as the same double; whole numbers up to 2^53 have
    // no exponent.  Throws Error(argument) unless there is one for each column, and Error(file) where the row can't be
    // written.
    void add(const std::vector<double>& row);
    // The same with one argument for each column: csv.add(step, loss).
    template <std::convertible_to<double>... Numbers> void add(Numbers... row)
    {
        add(std::vector<double>{static_cast<double>(row)...});
    }
    std::size_t rows() const noexcept { return rows_; } // the number of rows in the file

private:
    std::filesystem::path path_;
    std::size_t columns_, rows_ = 0;
    std::ofstream file_;
};

} // namespace reprise::train
