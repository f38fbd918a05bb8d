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
if(MODE STREQUAL "package") # examples/gpu_tests, whose own tests run on each driver
    run(${CMAKE_COMMAND} -S ${CMAKE_CURRENT_LIST_DIR}/../../examples/gpu_tests -B ${SCRATCH}/gpu_tests -G ${GENERATOR}
        -D CMAKE_BUILD_TYPE=${TYPE} -D CMAKE_CXX_COMPILER=${CXX} ${where})
    run(${CMAKE_COMMAND} --build ${SCRATCH}/gpu_tests --parallel)
endif()

# Programs by pkg-config, with options that distributions and careful projects set.
find_program(PKG_CONFIG pkg-config NO_CACHE)
if(MODE STREQUAL "package" AND PKG_CONFIG)
    file(GLOB_RECURSE package ${SCRATCH}/prefix/*/reprise.pc)
    cmake_path(GET package PARENT_PATH folder)
    set(ENV{PKG_CONFIG_PATH} ${folder})
    execute_process(COMMAND ${PKG_CONFIG} --cflags --libs reprise OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY
        OUTPUT_STRIP_TRAILING_WHITESPACE)
    separate_arguments(flags UNIX_COMMAND "${flags}")
    set(program ${SCRATCH}/by_pkg_config)
    foreach(options IN ITEMS -flto=auto -fno-plt -D_GLIBCXX_ASSERTIONS -fvisibility=hidden)
        run(${CXX} -std=c++20 -O1 ${options} ${CMAKE_CURRENT_LIST_DIR}/four_lines.cpp -o ${program} ${flags})
        execute_process(COMMAND ${CMAKE_COMMAND} -E env REPRISE_DEVICE=reference VK_DRIVER_FILES=none VK_ICD_FILENAMES=none
            ${program} OUTPUT_VARIABLE printed COMMAND_ERROR_IS_FATAL ANY)
        if(NOT printed STREQUAL "12\n")
            message(FATAL_ERROR "${options}: the program printed (${printed}) and not 12")
        endif()
    endforeach()
endif()
