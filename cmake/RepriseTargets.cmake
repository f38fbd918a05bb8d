# Targets of the library and its programs: one object library per room (folder of src/), and a static library of all.

# reprise_sources(<variable> <folder> [ONLY <regex>] [EXCEPT <regex>]) lists the C++ sources of a folder, and checks the
# list at each build.  The regular expressions match the start of a path in the folder.
function(reprise_sources variable folder)
    cmake_parse_arguments(arg "" "ONLY;EXCEPT" "" ${ARGN})
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/${folder}
        ${PROJECT_SOURCE_DIR}/${folder}/*.cpp)
    if(arg_ONLY)
        list(FILTER sources INCLUDE REGEX "^${arg_ONLY}")
    endif()
    if(arg_EXCEPT)
        list(FILTER sources EXCLUDE REGEX "^${arg_EXCEPT}")
    endif()
    list(TRANSFORM sources PREPEND ${PROJECT_SOURCE_DIR}/${folder}/)
    set(${variable} ${sources} PARENT_SCOPE)
endfunction()

# reprise_room(<room> [WHOLE] [ONCE] [EXCEPT <regex>] [LINK <target>...]) adds an object library of src/<room>.  WHOLE: programs
# link all of its files or none, so these are compiled several at a time, which takes half of the time.  ONCE: its code, mostly
# tables, runs once, and is optimised less.
function(reprise_room room)
    cmake_parse_arguments(arg "WHOLE;ONCE" "EXCEPT" "LINK" ${ARGN})
    reprise_sources(sources src/${room} EXCEPT "${arg_EXCEPT}")
    if(NOT sources)
        return() # headers only
    endif()
    string(REPLACE "/" "_" target reprise_${room})
    add_library(${target} OBJECT ${sources})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include
        ${REPRISE_GENERATED} ${REPRISE_GENERATED}/include)
    target_link_libraries(${target} PRIVATE reprise_compiler Threads::Threads ${arg_LINK})
    set_property(GLOBAL APPEND PROPERTY REPRISE_ROOMS ${target})
    if(arg_ONCE AND NOT MSVC)
        target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
    endif()
    # Precompiled headers, shared by all rooms of the same options, save a quarter of the library's build time.
    get_property(first GLOBAL PROPERTY REPRISE_PRECOMPILED_ROOM)
    if(first AND NOT arg_ONCE)
        target_precompile_headers(${target} REUSE_FROM ${first})
    else()
        target_precompile_headers(${target} PRIVATE <algorithm> <cmath> <functional> <map> <memory> <mutex>
            <optional> <set> <span> <sstream> <string> <unordered_map> <unordered_set> <vector>
            <reprise/tensor.hpp> ${PROJECT_SOURCE_DIR}/src/graph/node.hpp)
        if(NOT arg_ONCE)
            set_property(GLOBAL PROPERTY REPRISE_PRECOMPILED_ROOM ${target})
        endif()
    endif()
    # In some rooms each file has helpers of the same names, such as lower() of an op: these are compiled file by file.
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    if(arg_WHOLE OR (REPRISE_UNITY AND NOT room MATCHES "^(checkpointing|dynamic|kernels|ops|optim|shape|train)$"))
        set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
        target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>) # of included files
    endif()
endfunction()

# reprise_shaders() embeds shaders/ as SPIR-V.  Applications that compile their own kernels use the variable
# reprise_SHADER_DIR, which the installed package also sets: glslc -I${reprise_SHADER_DIR}, #include "common/abi.glsl".
function(reprise_shaders)
    set(reprise_SHADER_DIR ${PROJECT_SOURCE_DIR}/shaders CACHE INTERNAL "Where common/abi.glsl is, for users' kernels")
    add_library(reprise_shaders OBJECT)
    set_target_properties(reprise_shaders PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX)
    target_link_libraries(reprise_shaders PRIVATE reprise_compiler)
    reprise_add_shaders(reprise_shaders)
    set_property(GLOBAL APPEND PROPERTY REPRISE_ROOMS reprise_shaders)
endfunction()

# reprise_cuda() embeds the kernels of the CUDA device.
function(reprise_cuda)
    target_include_directories(reprise_device_cuda SYSTEM PRIVATE ${REPRISE_CUDA_INCLUDE} ${REPRISE_CUBLAS_INCLUDE})
    target_compile_definitions(reprise_device_cuda PRIVATE $<$<BOOL:${REPRISE_CUBLASLT_STATIC}>:REPRISE_CUBLASLT_STATIC>)
    add_library(reprise_cuda_kernels OBJECT)
    set_target_properties(reprise_cuda_kernels PROPERTIES POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE CXX)
    target_link_libraries(reprise_cuda_kernels PRIVATE reprise_compiler)
    target_include_directories(reprise_cuda_kernels PRIVATE ${PROJECT_SOURCE_DIR}/src)
    reprise_add_cuda_kernels(reprise_cuda_kernels)
    set_property(GLOBAL APPEND PROPERTY REPRISE_ROOMS reprise_cuda_kernels)
endfunction()

# reprise_library(<target>) adds the static library of all rooms, with the public headers.
function(reprise_library target)
    get_property(rooms GLOBAL PROPERTY REPRISE_ROOMS)
    list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
    file(GLOB_RECURSE headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/reprise/*.hpp)
    file(GLOB tables CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/include/reprise/*.def
        ${PROJECT_SOURCE_DIR}/include/reprise/*.inc) # included by headers
    set(generated ${REPRISE_GENERATED}/include/reprise) # by cmake/RepriseTensorMethods.cmake
    set(folders BASE_DIRS ${PROJECT_SOURCE_DIR}/include ${REPRISE_GENERATED}/include)
    add_library(${target} STATIC ${rooms})
    add_library(${target}::${target} ALIAS ${target})
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
    target_sources(${target} PUBLIC
        FILE_SET HEADERS ${folders} FILES ${headers} ${generated}/ops/in_place.hpp
        FILE_SET tables TYPE HEADERS ${folders} FILES ${tables} ${generated}/tensor_methods.inc)
    set_target_properties(${target} PROPERTIES INTERFACE_HEADER_SETS_TO_VERIFY HEADERS)
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_link_libraries(${target} PRIVATE ${REPRISE_CUBLASLT_LIBRARIES} Threads::Threads ZLIB::ZLIB ${CMAKE_DL_LIBS})
endfunction()

# reprise_fuser() adds reprise::fuser, which programs link to generate kernels at run time, and reprise_programs, which
# the project's own programs link: the library, with the fuser if shaderc is found.
function(reprise_fuser)
    add_library(reprise_programs INTERFACE)
    target_link_libraries(reprise_programs INTERFACE reprise::reprise)
    reprise_find_shaderc(found)
    if(NOT found)
        return()
    endif()
    reprise_sources(sources src/kernels/shaderc)
    add_library(reprise_fuser STATIC ${sources})
    add_library(reprise::fuser ALIAS reprise_fuser)
    set_target_properties(reprise_fuser PROPERTIES EXPORT_NAME fuser POSITION_INDEPENDENT_CODE ON)
    target_include_directories(reprise_fuser PRIVATE ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(reprise_fuser PUBLIC reprise::reprise PRIVATE $<BUILD_INTERFACE:reprise_compiler> Shaderc::shaderc)
    if(MSVC)
        target_link_options(reprise_fuser INTERFACE LINKER:/INCLUDE:reprise_link_fuser)
    else()
        target_link_options(reprise_fuser INTERFACE LINKER:-u,$<$<PLATFORM_ID:Darwin>:_>reprise_link_fuser)
    endif()
    target_link_libraries(reprise_programs INTERFACE reprise::fuser)
endfunction()

# reprise_as_program(<target>): compiles a part of the samples and tools with precompiled headers, and with -O1, which takes two
# thirds of the time of -O2: what takes time when they run is in the library.
function(reprise_as_program target)
    reprise_program_headers()
    target_precompile_headers(${target} REUSE_FROM reprise_program_headers)
    target_compile_options(${target} PRIVATE ${REPRISE_PROGRAM_OPTIONS})
endfunction()

# reprise_program_headers() adds the precompiled headers of programs, once.
function(reprise_program_headers)
    if(TARGET reprise_program_headers)
        return()
    endif()
    set(options "")
    if(NOT MSVC)
        set(options $<$<CONFIG:Release>:-O1>)
    endif()
    set(REPRISE_PROGRAM_OPTIONS "${options}" CACHE INTERNAL "Options of the compiler for samples and tools")
    set(source ${PROJECT_BINARY_DIR}/reprise_program_headers.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// has only precompiled headers\n")
    add_library(reprise_program_headers OBJECT ${source})
    target_link_libraries(reprise_program_headers PRIVATE reprise_programs reprise_compiler)
    # CLI11 is not among them: its constants cost each file of programs, used or not, 2 to 3 seconds.
    target_precompile_headers(reprise_program_headers PRIVATE <reprise/reprise.hpp>)
    target_compile_options(reprise_program_headers PRIVATE ${options})
endfunction()

# reprise_executable(<target> <source or folder> [NAME <file name>]) adds a program that uses only public headers.
function(reprise_executable target from)
    cmake_parse_arguments(arg "" "NAME" "" ${ARGN})
    if(from MATCHES "\\.cpp$")
        set(sources ${PROJECT_SOURCE_DIR}/${from})
    else()
        reprise_sources(sources ${from})
    endif()
    if(NOT sources)
        return()
    endif()
    find_package(CLI11 REQUIRED)
    add_executable(${target} ${sources})
    if(NOT from MATCHES "^bench/") # benchmarks are optimised as the library
        reprise_as_program(${target})
    endif()
    reprise_utf8(${target})
    target_compile_definitions(${target} PRIVATE REPRISE_VERSION="${PROJECT_VERSION}")
    target_link_libraries(${target} PRIVATE reprise_programs reprise_compiler CLI11::CLI11 nlohmann_json::nlohmann_json)
    if(arg_NAME)
        set_target_properties(${target} PROPERTIES OUTPUT_NAME ${arg_NAME})
    endif()
endfunction()

# reprise_benches() adds reprise_bench; reprise_bench_mpi, where MPI is found, for mpirun: the other one also runs where no
# MPI is installed; and simulate_accesses, which runs the workloads on the simulated GPU.
function(reprise_benches)
    reprise_sources(workloads bench EXCEPT "main")
    add_library(reprise_workloads OBJECT ${workloads})
    target_link_libraries(reprise_workloads PRIVATE reprise_programs reprise_compiler)
    reprise_executable(reprise_bench bench/main.cpp)
    reprise_executable(simulate_accesses tools/accesses)
    set(targets reprise_bench simulate_accesses)
    if(TARGET reprise_mpi)
        reprise_executable(reprise_bench_mpi bench/main.cpp)
        target_link_libraries(reprise_bench_mpi PRIVATE reprise_mpi)
        target_compile_definitions(reprise_bench_mpi PRIVATE REPRISE_BENCH_HAS_MPI)
        list(APPEND targets reprise_bench_mpi)
    endif()
    foreach(target IN LISTS targets)
        target_link_libraries(${target} PRIVATE reprise_workloads)
    endforeach()
    target_include_directories(simulate_accesses PRIVATE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(simulate_accesses PRIVATE reprise_simulator)
endfunction()

# reprise_samples() adds the programs samples/<name>.cpp, samples/small/<name>.cpp and samples/<name>/*.cpp, all <name>.
# The large samples share samples/common.  The target reprise_samples builds all of them.  `desktop` is left out where
# GLFW or Dear ImGui is missing.
function(reprise_samples)
    find_package(CLI11 REQUIRED)
    reprise_sources(common samples/common)
    add_library(reprise_samples_common STATIC ${common})
    reprise_as_program(reprise_samples_common)
    target_link_libraries(reprise_samples_common PUBLIC reprise_programs reprise_compiler CLI11::CLI11)
    file(GLOB files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/samples ${PROJECT_SOURCE_DIR}/samples/*.cpp
        ${PROJECT_SOURCE_DIR}/samples/*/*.cpp)
    set(single "")
    set(folders "")
    foreach(file IN LISTS files)
        if(file MATCHES "^(small/)?[^/]+$")
            cmake_path(GET file STEM name)
            reprise_executable(${name} samples/${file})
            list(APPEND single ${name})
        elseif(file MATCHES "^([^/]+)/")
            list(APPEND folders ${CMAKE_MATCH_1})
        endif()
    endforeach()
    list(REMOVE_DUPLICATES folders)
    list(REMOVE_ITEM folders common)
    reprise_find_desktop(found)
    if(found)
        set(libraries_of_desktop glfw ImGui::ImGui Vulkan::Vulkan Stb::headers)
    else()
        list(REMOVE_ITEM folders desktop)
    endif()
    foreach(name IN LISTS folders)
        reprise_executable(${name} samples/${name})
        target_compile_definitions(${name} PRIVATE REPRISE_SAMPLE_DATA="${PROJECT_SOURCE_DIR}/samples/${name}")
        target_link_libraries(${name} PRIVATE reprise_samples_common ${libraries_of_${name}})
    endforeach()
    if(TARGET reprise_mpi)
        target_link_libraries(char_gpt PRIVATE reprise_mpi)
        target_compile_definitions(char_gpt PRIVATE REPRISE_SAMPLE_HAS_MPI)
    endif()
    add_custom_target(reprise_samples DEPENDS ${single} ${folders})
endfunction()
