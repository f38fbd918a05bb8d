# A libcuda.so.1 that runs the CUDA kernels on the host (cuda_emulation/), and the list of those that no test has launched.
get_property(kernels GLOBAL PROPERTY REPRISE_CUDA_SOURCES)
get_property(headers GLOBAL PROPERTY REPRISE_CUDA_HEADERS)
set_source_files_properties(${kernels} PROPERTIES GENERATED TRUE LANGUAGE CXX
    COMPILE_OPTIONS "-x;c++;-fwrapv;-fno-strict-aliasing;-O2;-w")
add_library(cuda_emulation SHARED cuda_emulation/driver.cpp cuda_emulation/kernels.cpp ${kernels})
target_include_directories(cuda_emulation PRIVATE cuda_emulation ${PROJECT_SOURCE_DIR}/cuda ${headers})
target_include_directories(cuda_emulation SYSTEM PRIVATE ${REPRISE_CUDA_INCLUDE})
target_link_libraries(cuda_emulation PRIVATE reprise_compiler)
set_target_properties(cuda_emulation PROPERTIES PREFIX "" OUTPUT_NAME libcuda SUFFIX .so.1
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/cuda_emulation CXX_VISIBILITY_PRESET hidden)
add_dependencies(cuda_emulation reprise_cuda_kernels)
add_library(cuda_incomplete SHARED cuda_emulation/incomplete.cpp)
set_target_properties(cuda_incomplete PROPERTIES PREFIX "" OUTPUT_NAME libcuda_incomplete SUFFIX .so.1
    LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/cuda_emulation)

# Tests that use the device add to a folder which kernels there are and which they have launched.
set(REPRISE_CUDA_LAUNCHED ${PROJECT_BINARY_DIR}/cuda-launched)
file(MAKE_DIRECTORY ${REPRISE_CUDA_LAUNCHED})
