#include "distributed/labels.hpp"

#include <cstring>

#include <reprise/error.hpp>

namespace reprise::distributed {

namespace {

std::string of(const Transport::Label& label)
{
    return std::string(label.text) + ", number " + std::to_string(label.number);
}

} // namespace

void require_same(const Transport::Label& ours, const Transport::Label& theirs, int rank)
{
    if (ours.number == theirs.number && std::strncmp(ours.text, theirs.text, sizeof ours.text) == 0) return;
    detail::fail(ErrorKind::distributed, "exchange", "Rank (", rank, ") has begun the exchange (", of(theirs),
                 "), and this rank (", of(ours),
                 "): let all ranks compute the same, with the same dtypes and sizes.");
}

void fail_sizes(const Transport::Label& label, int rank, std::size_t sent, std::size_t expected)
{
    detail::fail(ErrorKind::distributed, "exchange", "Rank (", rank, ") has sent (", sent,
                 ") bytes and not (", expected, ") in the exchange (", of(label),
                 "): let all ranks compute the same, with the same dtypes and sizes.");
}

void fail_gone(const Transport::Label& label, int rank)
{
    detail::fail(ErrorKind::distributed, "exchange", "Rank (", rank, ") is gone, and the exchange (",
                 of(label), ") can't end: start all ranks again from the last save.");
}

void fail_late(const Transport::Label& label, const std::vector<int>& ranks, std::chrono::milliseconds limit)
{
    std::string list;
    for (const int rank : ranks) list += (list.empty() ? "" : ", ") + std::to_string(rank);
    detail::fail(ErrorKind::distributed, "exchange", ranks.size() == 1 ? "Rank (" : "Ranks (", list,
                 ranks.size() == 1 ? ") has" : ") have", " not taken part in the exchange (", of(label),
                 ") for (", static_cast<double>(limit.count()) / 1000,
                 ") s: start all ranks again from the last save, or allow more time by set_timeout().");
}

void fail_again()
{
    detail::fail(ErrorKind::distributed, "exchange",
                 "An earlier exchange of this world has failed: start all ranks again from the last save.");
}

} // namespace reprise::distributed
