// The thread-local context of ops: what they depend on in addition to their arguments.
#pragma once
#include <cstdint>
#include <source_location>
#include <type_traits>
#include <utility>

#include <reprise/dtype.hpp>

namespace reprise {
class GradientTape; // autograd/tape.hpp
}

namespace reprise::graph {

class Scope;    // graph/notes.hpp
struct Segment; // graph/segment.hpp
class Tracer;   // graph/cell.hpp

// The state of reprise::autocast.
struct Autocast {
    DType dtype = DType::bf16;
    bool on = false;
    std::uint32_t set_in = 0; // Tracer::id() of the recording in which it was set; 0: outside of any
};

struct Ambient {
    Tracer* tracer = nullptr;   // of the recording in progress; null: eager
    Scope* scope = nullptr;     // the innermost; null: none
    Segment* segment = nullptr; // the one that new nodes belong to; null: none
    bool grad_mode = true;      // whether ops record gradients
    Autocast autocast{};
    bool index_checks_off = false; // ops::IndexChecksOff (ops/index_check.hpp)
    bool checkpoints = true;       // whether checkpoint() creates segments
    int running_checkpoints = 0;   // depth of nested calls of checkpoint()
    GradientTape* tape = nullptr;  // the innermost; null: none
    std::source_location place{};  // the location that errors of anomaly mode report
};
Ambient& ambient(); // of this thread

inline Tracer*& current_tracer() { return ambient().tracer; }
inline Scope*& current_scope() { return ambient().scope; }
inline Segment*& current_segment() { return ambient().segment; }
inline bool& grad_mode() { return ambient().grad_mode; }

// Sets a variable to another value while this object exists, and restores the previous value afterwards.
template <class T> class Scoped {
public:
    Scoped(T& variable, std::type_identity_t<T> value)
        : variable_(variable), before_(std::exchange(variable, std::move(value)))
    {}
    ~Scoped() { variable_ = std::move(before_); }
    Scoped(const Scoped&) = delete;
    Scoped& operator=(const Scoped&) = delete;

private:
    T& variable_;
    T before_;
};

std::uint32_t current_recording(); // Tracer::id(); 0: none

// While this object exists, ops of this thread compute in the dtypes of their arguments.
class NoAutocast {
    Scoped<Autocast> off_{ambient().autocast, {.set_in = current_recording()}};
};

// While this object exists, this thread is outside of any recording and of any segment.
class Suspend {
    Scoped<Tracer*> no_tracer_{current_tracer(), nullptr};
    Scoped<Segment*> no_segment_{current_segment(), nullptr};
};

} // namespace reprise::graph
