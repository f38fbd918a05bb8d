// Helpers of training programs: checkpoints, plots, images, files of metrics and events, progress, learning rates, and
// stopping early or on Ctrl-C.  Nothing here prints but to a stream of the program.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <reprise/train/checkpoint.hpp>
#include <reprise/train/csv.hpp>
#include <reprise/train/early_stopping.hpp>
#include <reprise/train/image.hpp>
#include <reprise/train/progress.hpp>
#include <reprise/train/rate_finder.hpp>
#include <reprise/train/summary_writer.hpp>

namespace reprise::train {

// ---- line plots as SVG ----
// One line of a plot.
struct Series {
    std::string label{};     // its name in the legend; empty: it is not in the legend
    std::vector<double> x{}; // the horizontal coordinates, one per element of y
    std::vector<double> y{}; // the values
    bool faint = false;      // draws the line thin and pale, for raw values behind a smoothed line
    bool points = false;     // draws a mark at each value
};
// One plot with its axes.
struct Panel {
    std::string title{};          // the text above the plot
    std::string x_label{};        // the name and unit of the horizontal axis
    std::string y_label{};        // the name and unit of the vertical axis
    std::vector<Series> series{}; // the lines, drawn in this order
    bool x_log = false; // a logarithmic horizontal axis: points whose x is not above 0 interrupt a line
    std::optional<double> y_min{}; // the lower end of the vertical axis; none: chosen by the values
    std::optional<double> y_max{}; // the upper end of the vertical axis; none: chosen by the values
};
// A picture of one or more plots.
struct Figure {
    std::string title{};         // the text at the top
    std::vector<Panel> panels{}; // the plots, from top to bottom
};
// Returns the figure as SVG text.  Values that are not finite interrupt a line.  Throws Error(argument) where
// a series has different numbers of x and y.
std::string to_svg(const Figure&);
// Writes the SVG text to a file, in full or, with Error(file), not at all.
void save_svg(const std::filesystem::path&, const Figure&);

// Returns, for each value, the mean of it and the width - 1 previous values, or of fewer at the beginning.
// Throws Error(argument) for a width of 0.
std::vector<double> running_mean(const std::vector<double>&, std::size_t width);

// ---- metrics ----
// Named values that are saved as a JSON object, in the order in which they were set.  Setting a name again
// replaces its value.  Copies are independent.
class Metrics {
public:
    Metrics(); // no values
    ~Metrics();
    Metrics(const Metrics&);                              // copies all values
    Metrics& operator=(const Metrics&);                   // copies all values
    Metrics& set(const std::string& name, double);        // a number; null where it is not finite
    Metrics& set(const std::string& name, std::int64_t);  // an integer
    Metrics& set(const std::string& name, std::uint64_t); // an integer
    // Sets an integer.
    Metrics& set(const std::string& name, int value) { return set(name, std::int64_t{value}); }
    Metrics& set(const std::string& name, bool);               // true or false
    Metrics& set(const std::string& name, const std::string&); // a text in UTF-8
    // Sets a text in UTF-8.
    Metrics& set(const std::string& name, const char* text) { return set(name, std::string(text)); }
    Metrics& set(const std::string& name, const std::vector<double>&); // a list of numbers
    Metrics& set(const std::string& name, const Metrics&);             // an object inside this one
    std::string json() const;                                          // the indented JSON text
    // Writes the JSON text to a file, in full or, with Error(file), not at all.
    void save(const std::filesystem::path&) const;

private:
    template <class T> Metrics& put(const std::string& name, const T& value);
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// ---- Ctrl-C ----
// While this object exists, the first interrupt (SIGINT or SIGTERM) sets a flag, so that a loop can end
// properly; a second one ends the process as usual.  A signal that the process ignores, as under nohup, is not caught.
// Only one may exist at a time.
class Interrupt {
public:
    Interrupt();  // begins to catch signals; Error(state) where another Interrupt exists
    ~Interrupt(); // restores the previous handlers, with their flags and masks
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    bool requested() const noexcept; // whether an interrupt has arrived since the construction
};

} // namespace reprise::train
