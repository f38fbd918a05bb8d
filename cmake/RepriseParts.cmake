# Optional parts of the build.  Each is looked for and tried by a function reprise_find_<part>(<result>), which sets <result> to
# ON or OFF and adds a row to the table that reprise_print_parts() prints at the end of configuring.
#
#   reprise_part(<name> YES [<what it uses>])        what is built
#   reprise_part(<name> NO <reason> [<what to do>])  what is left out
#   reprise_works(<result> <id> SOURCE <text> [LINK <target>...])   whether a C++ program compiles and links
include_guard(GLOBAL)
file(REMOVE ${CMAKE_BINARY_DIR}/CMakeFiles/reprise_works/errors.log) # of an earlier configuration

function(reprise_part name built)
    list(JOIN ARGN "|" text)
    string(REPLACE ";" "," text "${text}")
    set_property(GLOBAL APPEND PROPERTY REPRISE_PARTS "${name}|${built}|${text}")
endfunction()

# What is found by its name may still not work, as a header without its library, so a program is linked with it.  This is done
# at each configuring, as a package may have been removed since the last one.
function(reprise_works result id)
    cmake_parse_arguments(PARSE_ARGV 2 arg "" "SOURCE" "LINK")
    set(CMAKE_TRY_COMPILE_TARGET_TYPE EXECUTABLE)
    if(MSVC AND NOT CMAKE_BUILD_TYPE STREQUAL "Debug")
        set(CMAKE_TRY_COMPILE_CONFIGURATION Release) # libraries of other packages may exist as Release only
    endif()
    try_compile(works SOURCE_FROM_CONTENT ${id}.cpp "${arg_SOURCE}\n" LINK_LIBRARIES ${arg_LINK} OUTPUT_VARIABLE output
        NO_CACHE CXX_STANDARD 20 CXX_STANDARD_REQUIRED ON)
    set(${result} ${works} PARENT_SCOPE)
    if(NOT works)
        file(APPEND ${CMAKE_BINARY_DIR}/CMakeFiles/reprise_works/errors.log "${id}:\n${output}\n")
    endif()
endfunction()

# reprise_forget_missing(<variable>...): unsets cached paths that no longer exist, so that they are looked for again.  Other values
# are a user's, such as an empty one for what he does not want.
function(reprise_forget_missing)
    foreach(variable IN LISTS ARGN)
        if(IS_ABSOLUTE "${${variable}}" AND NOT EXISTS "${${variable}}")
            unset(${variable} CACHE)
        endif()
    endforeach()
endfunction()

# reprise_runs(<result> <program> [<argument>...]): whether a program of the build starts and succeeds; <result>_OUTPUT is what
# it prints.
function(reprise_runs result program)
    execute_process(COMMAND "${program}" ${ARGN} RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
    set(${result} OFF PARENT_SCOPE)
    set(${result}_OUTPUT "${output}" PARENT_SCOPE)
    if(status EQUAL 0)
        set(${result} ON PARENT_SCOPE)
    else()
        file(APPEND ${CMAKE_BINARY_DIR}/CMakeFiles/reprise_works/errors.log "${program} ${ARGN}: ${status}\n${output}${errors}\n")
    endif()
endfunction()

# reprise_find_ccache(<result>) looks for the compiler cache REPRISE_CCACHE.
function(reprise_find_ccache result)
    reprise_forget_missing(REPRISE_CCACHE)
    find_program(REPRISE_CCACHE ccache DOC "Compiler cache, used where it is found")
    set(${result} OFF PARENT_SCOPE)
    if(NOT REPRISE_CCACHE)
        reprise_part("compiler cache" NO "ccache was not found" "scripts/setup build")
        return()
    endif()
    set(file ${CMAKE_BINARY_DIR}/CMakeFiles/reprise_works/ccache)
    file(WRITE ${file}.cpp "int main() { return 0; }\n")
    reprise_runs(works "${REPRISE_CCACHE}" "${CMAKE_CXX_COMPILER}" -c ${file}.cpp -o ${file}.o)
    if(NOT works)
        reprise_part("compiler cache" NO "${REPRISE_CCACHE} does not compile a file")
        return()
    endif()
    reprise_part("compiler cache" YES "${REPRISE_CCACHE}")
    set(${result} ON PARENT_SCOPE)
endfunction()

# The next two are for functions reprise_find_<part>(<result>), whose variables `result` and `part` they use.

# Leaves a part out, and returns from the calling function, if its option is off.
macro(reprise_return_if_off option)
    if(NOT ${option})
        reprise_part("${part}" NO "${option} is off")
        set(${result} OFF PARENT_SCOPE)
        return()
    endif()
endmacro()

# Builds a part, unless there is a reason to leave it out.
macro(reprise_decide reason advice uses)
    if("${reason}" STREQUAL "")
        reprise_part("${part}" YES "${uses}")
        set(${result} ON PARENT_SCOPE)
    else()
        reprise_part("${part}" NO "${reason}" "${advice}")
        set(${result} OFF PARENT_SCOPE)
    endif()
endmacro()

# Sets <reason> to why a library can't be used, or to an empty string.  SOURCE and LINK are as for reprise_works().
function(reprise_try reason id name found)
    cmake_parse_arguments(PARSE_ARGV 4 arg "" "SOURCE" "LINK") # the text has semicolons
    set(${reason} "" PARENT_SCOPE)
    if(NOT found)
        set(${reason} "${name} was not found" PARENT_SCOPE)
        return()
    endif()
    reprise_works(works ${id} SOURCE "${arg_SOURCE}" LINK ${arg_LINK})
    if(NOT works)
        set(${reason} "a program with ${name} does not link" PARENT_SCOPE)
    endif()
endfunction()

# reprise_find_shaderc(<result>) looks for shaderc, as the target Shaderc::shaderc.
function(reprise_find_shaderc result)
    set(part "reprise::fuser (kernels compiled at run time)")
    reprise_return_if_off(REPRISE_FUSER)
    reprise_forget_missing(Shaderc_INCLUDE_DIR Shaderc_LIBRARY)
    find_package(Shaderc QUIET)
    reprise_try(reason shaderc shaderc "${Shaderc_FOUND}" LINK Shaderc::shaderc SOURCE
        "#include <shaderc/shaderc.hpp>\nint main() { return shaderc::Compiler().IsValid() ? 0 : 1; }")
    reprise_decide("${reason}" "scripts/setup build" "${Shaderc_LIBRARY}")
endfunction()

# reprise_find_mpi(<result>) looks for MPI, as the target MPI::MPI_CXX of its C interface.
function(reprise_find_mpi result)
    set(part "reprise::mpi (worlds of processes)")
    reprise_return_if_off(REPRISE_MPI)
    if(MPI_CXX_HEADER_DIR AND NOT EXISTS "${MPI_CXX_HEADER_DIR}/mpi.h") # it was removed: FindMPI would end with an error
        get_cmake_property(cached CACHE_VARIABLES)
        list(FILTER cached INCLUDE REGEX "^MPI_")
        foreach(variable IN LISTS cached)
            unset(${variable} CACHE)
        endforeach()
    endif()
    set(MPI_CXX_SKIP_MPICXX ON) # the C interface
    find_package(MPI QUIET COMPONENTS CXX)
    # CMake 3.25 makes the target even if MPI was not found.  FindMPI links a program itself, at each configuring.
    set(reason "")
    if(NOT MPI_CXX_FOUND)
        set(reason "MPI was not found, or does not work")
    endif()
    reprise_decide("${reason}" "scripts/setup mpi" "MPI ${MPI_CXX_VERSION}")
endfunction()

# reprise_find_onnx(<result>) looks for protobuf, as its targets, and for ONNX's description of its format, as the file
# REPRISE_ONNX_PROTO.
function(reprise_find_onnx result)
    set(part "reprise::onnx (ONNX models)")
    reprise_return_if_off(REPRISE_ONNX)
    reprise_forget_missing(REPRISE_ONNX_PROTO Protobuf_PROTOC_EXECUTABLE Protobuf_LITE_LIBRARY_RELEASE Protobuf_INCLUDE_DIR)
    find_file(REPRISE_ONNX_PROTO onnx/onnx-ml.proto HINTS ${PROJECT_SOURCE_DIR}/.onnx NO_CMAKE_FIND_ROOT_PATH
        DOC "ONNX's description of its format")
    mark_as_advanced(REPRISE_ONNX_PROTO)
    find_package(Protobuf QUIET)
    set(reason "")
    if(NOT TARGET protobuf::protoc OR NOT TARGET protobuf::libprotobuf-lite)
        set(reason "protobuf was not found")
    elseif(NOT REPRISE_ONNX_PROTO)
        set(reason "onnx/onnx-ml.proto was not found")
    else()
        _reprise_protobuf_problem(reason)
        file(STRINGS ${REPRISE_ONNX_PROTO} package REGEX "^package onnx;" LIMIT_COUNT 1)
        if(NOT reason AND NOT package)
            set(reason "${REPRISE_ONNX_PROTO} does not describe the package onnx")
        endif()
    endif()
    reprise_decide("${reason}" "scripts/setup onnx" "protobuf ${Protobuf_VERSION}")
endfunction()

# Sets <reason> to why protobuf can't compile and link a message, or to an empty string.
function(_reprise_protobuf_problem reason)
    set(folder ${CMAKE_BINARY_DIR}/CMakeFiles/reprise_works)
    file(WRITE ${folder}/message.proto "syntax = \"proto2\"; option optimize_for = LITE_RUNTIME; message M { optional int32 a = 1; }\n")
    get_target_property(protoc protobuf::protoc IMPORTED_LOCATION)
    if(NOT protoc)
        get_target_property(protoc protobuf::protoc IMPORTED_LOCATION_RELEASE)
    endif()
    if(NOT protoc)
        set(protoc "${Protobuf_PROTOC_EXECUTABLE}")
    endif()
    reprise_runs(works "${protoc}" --cpp_out=${folder} -I ${folder} message.proto)
    if(NOT works)
        set(${reason} "${protoc} does not compile a message" PARENT_SCOPE)
        return()
    endif()
    reprise_try(problem protobuf "protobuf and messages of ${protoc}" TRUE LINK protobuf::libprotobuf-lite SOURCE
        "#include \"${folder}/message.pb.cc\"\nint main() { M m; m.set_a(3); return m.SerializeAsString().empty(); }")
    set(${reason} "${problem}" PARENT_SCOPE)
endfunction()

# reprise_find_desktop(<result>) looks for what the sample `desktop` needs: glfw, ImGui::ImGui and Vulkan::Vulkan.
function(reprise_find_desktop result)
    set(part "sample desktop (training in a window)")
    reprise_forget_missing(ImGui_INCLUDE_DIR ImGui_LIBRARY ImGui_STB_LIBRARY Vulkan_INCLUDE_DIR Vulkan_LIBRARY)
    find_package(glfw3 3.3 CONFIG QUIET)
    find_package(ImGui QUIET)
    find_package(Vulkan QUIET)
    set(missing "")
    foreach(needed IN ITEMS glfw3=GLFW ImGui=Dear\ ImGui Vulkan=Vulkan's\ loader)
        string(REGEX MATCH "^(.*)=(.*)$" _ "${needed}")
        if(NOT ${CMAKE_MATCH_1}_FOUND)
            list(APPEND missing "${CMAKE_MATCH_2}")
        endif()
    endforeach()
    if(missing)
        list(JOIN missing ", " missing)
        set(reason "not found: ${missing}")
    else()
        reprise_try(reason desktop "GLFW and Dear ImGui" TRUE LINK glfw ImGui::ImGui Vulkan::Vulkan SOURCE
            "#define GLFW_INCLUDE_NONE\n#define GLFW_INCLUDE_VULKAN\n#include <GLFW/glfw3.h>\n#include <imgui.h>\n#include <backends/imgui_impl_glfw.h>\n#include <backends/imgui_impl_vulkan.h>
int main()
{
    ImGui::CreateContext();
    ImGui_ImplGlfw_Shutdown();
    ImGui_ImplVulkan_Shutdown();
    return glfwInit() && vkEnumerateInstanceVersion(nullptr);
}")
    endif()
    reprise_decide("${reason}" "scripts/setup desktop" "GLFW ${glfw3_VERSION}")
endfunction()

# Prints the table of parts: what is built, what is left out and why, and what to do about it.
function(reprise_print_parts)
    get_property(parts GLOBAL PROPERTY REPRISE_PARTS)
    string(REPEAT " " 48 blank)
    set(lines "")
    foreach(part IN LISTS parts)
        string(REPLACE "|" ";" columns "${part}|")
        list(POP_FRONT columns name built reason advice)
        string(SUBSTRING "${name}${blank}" 0 48 name)
        if(built STREQUAL "YES")
            string(APPEND lines "\n  ${name} yes       ${reason}")
        elseif(advice MATCHES "^scripts/")
            string(APPEND lines "\n  ${name} left out  ${reason}; run ${advice}")
        elseif(advice)
            string(APPEND lines "\n  ${name} left out  ${reason}; ${advice}")
        else()
            string(APPEND lines "\n  ${name} left out  ${reason}")
        endif()
    endforeach()
    set(mode STATUS)
    if(PROJECT_IS_TOP_LEVEL)
        set(mode NOTICE)
    endif()
    message(${mode} "Reprise ${PROJECT_VERSION}, besides the library:${lines}\n")
endfunction()
