#include "world.hpp"

#ifdef REPRISE_SAMPLE_HAS_MPI
#include <reprise/distributed/mpi.hpp>
reprise::distributed::World launched_world() { return reprise::distributed::mpi_world(); }
#else
reprise::distributed::World launched_world() { return {}; }
#endif
