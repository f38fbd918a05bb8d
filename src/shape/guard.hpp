// Guards: relations between sizes that can't be decided while recording and are checked at each call.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <reprise/dim.hpp>

namespace reprise::shape {

enum class Relation : std::uint8_t {
    equal,    // a == b
    at_least, // a >= b
    multiple, // a is a multiple of b, and b is not 0
};
bool holds(Relation, std::int64_t a, std::int64_t b);

// A relation that must hold at each call.  If it does not, the error begins with `reason`, a sentence that names the
// user's op and the shapes: "[add] The shapes ([batch, 3] and [seq, 3]) do not broadcast: ...".
struct Guard {
    Relation relation = Relation::equal;
    Dim a, b;
    std::string reason;

    std::string condition() const;                                 // "batch + 2 >= 3"
    std::string fault(std::int64_t a_is, std::int64_t b_is) const; // "(batch + 2) is (1), not at least (3)"
};

// Receives the guards for relations that shape rules can't prove.  It may throw instead.
class GuardSink {
public:
    virtual ~GuardSink() = default;
    virtual void require(const Guard&) = 0;
};

// Stores each guard once, in the order of the require() calls.  A guard is left out if the bounds that earlier guards
// set for single symbols imply it.
class GuardList : public GuardSink {
public:
    void require(const Guard&) override;
    const std::vector<Guard>& guards() const noexcept { return guards_; }

private:
    bool implied(const Guard&) const;
    std::vector<Guard> guards_;
};

// Sets the sink for this thread's shape rules while it exists.  Scopes nest; the innermost one is used.
class GuardScope {
public:
    explicit GuardScope(GuardSink&);
    ~GuardScope();
    GuardScope(const GuardScope&) = delete;
    GuardScope& operator=(const GuardScope&) = delete;

private:
    GuardSink* outer_;
};

// Whether a relation is proved to hold or to fail for all values of the symbols; open: neither can be proved.
enum class Verdict : std::uint8_t { holds, fails, open };
Verdict decide(Relation, const Dim& a, const Dim& b);
// Passes an open relation to the sink as a guard.  Throws Error(shape) with the sentence if the relation fails, or if
// it is open and there is no sink.
void settle(const char* op, Verdict, Relation, const Dim& a, const Dim& b, const std::string& sentence);

// Decides the guard and settles it in the same way; its reason is the sentence.
void require(const Guard&);

// Each function returns if its relation provably holds or the sink accepted a guard for it.  Otherwise it throws
// Error(shape) with the sentence that `describe()` returns.
template <class Describe>
void require(const char* op, Relation relation, const Dim& a, const Dim& b, const Describe& describe)
{
    const Verdict verdict = decide(relation, a, b);
    if (verdict != Verdict::holds) settle(op, verdict, relation, a, b, describe());
}
template <class Describe>
void require_equal(const char* op, const Dim& a, const Dim& b, const Describe& describe)
{
    if (!same(a, b)) require(op, Relation::equal, a, b, describe);
}
template <class Describe>
void require_at_least(const char* op, const Dim& a, const Dim& b, const Describe& describe)
{
    require(op, Relation::at_least, a, b, describe);
}
template <class Describe>
void require_multiple(const char* op, const Dim& a, const Dim& b, const Describe& describe)
{
    require(op, Relation::multiple, a, b, describe);
}

// Requires equal ranks, and equal sizes in each dimension.
template <class Describe>
void require_same(const char* op, const Shape& a, const Shape& b, const Describe& describe)
{
    if (a.size() != b.size()) settle(op, Verdict::fails, Relation::equal, 0, 0, describe());
    for (std::size_t i = 0; i < a.size(); ++i) require_equal(op, a[i], b[i], describe);
}

} // namespace reprise::shape
