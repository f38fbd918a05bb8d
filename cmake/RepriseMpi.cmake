# reprise::mpi: worlds of processes that MPI starts.  It is built if CMake finds MPI (scripts/setup mpi installs Open MPI).

# reprise_mpi() adds reprise::mpi, or says why not.
function(reprise_mpi)
    set(MPI_CXX_SKIP_MPICXX ON) # the C interface
    find_package(MPI QUIET COMPONENTS CXX)
    if(NOT TARGET MPI::MPI_CXX)
        message(STATUS "Reprise: MPI was not found (scripts/setup mpi installs it), so there will be no reprise::mpi")
        return()
    endif()
    reprise_sources(sources src/mpi)
    add_library(reprise_mpi STATIC ${sources})
    add_library(reprise::mpi ALIAS reprise_mpi)
    set_target_properties(reprise_mpi PROPERTIES EXPORT_NAME mpi POSITION_INDEPENDENT_CODE ON)
    target_include_directories(reprise_mpi PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(reprise_mpi PUBLIC reprise::reprise PRIVATE $<BUILD_INTERFACE:reprise_compiler> MPI::MPI_CXX)
endfunction()
