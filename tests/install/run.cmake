# Builds the consumers of this folder.  MODE=package links them with an install tree: a ctest entry per driver runs one,
# and another entry checks the size of the other.  MODE=subdirectory builds only what differs, as the library would be
# that of the build tree: it configures the project inside another one, and compiles a file that includes its headers.
#   cmake -D MODE=package|subdirectory -D BUILD=<build tree of Reprise> -D SCRATCH=<folder>
#         -D CXX= -D TYPE= [-D WERROR= -D NVCC= -D HAS_CUDA=] -P run.cmake
function(run)
    execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(REMOVE_RECURSE ${SCRATCH})
if(MODE STREQUAL "package")
    # The tree is moved after the installation, as no file may contain its path.
    run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${SCRATCH}/before)
    file(RENAME ${SCRATCH}/before ${SCRATCH}/prefix)
    set(targets consumer four_lines)
    set(where -D CMAKE_PREFIX_PATH=${SCRATCH}/prefix -D WITHOUT_CUDA_KERNELS=${HAS_CUDA})
else()
    cmake_path(SET source NORMALIZE ${CMAKE_CURRENT_LIST_DIR}/../..)
    set(targets consumer_objects)
    set(where -D REPRISE_SOURCE=${source} -D REPRISE_WERROR=${WERROR} -D REPRISE_SPIRV=${BUILD}/shaders
        -D REPRISE_NVCC=${NVCC} -D REPRISE_CUDA_IMAGES=${BUILD}/cuda)
endif()
run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR} -B ${SCRATCH}/consumer -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=${TYPE} -D CMAKE_CXX_COMPILER=${CXX} ${where})
run(${CMAKE_COMMAND} --build ${SCRATCH}/consumer --target ${targets} --parallel)
