// The processes that train together.
#pragma once
#include <reprise/distributed/world.hpp>

// Returns those that `mpirun -n 4 program` has started, or a world of this process where the sample is built without
// MPI.
reprise::distributed::World launched_world();
