# Older compilers fail with hundreds of messages.  The versions of GCC and Clang are those of the tests; those of
# AppleClang (Xcode 16) and MSVC are the first with the parts of C++20 that are used here, and were never run.
foreach(least IN ITEMS GNU-12 Clang-16 AppleClang-16 MSVC-19.36)
    string(REPLACE "-" ";" least "${least}")
    list(GET least 0 compiler)
    list(GET least 1 version)
    if(CMAKE_CXX_COMPILER_ID STREQUAL compiler AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS version)
        message(FATAL_ERROR "Reprise is C++20 and needs GCC 12, Clang 16, Xcode 16 or Visual Studio 2022 17.6, or newer; "
            "${CMAKE_CXX_COMPILER} is ${compiler} ${CMAKE_CXX_COMPILER_VERSION}. Choose another by CXX=g++-12 or "
            "-D CMAKE_CXX_COMPILER=.")
    endif()
endforeach()

# reprise_compiler: the options of every translation unit of this project.  They don't apply to users' code.
add_library(reprise_compiler INTERFACE)
target_compile_features(reprise_compiler INTERFACE cxx_std_20)
target_compile_definitions(reprise_compiler INTERFACE $<$<PLATFORM_ID:Windows>:NOMINMAX;WIN32_LEAN_AND_MEAN>)

# Contraction must be off to get the same bits: fused multiply-adds round once, and the kernels round twice.
if(MSVC)
    target_compile_options(reprise_compiler INTERFACE /W4 /permissive- /Zc:preprocessor /utf-8 /fp:precise /bigobj
        "$<$<CXX_COMPILER_ID:Clang>:-Wno-missing-field-initializers>" # as below; scripts/check_msvc has these options, too
        $<$<BOOL:${REPRISE_WERROR}>:/WX>)
    target_compile_definitions(reprise_compiler INTERFACE _CRT_SECURE_NO_WARNINGS)
else()
    target_compile_options(reprise_compiler INTERFACE -Wall -Wextra
        # not for files that are compiled together, whose names may shadow each other's
        "$<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>" -Wpedantic -ffp-contract=off
        -Wno-missing-field-initializers # members omitted from a designated initialiser have their defaults
        # {2, 2} may be an array in an options struct, and LayerNorm({6}) has one size.
        "$<$<CXX_COMPILER_ID:Clang,AppleClang>:-Wno-missing-braces;-Wno-braced-scalar-init>"
        $<$<BOOL:${REPRISE_WERROR}>:-Werror>)
    # Files of several tests have more sections than COFF's plain format.
    target_compile_options(reprise_compiler INTERFACE $<$<PLATFORM_ID:Windows>:-Wa,-mbig-obj>)
    # With precompiled headers GCC's heap starts above the 128 MB at which it collects garbage.  A higher limit saves a
    # sixth of the time to compile a test, for 65 MB more memory.
    target_compile_options(reprise_compiler INTERFACE
        "$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=524288>")
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # False alarms in std::string, std::vector and std::optional (GCC bugs 105651, 105329 and 105562), in GCC 12 to 16.
        target_compile_options(reprise_compiler INTERFACE -Wno-alloc-size-larger-than -Wno-array-bounds -Wno-restrict
            -Wno-stringop-overflow -Wno-stringop-overread -Wno-maybe-uninitialized)
    endif()
endif()

if(REPRISE_SANITIZE)
    # Checking each pointer for undefined behaviour would take 40 % of a build's time, so alignment, wrong downcasts and
    # null arguments are not checked.  Arithmetic, shifts, bounds, conversions and enumerations are.
    add_compile_options(-fsanitize=${REPRISE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all
        -fno-sanitize=null,object-size,alignment,vptr,pointer-overflow,nonnull-attribute,returns-nonnull-attribute)
    add_link_options(-fsanitize=${REPRISE_SANITIZE})
endif()

# The rest applies to the whole build tree, so it is left to the user if this project is a subdirectory.
if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_CXX_EXTENSIONS OFF)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
    set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
    if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
        set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
    endif()
    if(NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
        reprise_find_ccache(has_ccache)
    endif()
    if(has_ccache)
        # ccache caches precompiled headers only if it may ignore __TIME__ and their defines.  CCACHE_DEPEND compares the
        # bytes of all headers.  Without it ccache also compares preprocessed text, and returns a precompiled header that
        # was made before a comment changed; GCC then does not recognise the changed header, whose #pragma once fails.
        set(launcher ${CMAKE_COMMAND} -E env CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros
                     ${REPRISE_CCACHE})
        set(CMAKE_C_COMPILER_LAUNCHER ${launcher})
        set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
    endif()
endif()
