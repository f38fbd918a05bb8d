// All ranks run the same tests; rank 0 writes the results.
#include <gtest/gtest.h>

#include <mpi.h>

#include <reprise/distributed/mpi.hpp>

int main(int argc, char** argv)
{
    testing::InitGoogleTest(&argc, argv);
    if (reprise::distributed::mpi_world().rank() != 0) GTEST_FLAG_SET(output, "");
    const int result = RUN_ALL_TESTS();
    MPI_Finalize(); // the library does not after a failed exchange
    return result;
}
