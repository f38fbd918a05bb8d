# reprise::mpi: worlds of processes that MPI starts.  It is built if CMake finds MPI (scripts/setup mpi installs Open MPI).

# reprise_mpi() adds reprise::mpi, if MPI is found.
function(reprise_mpi)
    reprise_find_mpi(found)
    if(NOT found)
        return()
    endif()
    reprise_sources(sources src/mpi)
    add_library(reprise_mpi STATIC ${sources})
    add_library(reprise::mpi ALIAS reprise_mpi)
    set_target_properties(reprise_mpi PROPERTIES EXPORT_NAME mpi POSITION_INDEPENDENT_CODE ON)
    target_include_directories(reprise_mpi PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(reprise_mpi PUBLIC reprise::reprise PRIVATE $<BUILD_INTERFACE:reprise_compiler> MPI::MPI_CXX)
endfunction()
