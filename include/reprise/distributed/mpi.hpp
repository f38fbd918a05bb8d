// Worlds of processes that MPI starts: `mpirun -n 4 program`.  Programs link reprise::mpi, which is built where
// CMake finds MPI.
#pragma once
#include <reprise/distributed/world.hpp>

namespace reprise::distributed {

// Returns the world of all processes of this launch, or a world of one where no launcher (mpirun, srun) has started the
// process.  Every call returns the same world.  Initialises MPI unless the program has, with MPI_THREAD_MULTIPLE, and
// then finalises it at exit, unless an exchange has failed.  Exchanges use a communicator of their own, so that the
// program may use MPI, too.  Error(distributed) if MPI can't be initialised, or was without MPI_THREAD_MULTIPLE.
World mpi_world();

} // namespace reprise::distributed
