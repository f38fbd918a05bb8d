// Anomaly mode: who made the first NaN, and where.
#pragma once
#include <memory>
#include <source_location>

namespace reprise {

struct AnomalyOptions {
    bool infinities = false; // an infinity is an anomaly too
};
// While it lives, each op of this thread is computed and looked at when it is called, and each gradient
// when it is made: slow, for finding a fault.  The first NaN throws Error(state) with the op, its inputs
// and the place in the user's code where the op was called: the last one that was told (mark_line(), calls
// of modules), else that of this object.  For a gradient it is the place of the op whose gradient it is.
// Error(state) for an op of a recording: it has no values.  Indices are checked as set_check_indices() says.
class detect_anomaly {
public:
    explicit detect_anomaly(const AnomalyOptions& = {},
                            std::source_location where = std::source_location::current());
    ~detect_anomaly();
    detect_anomaly(const detect_anomaly&) = delete;
    detect_anomaly& operator=(const detect_anomaly&) = delete;

private:
    struct Watch;
    std::unique_ptr<Watch> watch_;
    std::source_location before_;
};

// The ops of this thread from here on belong to this line.
void mark_line(std::source_location where = std::source_location::current());

namespace detail {
std::source_location present_place(); // line 0: none was told
// The same for as long as it lives.
class Place {
public:
    explicit Place(std::source_location where);
    ~Place();
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

private:
    std::source_location before_;
};
} // namespace detail

} // namespace reprise
