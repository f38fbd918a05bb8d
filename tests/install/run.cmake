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

# Programs by pkg-config, with options that distributions and careful projects set, and with the optional libraries.
find_program(PKG_CONFIG pkg-config NO_CACHE)
if(MODE STREQUAL "package" AND PKG_CONFIG)
    file(GLOB_RECURSE package ${SCRATCH}/prefix/*/reprise.pc)
    cmake_path(GET package PARENT_PATH folder)
    set(ENV{PKG_CONFIG_PATH} ${folder})
    # Compiles a program with the flags of a package, and runs it on the reference device.
    function(by_pkg_config package source printed)
        execute_process(COMMAND ${PKG_CONFIG} --cflags --libs ${package} OUTPUT_VARIABLE flags COMMAND_ERROR_IS_FATAL ANY
            OUTPUT_STRIP_TRAILING_WHITESPACE)
        separate_arguments(flags UNIX_COMMAND "${flags}")
        set(program ${SCRATCH}/by_pkg_config)
        run(${CXX} -std=c++20 -O1 ${ARGN} ${CMAKE_CURRENT_LIST_DIR}/${source} -o ${program} ${flags})
        execute_process(COMMAND ${CMAKE_COMMAND} -E env REPRISE_DEVICE=reference VK_DRIVER_FILES=none VK_ICD_FILENAMES=none
            ${program} OUTPUT_VARIABLE out COMMAND_ERROR_IS_FATAL ANY)
        if(NOT out MATCHES "${printed}")
            message(FATAL_ERROR "${package} ${ARGN}: the program printed (${out}) and not (${printed})")
        endif()
    endfunction()
    foreach(option IN ITEMS -flto=auto -fno-plt -D_GLIBCXX_ASSERTIONS -fvisibility=hidden)
        by_pkg_config(reprise four_lines.cpp "^12\n$" ${option})
    endforeach()
    foreach(optional IN ITEMS reprise-fuser reprise-onnx)
        if(EXISTS ${folder}/${optional}.pc)
            string(REGEX REPLACE "reprise-(.*)" "-DWITH_\\1" define ${optional})
            string(TOUPPER ${define} define)
            by_pkg_config(${optional} main.cpp "right" ${define})
        endif()
    endforeach()
endif()
