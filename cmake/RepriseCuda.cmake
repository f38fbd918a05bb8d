# Compiles the CUDA kernels and embeds them into the library.
#
#   reprise_find_cuda(<result>)          sets REPRISE_NVCC, REPRISE_CUDA_INCLUDE, REPRISE_CUBLAS_INCLUDE
#   reprise_add_cuda_kernels(<target>)   adds all kernels as fatbinaries, with a registry that finds them by name
#
# Kernels are generated from the shaders: tools/build/cuda_of_glsl.cpp translates each to CUDA C++, in all its variants
# that load by address.  A shader is not translated if there is a cuda/<shader>.cu, where RP_KERNEL_OF_BLOCK defines its
# kernels, nor if its first lines say so: `// devices: Vulkan` of all its kernels, `// not on CUDA: <kernel>, ...` of some.
#
# A file is compiled once to PTX, for the oldest architecture; the code for each architecture is generated from this
# PTX, and newer devices run the PTX itself.  A file with the line `// architectures: 80` has other code from compute
# capability 80 on and is compiled once more for it.
include_guard(GLOBAL)

option(REPRISE_CUDA "Build the CUDA device, where nvcc is found" ON)
option(REPRISE_CUBLASLT_STATIC "Link NVIDIA's cuBLASLt into programs, which then do not look for it at run time" OFF)
set(REPRISE_CUDA_ARCHITECTURES "75;80;90" CACHE STRING
    "Compute capabilities to compile kernels for; devices between them run the code of the one below with the same major number")
set(REPRISE_CUDA_IMAGES "" CACHE PATH "Folder of fatbinaries that another build tree of these sources has compiled: <it>/cuda")
set(REPRISE_CUDA_ROOT "${PROJECT_SOURCE_DIR}")

# reprise_find_cuda(<result>) searches the caller's settings, then the project's folder .cuda (scripts/setup cuda), then the
# system.
function(reprise_find_cuda result)
    set(part "CUDA device")
    set(${result} OFF PARENT_SCOPE)
    reprise_return_if_off(REPRISE_CUDA)
    file(GLOB own "${PROJECT_SOURCE_DIR}/.cuda/nvidia/cu*/bin")
    set(advice "scripts/setup cuda, or set CUDA_HOME")
    if(DEFINED ENV{CUDA_HOME} OR DEFINED ENV{CUDA_PATH})
        set(advice "name another toolkit by CUDA_HOME, or unset CUDA_HOME and CUDA_PATH and run scripts/setup cuda")
    endif()
    reprise_forget_missing(REPRISE_NVCC REPRISE_CUDA_INCLUDE REPRISE_CUBLAS_INCLUDE)
    find_program(REPRISE_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH ${own} PATHS /usr/local/cuda/bin PATH_SUFFIXES bin
        DOC "NVIDIA's compiler")
    if(NOT REPRISE_NVCC)
        reprise_part("${part}" NO "nvcc was not found" "${advice}")
        return()
    endif()
    cmake_path(GET REPRISE_NVCC PARENT_PATH bin)
    cmake_path(GET bin PARENT_PATH root)
    set(hints HINTS "${root}/include" "${root}/targets/x86_64-linux/include")
    find_path(REPRISE_CUDA_INCLUDE cuda.h ${hints})
    find_path(REPRISE_CUBLAS_INCLUDE cublasLt.h ${hints})
    _reprise_cuda_problem(reason)
    if(reason)
        foreach(variable IN ITEMS REPRISE_NVCC REPRISE_CUDA_INCLUDE REPRISE_CUBLAS_INCLUDE)
            unset(${variable} CACHE) # searches again at the next configuration
        endforeach()
        reprise_part("${part}" NO "${reason}" "${advice}")
        return()
    endif()
    set(libraries "")
    if(REPRISE_CUBLASLT_STATIC) # with its own dependencies; PyPI's packages don't include it
        foreach(library IN ITEMS cublasLt_static culibos cudart_static)
            find_library(REPRISE_LIB_${library} ${library} HINTS "${root}/lib64" "${root}/lib")
            if(NOT REPRISE_LIB_${library})
                message(FATAL_ERROR "REPRISE_CUBLASLT_STATIC needs ${library} of a CUDA toolkit, and ${root} lacks it: "
                    "install NVIDIA's whole toolkit, or leave the option off")
            endif()
            list(APPEND libraries "${REPRISE_LIB_${library}}")
        endforeach()
        list(APPEND libraries rt)
        reprise_works(works cublaslt LINK ${libraries} Threads::Threads ${CMAKE_DL_LIBS} SOURCE
            "extern \"C\" unsigned long cublasLtGetVersion(); int main() { return cublasLtGetVersion() == 0; }")
        if(NOT works)
            message(FATAL_ERROR "REPRISE_CUBLASLT_STATIC: a program with ${REPRISE_LIB_cublasLt_static} does not link")
        endif()
    endif()
    set(REPRISE_CUBLASLT_LIBRARIES "${libraries}" PARENT_SCOPE)
    reprise_part("${part}" YES "${REPRISE_NVCC}")
    set(${result} ON PARENT_SCOPE)
endfunction()

# Sets <result> to why the toolkit that was found can't be used, or to an empty string.
function(_reprise_cuda_problem result)
    set(${result} "" PARENT_SCOPE)
    reprise_runs(runs "${REPRISE_NVCC}" --version)
    string(REGEX MATCH "release ([0-9]+)" _ "${runs_OUTPUT}")
    if(NOT runs OR NOT CMAKE_MATCH_1)
        set(${result} "${REPRISE_NVCC} does not start" PARENT_SCOPE)
    elseif(CMAKE_MATCH_1 LESS 13)
        set(${result} "${REPRISE_NVCC} is of CUDA ${CMAKE_MATCH_1}, and 13 is needed" PARENT_SCOPE)
    elseif(NOT REPRISE_CUDA_INCLUDE OR NOT REPRISE_CUBLAS_INCLUDE)
        set(${result} "the toolkit of ${REPRISE_NVCC} has no cuda.h or no cublasLt.h" PARENT_SCOPE)
    elseif(NOT REPRISE_CUDA_IMAGES) # else the kernels are not compiled here
        set(file ${CMAKE_BINARY_DIR}/CMakeFiles/reprise_works/kernel)
        file(WRITE ${file}.cu "extern \"C\" __global__ void kernel(float* x) { x[threadIdx.x] = 1; }\n")
        list(GET REPRISE_CUDA_ARCHITECTURES 0 oldest)
        reprise_runs(compiles "${REPRISE_NVCC}" -arch=sm_${oldest} -Wno-deprecated-gpu-targets -fatbin -o ${file}.fatbin ${file}.cu)
        if(NOT compiles)
            set(${result} "${REPRISE_NVCC} does not compile a kernel" PARENT_SCOPE)
        endif()
    endif()
endfunction()

# Lists the kernels of shaders/ to translate for CUDA, grouped by generated file:
#   REPRISE_CUDA_FILES          names; "elementwise_<row>" for rows of the table
#   REPRISE_CUDA_FILE_<name>    the shader, or the row's text, then "<kernel>:<definitions>"...
function(_reprise_cuda_files)
    get_property(kernels GLOBAL PROPERTY REPRISE_KERNELS)
    set(files "")
    foreach(kernel IN LISTS kernels)
        string(REPLACE "|" ";" columns "${kernel};")
        list(GET columns 0 name)
        list(GET columns 1 shader)
        list(GET columns 2 definitions)
        cmake_path(GET shader STEM stem)
        file(STRINGS "${shader}" devices REGEX "^// devices: ")
        if(",${definitions}," MATCHES ",-D(TEXELS?|SHUFFLE|TILES),")
            continue() # they need Vulkan's texel views or subgroups, or components by swizzles
        endif()
        file(STRINGS "${shader}" absent REGEX "^// not on CUDA: ") # GPUs have others, with shared memory
        list(JOIN absent ", " absent)
        if(absent AND NOT shader IN_LIST shaders_with_absent)
            list(APPEND shaders_with_absent "${shader}")
        endif()
        if("${absent} " MATCHES "[ ,]${name}[ ,]")
            list(APPEND not_on_cuda "${name}")
            continue()
        endif()
        if(devices AND NOT devices MATCHES "^// devices: Vulkan(, CUDA in f32)?$")
            message(FATAL_ERROR "${shader}: devices are Vulkan, perhaps \"Vulkan, CUDA in f32\", not \"${devices}\"")
        endif()
        if(devices STREQUAL "// devices: Vulkan" OR
           (devices STREQUAL "// devices: Vulkan, CUDA in f32" AND ",${definitions}," MATCHES ",-DHALF,"))
            continue()
        endif()
        if(EXISTS "${REPRISE_CUDA_ROOT}/cuda/${stem}.cu")
            continue()
        endif()
        set(file "${stem}")
        if(definitions MATCHES "^-I[^,]*/rows/([a-z0-9_]+)")
            set(file "elementwise_${CMAKE_MATCH_1}")
            set(shader "${CMAKE_CURRENT_BINARY_DIR}/shaders/rows/${CMAKE_MATCH_1}/row.def")
            set(definitions "")
        endif()
        string(REPLACE "-D" "" definitions "${definitions}")
        if(NOT file IN_LIST files)
            list(APPEND files "${file}")
            set(entry_${file} "${shader}")
        endif()
        if(definitions)
            string(PREPEND definitions ":")
        endif()
        list(APPEND entry_${file} "${name}${definitions}")
    endforeach()
    foreach(shader IN LISTS shaders_with_absent)
        file(STRINGS "${shader}" absent REGEX "^// not on CUDA: ")
        string(REPLACE "// not on CUDA: " "" absent "${absent}")
        string(REGEX MATCHALL "[a-z0-9_]+" absent "${absent}")
        foreach(name IN LISTS absent)
            if(NOT name IN_LIST not_on_cuda)
                message(FATAL_ERROR "${shader}: there is no kernel ${name}, which it says is not on CUDA")
            endif()
        endforeach()
    endforeach()
    foreach(file IN LISTS files)
        set(REPRISE_CUDA_FILE_${file} "${entry_${file}}" PARENT_SCOPE)
    endforeach()
    set(REPRISE_CUDA_FILES "${files}" PARENT_SCOPE)
endfunction()

# Sets <out> to nvcc's options for the architectures of a file.
function(_reprise_cuda_code source out)
    list(GET REPRISE_CUDA_ARCHITECTURES 0 oldest)
    set(texts ${oldest})
    cmake_path(IS_PREFIX REPRISE_CUDA_ROOT "${source}" own)
    cmake_path(IS_PREFIX CMAKE_CURRENT_BINARY_DIR "${source}" written)
    if(own AND NOT written) # generated files are the same for all architectures
        file(STRINGS "${source}" line REGEX "^// architectures: ")
        string(REGEX MATCHALL "[0-9]+" newer "${line}")
        list(APPEND texts ${newer})
        list(REMOVE_DUPLICATES texts)
    endif()
    set(options "")
    foreach(architecture IN LISTS REPRISE_CUDA_ARCHITECTURES)
        set(text ${oldest})
        foreach(t IN LISTS texts)
            if(t GREATER text AND t LESS_EQUAL architecture)
                set(text ${t})
            endif()
        endforeach()
        list(APPEND codes_${text} sm_${architecture})
    endforeach()
    foreach(text IN LISTS texts)
        if(codes_${text})
            list(JOIN codes_${text} "," codes)
            list(APPEND options "-gencode=arch=compute_${text},code=[${codes},compute_${text}]")
        endif()
    endforeach()
    set(${out} "${options}" PARENT_SCOPE)
endfunction()

function(reprise_add_cuda_kernels target)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/cuda")
    file(MAKE_DIRECTORY "${folder}")
    file(GLOB common CONFIGURE_DEPENDS "${REPRISE_CUDA_ROOT}/cuda/common/*.cuh")
    file(GLOB texts CONFIGURE_DEPENDS "${REPRISE_CUDA_ROOT}/shaders/common/*.glsl" "${REPRISE_CUDA_ROOT}/src/ops/*.inc")

    file(MAKE_DIRECTORY "${folder}/common")
    set(header "${folder}/common/shaders.cuh") # the parts of shaders/common/ that kernels in cuda/ use
    add_custom_command(OUTPUT "${header}"
        COMMAND reprise_cuda_of_glsl header "${REPRISE_CUDA_ROOT}" "${header}" DOUBLE
            common/vocabulary.glsl common/dtypes.glsl common/index.glsl common/philox.glsl
        DEPENDS reprise_cuda_of_glsl ${texts}
        COMMENT "CUDA text of shaders/common"
        VERBATIM)
    _reprise_cuda_files()
    set(sources "")
    foreach(file IN LISTS REPRISE_CUDA_FILES)
        list(GET REPRISE_CUDA_FILE_${file} 0 from)
        list(SUBLIST REPRISE_CUDA_FILE_${file} 1 -1 kernels)
        if(file MATCHES "^elementwise_")
            set(command row "${folder}/${file}.cu" "${from}" ${kernels})
        else()
            set(command shader "${REPRISE_CUDA_ROOT}" "${folder}/${file}.cu" "${from}" ${kernels})
        endif()
        add_custom_command(OUTPUT "${folder}/${file}.cu"
            COMMAND reprise_cuda_of_glsl ${command}
            DEPENDS reprise_cuda_of_glsl "${from}" ${texts}
            COMMENT "CUDA text ${file}"
            VERBATIM)
        list(APPEND sources "${folder}/${file}.cu")
    endforeach()
    file(GLOB own CONFIGURE_DEPENDS "${REPRISE_CUDA_ROOT}/cuda/*.cu")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${own}) # for their lines `// architectures:`
    list(APPEND sources ${own})
    list(SORT sources)

    set(images "")
    foreach(source IN LISTS sources)
        cmake_path(GET source STEM stem)
        if(REPRISE_CUDA_IMAGES)
            list(APPEND images "${source}=${REPRISE_CUDA_IMAGES}/${stem}.fatbin")
            continue()
        endif()
        # Products and convolutions must not spill registers, on any architecture.  Of the kernels with tiles in GLSL, ptxas
        # spills 12 bytes of conv_tile_y on 7.5, outside of inner loops.
        set(strict "")
        if(stem MATCHES "^(gemm|conv|im2col|col2im|pack)" AND NOT stem STREQUAL "conv_tile")
            set(strict -Xptxas --warn-on-spills)
        endif()
        _reprise_cuda_code("${source}" code)
        add_custom_command(OUTPUT "${folder}/${stem}.fatbin"
            COMMAND "${REPRISE_NVCC}" -std=c++20 -O3 -fmad=false -Xcudafe --display_error_number -Werror all-warnings
                -Wno-deprecated-gpu-targets --compress-mode=size ${strict} ${code} "-I${REPRISE_CUDA_ROOT}/cuda" "-I${folder}"
                -fatbin -o "${folder}/${stem}.fatbin" "${source}"
            DEPENDS "${source}" "${header}" ${common}
            COMMENT "CUDA ${stem}"
            VERBATIM)
        list(APPEND images "${source}=${folder}/${stem}.fatbin")
    endforeach()
    list(JOIN images "\n" lines)
    file(CONFIGURE OUTPUT "${folder}/embedded.list" CONTENT "${lines}\n" @ONLY)
    list(TRANSFORM images REPLACE "^.*=" "" OUTPUT_VARIABLE fatbins)
    add_custom_command(OUTPUT "${folder}/embedded.cpp"
        COMMAND reprise_embed_cuda "${folder}/embedded.list" "${folder}/embedded.cpp"
        DEPENDS reprise_embed_cuda "${folder}/embedded.list" ${sources} ${fatbins}
        COMMENT "Embedding CUDA kernels"
        VERBATIM)
    set_source_files_properties("${header}" PROPERTIES HEADER_FILE_ONLY ON)
    target_sources(${target} PRIVATE "${folder}/embedded.cpp" "${header}")
    set_property(GLOBAL PROPERTY REPRISE_CUDA_SOURCES "${sources}")
    set_property(GLOBAL PROPERTY REPRISE_CUDA_HEADERS "${folder}")
    list(LENGTH sources count)
    message(STATUS "Reprise: ${count} files of CUDA kernels for ${REPRISE_CUDA_ARCHITECTURES}")
endfunction()
