#include "races.hpp"

#include <algorithm>

namespace reprise::simulator {

std::optional<Conflict> SharedRaces::write(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes)
{
    for (std::uint32_t i = offset / unit_; i <= (offset + bytes - 1) / unit_; ++i) {
        Word& w = words_[i];
        if (w.written == interval_ && w.writer != lane) return Conflict{w.writer, true};
        if (w.read == interval_ && w.reader != lane) return Conflict{w.reader, false};
        w.written = interval_;
        w.writer = static_cast<std::uint16_t>(lane);
    }
    return std::nullopt;
}

std::optional<Conflict> SharedRaces::read(std::uint32_t lane, std::uint32_t offset, std::uint32_t bytes)
{
    for (std::uint32_t i = offset / unit_; i <= (offset + bytes - 1) / unit_; ++i) {
        Word& w = words_[i];
        if (w.written == interval_ && w.writer != lane) return Conflict{w.writer, true};
        w.reader = static_cast<std::uint16_t>(w.read == interval_ && w.reader != lane ? several : lane);
        w.read = interval_;
    }
    return std::nullopt;
}

bool SharedRaces::is_written(std::uint32_t offset, std::uint32_t bytes) const
{
    for (std::uint32_t i = offset / unit_; i <= (offset + bytes - 1) / unit_; ++i)
        if (words_[i].written < first_interval_) return false;
    return true;
}

std::optional<Conflict> GlobalRaces::write(Word* first, Word* last, std::uint32_t lane)
{
    for (Word* w = first; w != last; ++w) {
        if (w->writer != 0 && w->writer != lane) return Conflict{w->writer, true};
        if (w->reader != 0 && w->reader != lane) return Conflict{w->reader, false};
        w->writer = lane;
    }
    return std::nullopt;
}

bool GlobalRaces::wrote(const Word* first, const Word* last, std::uint32_t lane)
{
    return std::all_of(first, last, [&](const Word& w) { return w.writer == lane; });
}

std::optional<Conflict> GlobalRaces::read(Word* first, Word* last, std::uint32_t lane)
{
    for (Word* w = first; w != last; ++w) {
        if (w->writer != 0 && w->writer != lane) return Conflict{w->writer, true};
        w->reader = w->reader != 0 && w->reader != lane ? several : lane;
    }
    return std::nullopt;
}

} // namespace reprise::simulator
