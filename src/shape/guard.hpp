// Equalities that can't be decided while recording.
#pragma once
#include <string>
#include <vector>

#include <reprise/dim.hpp>

namespace reprise::shape {

// a and b must be equal at the call.  Where they are not, `reason` begins the error: a sentence that names
// the user's op and the shapes, "[add] The shapes ([batch, 3] and [seq, 3]) do not broadcast: ...".
struct Guard {
    Dim a, b;
    std::string reason;
};

// Takes what shape rules can't prove.  It may throw instead.
class GuardSink {
public:
    virtual ~GuardSink() = default;
    virtual void require_equal(const Guard&) = 0;
};

// Keeps each equality once, in the order of asking.
class GuardList : public GuardSink {
public:
    void require_equal(const Guard&) override;
    const std::vector<Guard>& guards() const noexcept { return guards_; }

private:
    std::vector<Guard> guards_;
};

// The sink of this thread's shape rules for the scope's life; scopes nest, the innermost counts.
class GuardScope {
public:
    explicit GuardScope(GuardSink&);
    ~GuardScope();
    GuardScope(const GuardScope&) = delete;
    GuardScope& operator=(const GuardScope&) = delete;

private:
    GuardSink* outer_;
};

// What is left of require_equal where a == b does not hold structurally.
void settle(const char* op, const Dim& a, const Dim& b, const std::string& sentence);

// Returns where a equals b, provably or by a guard that the sink took.  Else throws Error(shape) with the
// sentence that `describe()` makes.
template <class Describe>
void require_equal(const char* op, const Dim& a, const Dim& b, const Describe& describe)
{
    if (a != b) settle(op, a, b, describe());
}

// The same for a >= b, as the guard min(a, b) = b.
template <class Describe>
void require_at_least(const char* op, const Dim& a, const Dim& b, const Describe& describe)
{
    require_equal(op, min(a, b), b, describe);
}

} // namespace reprise::shape
