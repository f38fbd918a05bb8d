# The targets of tools/build, which custom commands run.  They run on the machine that builds: in a build for another
# system they come from a build tree of their own, <build>/build-tools, which is configured without the toolchain file.
if(NOT CMAKE_CROSSCOMPILING)
    add_subdirectory(tools/build EXCLUDE_FROM_ALL)
    return()
endif()

include(ExternalProject)
set(tools reprise_embed_spirv reprise_cuda_of_glsl reprise_embed_cuda)
set(folder ${PROJECT_BINARY_DIR}/build-tools)
list(TRANSFORM tools PREPEND ${folder}/ OUTPUT_VARIABLE programs)
ExternalProject_Add(reprise_build_tools
    SOURCE_DIR ${PROJECT_SOURCE_DIR}/tools/build
    BINARY_DIR ${folder}
    CMAKE_ARGS -D CMAKE_BUILD_TYPE=Release -D CMAKE_TOOLCHAIN_FILE= -D CMAKE_RUNTIME_OUTPUT_DIRECTORY=${folder}
    INSTALL_COMMAND ""
    BUILD_ALWAYS ON # it has its own dependencies
    BUILD_BYPRODUCTS ${programs})
foreach(tool IN LISTS tools)
    add_executable(${tool} IMPORTED GLOBAL)
    set_target_properties(${tool} PROPERTIES IMPORTED_LOCATION ${folder}/${tool})
    add_dependencies(${tool} reprise_build_tools)
endforeach()
