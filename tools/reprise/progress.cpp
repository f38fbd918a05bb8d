#include "progress.hpp"

#include <cstdio>

#ifndef _WIN32
#include <unistd.h>
#endif

namespace command {

namespace {

bool on_terminal()
{
#ifdef _WIN32
    return false;
#else
    return isatty(STDERR_FILENO) == 1;
#endif
}

} // namespace

void show_progress(std::size_t done, std::size_t of, const std::string& what)
{
    if (!on_terminal()) return;
    constexpr std::size_t width = 30;
    const std::size_t filled = of == 0 ? width : done * width / of;
    std::string bar(filled, '=');
    bar.resize(width, ' ');
    std::fprintf(stderr, "\r\x1b[K[%s] %zu of %zu  %s", bar.c_str(), done, of, what.c_str());
    if (done == of) std::fprintf(stderr, "\r\x1b[K");
    std::fflush(stderr);
}

} // namespace command
