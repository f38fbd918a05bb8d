// Batches of sequences of similar length.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

// Returns the numbers of the sequences by batch: puts those of similar length (in steps of 8) into one batch, and
// shuffles the batches.  The last sequences may form a smaller batch.
std::vector<std::vector<std::size_t>> batches_by_length(const std::vector<std::size_t>& lengths,
                                                        std::int64_t batch, std::uint64_t seed);
