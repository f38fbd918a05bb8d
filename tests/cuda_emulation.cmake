# Builds a libcuda.so.1 that runs the CUDA kernels on the host (cuda_emulation/), and a folder that records launches.
set(REPRISE_CUDA_EMULATION "" CACHE PATH
    "Folder of the emulated libraries that another build tree of these sources has compiled: <it>/cuda_emulation")
set(REPRISE_EMULATION_DIR "${PROJECT_BINARY_DIR}/cuda_emulation")
if(REPRISE_CUDA_EMULATION)
    set(REPRISE_EMULATION_DIR "${REPRISE_CUDA_EMULATION}")
    if(NOT EXISTS "${REPRISE_EMULATION_DIR}/libcuda.so.1")
        message(FATAL_ERROR "REPRISE_CUDA_EMULATION: there is no ${REPRISE_EMULATION_DIR}/libcuda.so.1")
    endif()
endif()

function(reprise_emulated_blas target)
    get_property(generated GLOBAL PROPERTY REPRISE_CUDA_HEADERS)
    target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR}/cuda_emulation)
    target_include_directories(${target} SYSTEM PRIVATE ${REPRISE_CUDA_INCLUDE} ${REPRISE_CUBLAS_INCLUDE}
        ${PROJECT_SOURCE_DIR}/cuda ${generated})
    target_link_libraries(${target} PRIVATE reprise_compiler cuda_emulation)
    add_dependencies(${target} reprise_cuda_kernels) # for their generated headers
endfunction()

if(REPRISE_CUDA_EMULATION)
    add_library(cuda_emulation SHARED IMPORTED)
    set_target_properties(cuda_emulation PROPERTIES IMPORTED_LOCATION "${REPRISE_EMULATION_DIR}/libcuda.so.1")
    foreach(library IN ITEMS cuda_emulated_blas cuda_emulated_nccl cuda_emulated_nvrtc cuda_incomplete)
        add_custom_target(${library})
    endforeach()
else()
    get_property(kernels GLOBAL PROPERTY REPRISE_CUDA_SOURCES)
    get_property(headers GLOBAL PROPERTY REPRISE_CUDA_HEADERS)
    set_source_files_properties(${kernels} PROPERTIES LANGUAGE CXX
        COMPILE_OPTIONS "-x;c++;-fwrapv;-fno-strict-aliasing;-O2;-w")
    foreach(kernel IN LISTS kernels)
        cmake_path(IS_PREFIX PROJECT_BINARY_DIR "${kernel}" written_by_the_build)
        if(written_by_the_build)
            set_source_files_properties(${kernel} PROPERTIES GENERATED ON)
        endif()
    endforeach()
    add_library(cuda_emulation SHARED cuda_emulation/driver.cpp cuda_emulation/fibers.cpp cuda_emulation/graphs.cpp
        cuda_emulation/kernels.cpp cuda_emulation/work.cpp ${kernels})
    target_include_directories(cuda_emulation PRIVATE cuda_emulation ${PROJECT_SOURCE_DIR}/cuda ${headers})
    target_include_directories(cuda_emulation SYSTEM PRIVATE ${REPRISE_CUDA_INCLUDE})
    target_link_libraries(cuda_emulation PRIVATE reprise_compiler)
    set_target_properties(cuda_emulation PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1
        LIBRARY_OUTPUT_DIRECTORY ${REPRISE_EMULATION_DIR} CXX_VISIBILITY_PRESET hidden)
    add_dependencies(cuda_emulation reprise_cuda_kernels)

    # Builds a libcublasLt in a separate folder: without that folder, kernels compute products.
    add_library(cuda_emulated_blas SHARED cuda_emulation/cublaslt.cpp)
    reprise_emulated_blas(cuda_emulated_blas)
    file(STRINGS "${REPRISE_CUBLAS_INCLUDE}/cublas_api.h" cublas_api REGEX "CUBLAS_VER_MAJOR")
    string(REGEX MATCH "CUBLAS_VER_MAJOR ([0-9]+)" _ "${cublas_api}")
    set_target_properties(cuda_emulated_blas PROPERTIES PREFIX "" OUTPUT_NAME libcublasLt SUFFIX .so.${CMAKE_MATCH_1}
        LIBRARY_OUTPUT_DIRECTORY ${REPRISE_EMULATION_DIR}/blas CXX_VISIBILITY_PRESET hidden)

    # Builds a libnccl in a separate folder.
    add_library(cuda_emulated_nccl SHARED cuda_emulation/nccl.cpp)
    target_link_libraries(cuda_emulated_nccl PRIVATE reprise_compiler cuda_emulation)
    set_target_properties(cuda_emulated_nccl PROPERTIES PREFIX "" OUTPUT_NAME libnccl SUFFIX .so.2
        LIBRARY_OUTPUT_DIRECTORY ${REPRISE_EMULATION_DIR}/nccl CXX_VISIBILITY_PRESET hidden)

    # Builds a libnvrtc in a separate folder, as it takes a third of a second per kernel.
    add_library(cuda_emulated_nvrtc SHARED cuda_emulation/nvrtc.cpp)
    target_include_directories(cuda_emulated_nvrtc SYSTEM PRIVATE ${REPRISE_CUDA_INCLUDE})
    target_link_libraries(cuda_emulated_nvrtc PRIVATE reprise_compiler)
    target_compile_definitions(cuda_emulated_nvrtc PRIVATE REPRISE_HOST_COMPILER="${CMAKE_CXX_COMPILER}"
        REPRISE_EMULATION_SOURCE="${CMAKE_CURRENT_SOURCE_DIR}/cuda_emulation"
        REPRISE_EMULATION_LIBRARY="$<TARGET_FILE:cuda_emulation>")
    file(STRINGS "${REPRISE_CUDA_INCLUDE}/cuda.h" cuda_api REGEX "define CUDA_VERSION")
    string(REGEX MATCH "CUDA_VERSION ([0-9]+)[0-9][0-9][0-9]" _ "${cuda_api}")
    set_target_properties(cuda_emulated_nvrtc PROPERTIES PREFIX "" OUTPUT_NAME libnvrtc SUFFIX .so.${CMAKE_MATCH_1}
        LIBRARY_OUTPUT_DIRECTORY ${REPRISE_EMULATION_DIR}/nvrtc CXX_VISIBILITY_PRESET hidden)
    add_dependencies(cuda_emulated_nvrtc cuda_emulation)

    add_library(cuda_incomplete SHARED cuda_emulation/incomplete.cpp)
    set_target_properties(cuda_incomplete PROPERTIES PREFIX "" OUTPUT_NAME libcuda_incomplete SUFFIX .so.1
        LIBRARY_OUTPUT_DIRECTORY ${REPRISE_EMULATION_DIR})
endif()

# Tests on the device write lists of all kernels with their numbers of launches to this folder.
set(REPRISE_CUDA_LAUNCHED ${PROJECT_BINARY_DIR}/cuda-launched)
file(MAKE_DIRECTORY ${REPRISE_CUDA_LAUNCHED})
