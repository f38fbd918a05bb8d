// A line that shows how far a training is.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

namespace reprise::train {

// What a progress line shows.
struct Progress {
    std::int64_t epoch = 1;   // counted from 1
    std::int64_t epochs = 0;  // the number of all; 0: unknown
    std::int64_t step = 0;    // the steps of this epoch that were made
    std::int64_t steps = 0;   // the steps of this epoch; 0: unknown
    double loss = 0;          // smoothed
    std::string more{};       // further numbers, such as "accuracy 85.1 %"
    double rate = 0;          // units per second; 0: not measured yet
    std::string unit{};       // "images"
    double seconds_left = -1; // of the run; negative: unknown
    std::string testing{};    // text shown in place of the loss during a test; else empty
};

// Returns a line of at most `width` characters, in which the bar fills the space that the text leaves.
std::string progress_line(const Progress&, std::size_t width);
std::string duration_text(double seconds); // "1:02:03", "2:03"; "?" where it is not from 0 to 10^7
std::string percent_text(double share);    // share: from 0 to 1; "85.1 %"

// Shows lines of progress.  On a terminal the line is rewritten in place, at most ten times per second, and as wide
// as the standard output's.  In a file or a pipe a new line is written every ten seconds.  The first show() of each
// epoch's last step is not delayed.
class ProgressBar {
public:
    // The stream must exist as long as this object; `terminal`: whether it is one, as is_terminal_stdout() returns.
    ProgressBar(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}
    ~ProgressBar() { clear(); }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    void show(const Progress&); // shows the line, unless it is too early
    void clear();               // removes the line; call it before other output

private:
    using Clock = std::chrono::steady_clock;
    void write(const std::string& line);
    std::ostream& out_;
    bool terminal_;
    std::int64_t ended_ = 0; // the epoch whose last step was shown last
    std::size_t shown_ = 0;  // characters of the line on the terminal
    Clock::time_point last_ = Clock::now() - std::chrono::hours(1);
};

// Whether the standard output is a terminal that can rewrite lines; the environment variable TERM=dumb says it cannot.
bool is_terminal_stdout();

} // namespace reprise::train
