// Reports of long work to the caller, who may cancel it.
#pragma once
#include <functional>

#include <reprise/error.hpp>
#include <reprise/progress.hpp>

namespace reprise::detail {

struct Progress {
    std::function<bool()> stop{};
    std::function<void(const RecordProgress&)> function{};

    // Throws Error(cancelled) once `stop` returns true.
    void check() const
    {
        if (stop && stop())
            fail(ErrorKind::cancelled, "record", "The recording was cancelled by RecordOptions::stop.");
    }
    // Calls the function, and then check(), as the function may have requested the stop.
    void report(RecordStage stage, std::size_t done = 0, std::size_t total = 0) const
    {
        if (function) function({stage, done, total});
        check();
    }
};

} // namespace reprise::detail
