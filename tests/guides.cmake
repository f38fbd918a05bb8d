# Compiles the code in the guides (docs/*.md) and runs it on each driver, so that the guides stay up to date.
#
#   reprise_guide(<name> [DRIVERS <driver>...] [COMPILES_KERNELS] [LINK <target>...])
#
# generates test_guide_<name> from docs/<name>.md and an entry <driver>.guide_<name> for each driver (default: all).
#   ```cpp              Becomes a separate function; its #include lines move to the top of the file.  If it defines
#                       main(), it becomes a separate program, test_guide_<name>_<number>.
#   <!-- setup          Hidden from the reader: the ```cpp block in the comment is put before the next piece, in the
#                       same function.
#   ```glsl, // X.comp  A shader, which glslc compiles to X.comp.spv in the folder above those in which the guides run.
set(guide_folder ${CMAKE_CURRENT_BINARY_DIR}/guides)
file(MAKE_DIRECTORY ${guide_folder})

# The precompiled headers of the guides' functions.  Programs with a main() of their own are compiled without these, to show
# that they include what they need.
file(CONFIGURE OUTPUT ${guide_folder}/headers.cpp CONTENT "// has only precompiled headers\n")
add_library(reprise_guide_headers OBJECT ${guide_folder}/headers.cpp)
target_link_libraries(reprise_guide_headers PRIVATE reprise_programs reprise_compiler)
target_precompile_headers(reprise_guide_headers PRIVATE <cmath> <cstdio> <cstring> <reprise/reprise.hpp>)
set(guide_options "")
if(NOT MSVC)
    set(guide_options -O0) # they run for moments
    target_compile_options(reprise_guide_headers PRIVATE ${guide_options})
endif()

# Replaces semicolons and brackets, which have a meaning in CMake lists, so that pieces of text can be list elements.
function(_reprise_escape variable text)
    string(REPLACE ";" "\\semicolon" text "${text}")
    string(REPLACE "[" "\\open" text "${text}")
    string(REPLACE "]" "\\close" text "${text}")
    set(${variable} "${text}" PARENT_SCOPE)
endfunction()
function(_reprise_unescape variable text)
    string(REPLACE "\\semicolon" ";" text "${text}")
    string(REPLACE "\\open" "[" text "${text}")
    string(REPLACE "\\close" "]" text "${text}")
    set(${variable} "${text}" PARENT_SCOPE)
endfunction()

# Adds an executable for the text, with an entry for each driver.
function(_reprise_guide_program target entry text)
    cmake_parse_arguments(arg "COMPILES_KERNELS" "" "DRIVERS;LINK;DEPENDS" ${ARGN})
    _reprise_unescape(text "${text}")
    file(GENERATE OUTPUT ${guide_folder}/${target}.cpp CONTENT "${text}")
    add_executable(${target} ${guide_folder}/${target}.cpp ${arg_DEPENDS})
    target_link_libraries(${target} PRIVATE reprise_programs reprise_compiler ${arg_LINK})
    target_compile_options(${target} PRIVATE ${guide_options})
    set_source_files_properties(${guide_folder}/${target}.cpp PROPERTIES # behind -Wall, which Clang needs
        COMPILE_OPTIONS $<$<NOT:$<CXX_COMPILER_ID:MSVC>>:-Wno-unused>)
    foreach(driver IN LISTS arg_DRIVERS)
        if(arg_COMPILES_KERNELS AND driver IN_LIST REPRISE_DRIVERS AND NOT TARGET reprise_fuser)
            continue()
        endif()
        if(driver STREQUAL "cuda-emulated" AND arg_COMPILES_KERNELS)
            set(driver cuda-emulated-nvrtc)
        endif()
        reprise_test_environment(environment ${driver})
        # each entry writes to a separate folder, as entries run in parallel
        set(scratch ${guide_folder}/${driver}.${entry})
        file(MAKE_DIRECTORY ${scratch})
        add_test(NAME ${driver}.${entry} COMMAND ${REPRISE_TEST_LAUNCHER} $<TARGET_FILE:${target}>
            WORKING_DIRECTORY ${scratch})
        set_tests_properties(${driver}.${entry} PROPERTIES ENVIRONMENT "${environment}" LABELS "${driver};docs"
            TIMEOUT ${timeout} FAIL_REGULAR_EXPRESSION "Validation Error: ")
    endforeach()
endfunction()

# Compiles the guide's shaders to SPIR-V, in the folder above those in which its programs run.
function(_reprise_guide_shaders variable text)
    string(REGEX MATCHALL "```glsl\n// [a-z_]+[.]comp\n[^`]+```" pieces "${text}")
    set(outputs "")
    foreach(piece IN LISTS pieces)
        string(REGEX MATCH "// ([a-z_]+[.]comp)" name "${piece}")
        set(name ${CMAKE_MATCH_1})
        string(REGEX REPLACE "^```glsl\n|```$" "" piece "${piece}")
        _reprise_unescape(piece "${piece}")
        file(GENERATE OUTPUT ${guide_folder}/${name} CONTENT "${piece}")
        add_custom_command(OUTPUT ${guide_folder}/${name}.spv
            COMMAND ${REPRISE_GLSLC} --target-env=vulkan1.2 -O -I${reprise_SHADER_DIR}
                    -o ${guide_folder}/${name}.spv ${guide_folder}/${name}
            DEPENDS ${guide_folder}/${name} ${reprise_SHADER_DIR}/common/abi.glsl
            COMMENT "Shader of a guide: ${name}" VERBATIM)
        list(APPEND outputs ${guide_folder}/${name}.spv)
    endforeach()
    set(${variable} ${outputs} PARENT_SCOPE)
endfunction()

function(reprise_guide name)
    cmake_parse_arguments(arg "COMPILES_KERNELS" "" "DRIVERS;LINK" ${ARGN})
    if(NOT DEFINED arg_DRIVERS)
        set(arg_DRIVERS reference ${REPRISE_DRIVERS} ${REPRISE_CUDA_DRIVERS})
    endif()
    set(options DRIVERS ${arg_DRIVERS} LINK ${arg_LINK})
    if(arg_COMPILES_KERNELS)
        list(APPEND options COMPILES_KERNELS)
    endif()
    set(page ${PROJECT_SOURCE_DIR}/docs/${name}.md)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${page})
    file(READ ${page} text)
    _reprise_escape(text "${text}")
    _reprise_guide_shaders(shaders "${text}")
    string(REPLACE "-" "_" target test_guide_${name})
    set(includes "#include <cmath>\n#include <cstdio>\n#include <cstring>\n#include <reprise/reprise.hpp>\n")
    set(functions "")
    set(setup "")
    set(programs 0)
    string(REGEX MATCHALL "(<!-- setup\n)?```cpp\n[^`]+```" pieces "${text}")
    foreach(piece IN LISTS pieces)
        string(REGEX MATCH "^<!-- setup" hidden "${piece}")
        string(REGEX REPLACE "^(<!-- setup\n)?```cpp\n|```$" "" piece "${piece}")
        if(piece MATCHES "int main\\(")
            math(EXPR programs "${programs} + 1")
            _reprise_guide_program(${target}_${programs} guide_${name}_${programs} "${piece}" ${options}
                DEPENDS ${shaders})
            continue()
        endif()
        string(REGEX MATCHALL "#include [^\n]+\n" found "${piece}")
        string(REGEX REPLACE "#include [^\n]+\n" "" piece "${piece}")
        string(APPEND includes ${found})
        if(hidden)
            string(APPEND setup "${piece}")
        else()
            string(APPEND functions "    [] {\n${setup}${piece}    }();\n")
            set(setup "")
        endif()
    endforeach()
    if(setup)
        message(FATAL_ERROR "${page}: a hidden setup has no piece of code behind it")
    endif()
    if(functions)
        _reprise_guide_program(${target} guide_${name}
            "${includes}namespace rp = reprise\\semicolon\nint main()\n{\n${functions}}\n" ${options}
            DEPENDS ${shaders})
        target_precompile_headers(${target} REUSE_FROM reprise_guide_headers)
    endif()
endfunction()
