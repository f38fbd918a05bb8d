// All ranks run the same tests; rank 0 writes the results.
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include <mpi.h>

#include <reprise/distributed/mpi.hpp>

int main(int argc, char** argv)
{
    std::vector<char*> arguments(argv, argv + argc);
    if (reprise::distributed::mpi_world().rank() != 0)
        std::erase_if(arguments,
                      [](const char* a) { return std::string_view(a).starts_with("--gtest_output"); });
    int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    testing::InitGoogleTest(&count, arguments.data());
    const int result = RUN_ALL_TESTS();
    MPI_Finalize(); // the library does not after a failed exchange
    return result;
}
