// Anomaly mode: finds the op that computed the first NaN, and where it was called.
#pragma once
#include <memory>
#include <source_location>

namespace reprise {

// Options of detect_anomaly.
struct AnomalyOptions {
    bool infinities = false; // reports infinities too
};
// While this object exists, each op of this thread is computed and checked when it is called, and each
// gradient when it is computed.  This is slow, and meant for debugging.  The first NaN throws Error(state),
// which names the op, its inputs and the location in the user's code where the op was called: that of the last
// mark_line() or call of a module, else that of this object.  For a gradient it is the location of the op that
// it belongs to.  Ops of a recording have no values and throw Error(state).  Indices are checked too, as by
// set_check_indices().  PyTorch's name is the same.
class detect_anomaly {
public:
    // Turns the mode on; `where` is the location that is reported until mark_line() or a module sets another.
    explicit detect_anomaly(const AnomalyOptions& = {},
                            std::source_location where = std::source_location::current());
    ~detect_anomaly(); // turns the mode off
    detect_anomaly(const detect_anomaly&) = delete;
    detect_anomaly& operator=(const detect_anomaly&) = delete;

private:
    struct Watch;
    std::unique_ptr<Watch> watch_;
    std::source_location before_;
};

// Sets the location in the code that anomaly mode reports for the following ops of this thread.
void mark_line(std::source_location where = std::source_location::current());

namespace detail {
std::source_location present_place(); // the current location; line 0: none was set
// Sets the location as mark_line() does, while this object exists.
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
