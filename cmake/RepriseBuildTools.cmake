# The targets of tools/build, which custom commands run.  They run on the machine that builds: in a build for another
# system they come from a build tree of their own, <build>/build-tools, which is configured without the toolchain file
# and without the environment's compilers and flags, as these are for the other system.  It needs zlib on this machine.
if(NOT CMAKE_CROSSCOMPILING)
    add_subdirectory(tools/build EXCLUDE_FROM_ALL)
    return()
endif()

include(ExternalProject)
set(folder ${PROJECT_BINARY_DIR}/build-tools)
set(tools reprise_embed_spirv reprise_cuda_of_glsl reprise_embed_cuda)
set(suffix "")
if(CMAKE_HOST_WIN32)
    set(suffix .exe)
endif()
set(programs "")
foreach(tool IN LISTS tools)
    list(APPEND programs ${folder}/${tool}${suffix})
endforeach()
ExternalProject_Add(reprise_build_tools
    SOURCE_DIR ${PROJECT_SOURCE_DIR}/tools/build
    BINARY_DIR ${folder}
    CONFIGURE_COMMAND ${CMAKE_COMMAND} -E env --unset=CC --unset=CXX --unset=CFLAGS --unset=CXXFLAGS --unset=LDFLAGS
        --unset=CMAKE_TOOLCHAIN_FILE ${CMAKE_COMMAND} -G ${CMAKE_GENERATOR} -S <SOURCE_DIR> -B <BINARY_DIR>
        -D CMAKE_BUILD_TYPE=Release -D CMAKE_RUNTIME_OUTPUT_DIRECTORY=${folder}
        -D CMAKE_RUNTIME_OUTPUT_DIRECTORY_RELEASE=${folder} # for generators of several configurations
    BUILD_COMMAND ${CMAKE_COMMAND} --build <BINARY_DIR> --config Release
    INSTALL_COMMAND ""
    BUILD_ALWAYS ON # it has its own dependencies
    BUILD_BYPRODUCTS ${programs})
foreach(tool IN LISTS tools)
    add_executable(${tool} IMPORTED GLOBAL)
    set_target_properties(${tool} PROPERTIES IMPORTED_LOCATION ${folder}/${tool}${suffix})
    add_dependencies(${tool} reprise_build_tools)
endforeach()
