// What a training program shows and leaves behind: plots, figures, and a clean stop.  Nothing here prints.
#pragma once
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace reprise::train {

// ---- line plots as SVG ----
// One line of a plot.
struct Series {
    std::string label{};     // in the legend; none where it is empty
    std::vector<double> x{}; // as many as y
    std::vector<double> y{}; // values
    bool faint = false;      // thin and pale: raw values behind a smoothed line
    bool points = false;     // a mark on each value
};
// One plot with its axes.
struct Panel {
    std::string title{};           // above it
    std::string x_label{};         // with its unit
    std::string y_label{};         // with its unit
    std::vector<Series> series{};  // drawn in this order
    std::optional<double> y_min{}; // none: what the values need
    std::optional<double> y_max{}; // the same
};
// A picture of plots.
struct Figure {
    std::string title{};         // on top
    std::vector<Panel> panels{}; // from top to bottom
};
// Values that are not finite interrupt a line.  Error(argument) where a series has not as many x as y.
std::string to_svg(const Figure&);
void save_svg(const std::filesystem::path&, const Figure&); // whole or not at all

// The mean over a window of `width` values that ends at each; over those that there are at the start.
std::vector<double> running_mean(const std::vector<double>&, std::size_t width);

// ---- figures as a JSON object, in the order in which they were set; what is not finite becomes null ----
// Setting a name again takes the place of its value.  A Metrics is a value: copies share nothing.
class Metrics {
public:
    Metrics();
    ~Metrics();
    Metrics(const Metrics&);                              // copies all values
    Metrics& operator=(const Metrics&);                   // copies all values
    Metrics& set(const std::string& name, double);        // not finite: null
    Metrics& set(const std::string& name, std::int64_t);  // an integer
    Metrics& set(const std::string& name, std::uint64_t); // an integer
    // An integer.
    Metrics& set(const std::string& name, int value) { return set(name, std::int64_t{value}); }
    Metrics& set(const std::string& name, bool);               // true or false
    Metrics& set(const std::string& name, const std::string&); // UTF-8
    // UTF-8.
    Metrics& set(const std::string& name, const char* text) { return set(name, std::string(text)); }
    Metrics& set(const std::string& name, const std::vector<double>&); // a list
    Metrics& set(const std::string& name, const Metrics&);             // an object inside
    std::string json() const;                                          // indented
    void save(const std::filesystem::path&) const;                     // whole or not at all

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// ---- Ctrl-C ----
// While it lives, the first interrupt (SIGINT or SIGTERM) sets a flag, so that a loop can end in good order;
// a second ends the process as usual.  One at a time.
class Interrupt {
public:
    Interrupt(); // Error(state) where another one lives
    ~Interrupt();
    Interrupt(const Interrupt&) = delete;
    Interrupt& operator=(const Interrupt&) = delete;
    bool requested() const noexcept; // whether an interrupt has come since it was made

private:
    void (*before_interrupt_)(int);
    void (*before_terminate_)(int);
};

} // namespace reprise::train
