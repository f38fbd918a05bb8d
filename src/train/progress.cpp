#include <reprise/train/progress.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#if defined(_WIN32)
#include <io.h>
#include <windows.h>
#else
#include <sys/ioctl.h>
#include <unistd.h>
#endif

namespace reprise::train {

namespace {

template <class... Values> std::string format(const char* pattern, Values... values)
{
    char text[160];
    std::snprintf(text, sizeof(text), pattern, values...);
    return text;
}

// Returns the width of the standard output in characters; 80 if it can't be found.
std::size_t terminal_width()
{
    std::size_t width = 0;
#if defined(_WIN32)
    CONSOLE_SCREEN_BUFFER_INFO size{};
    if (GetConsoleScreenBufferInfo(GetStdHandle(STD_OUTPUT_HANDLE), &size) != 0)
        width = static_cast<std::size_t>(size.srWindow.Right - size.srWindow.Left + 1);
#else
    winsize size{};
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
#endif
    return width > 20 ? width : 80;
}

} // namespace

std::string duration_text(double seconds)
{
    if (!(seconds >= 0) || seconds > 1e7) return "?";
    const auto whole = static_cast<long>(std::lround(seconds));
    if (whole >= 3600) return format("%ld:%02ld:%02ld", whole / 3600, whole / 60 % 60, whole % 60);
    return format("%ld:%02ld", whole / 60, whole % 60);
}

std::string percent_text(double share) { return format("%.1f %%", 100 * share); }

std::string progress_line(const Progress& p, std::size_t width)
{
    std::string head = format("epoch %lld", static_cast<long long>(p.epoch));
    if (p.epochs > 0) head += format("/%lld", static_cast<long long>(p.epochs));
    head += " ";
    std::string tail = format(" %lld", static_cast<long long>(p.step));
    if (p.steps > 0) tail += format("/%lld", static_cast<long long>(p.steps));
    if (p.testing.empty()) tail += format("  loss %.3f", p.loss);
    else tail += "  " + p.testing;
    if (!p.more.empty()) tail += "  " + p.more;
    if (p.rate > 0) tail += format(p.rate < 10 ? "  %.2g " : "  %.0f ", p.rate) + p.unit + "/s";
    if (p.seconds_left >= 0) tail += "  " + duration_text(p.seconds_left) + " left";
    constexpr std::size_t min_bar = 7, max_bar = 40;
    std::string bar;
    if (head.size() + tail.size() + min_bar <= width) {
        const std::size_t inner = std::min(width - head.size() - tail.size(), max_bar) - 2;
        const double share = p.steps > 0 ? static_cast<double>(p.step) / static_cast<double>(p.steps) : 0;
        const auto full = static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(inner));
        bar = "[" + std::string(full, '=') + (full < inner ? ">" : "") +
              std::string(inner - std::min(inner, full + 1), ' ') + "]";
    }
    return (head + bar + tail).substr(0, width);
}

void ProgressBar::show(const Progress& p)
{
    const Clock::time_point now = Clock::now();
    const auto pause = terminal_ ? std::chrono::milliseconds(100) : std::chrono::milliseconds(10'000);
    const bool at_end = p.steps > 0 && p.step == p.steps;
    if (now - last_ < pause && (!at_end || ended_ == p.epoch)) return;
    last_ = now;
    if (at_end) ended_ = p.epoch;
    if (terminal_) write(progress_line(p, terminal_width() - 1));
    else out_ << progress_line(p, 79) << std::endl;
}

void ProgressBar::clear()
{
    if (shown_ == 0) return;
    write("");
    out_ << '\r' << std::flush;
}

// Blanks cover what the line before has more.
void ProgressBar::write(const std::string& line)
{
    out_ << '\r' << line << std::string(shown_ > line.size() ? shown_ - line.size() : 0, ' ') << std::flush;
    shown_ = line.size();
}

bool is_terminal_stdout()
{
#if defined(_WIN32)
    return _isatty(_fileno(stdout)) != 0;
#else
    const char* kind = std::getenv("TERM");
    return isatty(STDOUT_FILENO) == 1 && (!kind || std::string(kind) != "dumb");
#endif
}

} // namespace reprise::train
