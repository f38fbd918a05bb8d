// What can't be decided while recording, checked at each call.
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

// Must hold at the call.  Where it does not, `reason` begins the error: a sentence that names the user's op and
// the shapes, "[add] The shapes ([batch, 3] and [seq, 3]) do not broadcast: ...".
struct Guard {
    Relation relation = Relation::equal;
    Dim a, b;
    std::string reason;

    std::string condition() const;                                 // "batch + 2 >= 3"
    std::string fault(std::int64_t a_is, std::int64_t b_is) const; // "(batch + 2) is (1), not at least (3)"
};

// Takes what shape rules can't prove.  It may throw instead.
class GuardSink {
public:
    virtual ~GuardSink() = default;
    virtual void require(const Guard&) = 0;
};

// Keeps each condition once, in the order of the requests, and none that the earlier ones imply by the bounds that
// they set to single symbols.
class GuardList : public GuardSink {
public:
    void require(const Guard&) override;
    const std::vector<Guard>& guards() const noexcept { return guards_; }

private:
    bool implied(const Guard&) const;
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

// What the ranges say of the relation.
enum class Verdict : std::uint8_t { holds, fails, open };
Verdict decide(Relation, const Dim& a, const Dim& b);
// Hands what is open to the sink.  Throws Error(shape) with the sentence where it fails, or is open and there
// is no sink.
void settle(const char* op, Verdict, Relation, const Dim& a, const Dim& b, const std::string& sentence);

// The same for a guard as it stands.
void require(const Guard&);

// Each returns where its relation holds, provably or by a guard that the sink took.  Else it throws
// Error(shape) with the sentence that `describe()` makes.
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

// Equal size by size; shapes of different rank fail.
template <class Describe>
void require_same(const char* op, const Shape& a, const Shape& b, const Describe& describe)
{
    if (a.size() != b.size()) settle(op, Verdict::fails, Relation::equal, 0, 0, describe());
    for (std::size_t i = 0; i < a.size(); ++i) require_equal(op, a[i], b[i], describe);
}

} // namespace reprise::shape
