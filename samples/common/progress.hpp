// One line that tells how far a training, or the test after an epoch, is.
#pragma once
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>

struct Progress {
    std::int64_t epoch = 1, epochs = 1; // counted from 1
    std::int64_t step = 0, steps = 0;   // of this epoch
    double loss = 0;                    // smoothed
    std::string more;                   // figures beside it, such as "accuracy 85.1 %"
    double rate = 0;                    // units in a second; 0: not known yet
    std::string unit;                   // "images"
    double seconds_left = 0;
    std::string testing; // what is being tested, in place of all figures but the steps
};

// At most `width` characters; the bar takes what the figures leave.
std::string progress_line(const Progress&, std::size_t width);
std::string duration(double seconds); // "1:02:03", "2:03"
std::string percent(double share);    // of 1: "85.1 %"

// On a terminal the line is rewritten in place, ten times a second at most; elsewhere (a file, a pipe) a
// line of its own comes every ten seconds.
class ProgressBar {
public:
    ProgressBar(std::ostream& out, bool terminal) : out_(out), terminal_(terminal) {}
    ~ProgressBar() { clear(); }
    ProgressBar(const ProgressBar&) = delete;
    ProgressBar& operator=(const ProgressBar&) = delete;
    void show(const Progress&);
    void clear(); // before other output

private:
    using Clock = std::chrono::steady_clock;
    std::ostream& out_;
    bool terminal_;
    bool shown_ = false;
    Clock::time_point last_ = Clock::now() - std::chrono::hours(1);
};

bool is_terminal_stdout();
std::size_t terminal_width(); // 80 where it is not known
