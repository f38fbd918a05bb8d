// Checkpoints that all ranks of a world write together.
#pragma once
#include <filesystem>
#include <vector>

#include <reprise/distributed/world.hpp>
#include <reprise/train/checkpoint.hpp>

namespace reprise::distributed {

// Saves a run as train::save_checkpoint() does, each rank to a file of its own.  Rank 0 writes all its entries, and
// other ranks those that it does not have, such as their parts of the state of a ZeroRedundancyOptimizer.  All ranks
// must call it, with the same parts and path, in a folder that all of them see.
//
// `path` is the index of these files, "run/checkpoint.json", which rank 0 writes last: until then the checkpoint of
// before stays whole, also if ranks die.  train::load_checkpoint(path, parts) loads it, in a world of any size or
// without one; it reads the entries of all ranks by way of host memory.  A rank may write for ten minutes, or for the
// world's timeout if that is longer.  Throws, on all ranks: Error(argument) as train::save_checkpoint(), for a path
// that does not end in .json, and for an entry that several ranks have but rank 0 has not; Error(file) that names the
// rank that can't write; Error(distributed).
void save_checkpoint(const std::filesystem::path& path, const std::vector<train::Part>&, const World&);

} // namespace reprise::distributed
