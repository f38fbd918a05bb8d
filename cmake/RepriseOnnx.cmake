# reprise::onnx: import and export of ONNX models.  It is built if protobuf and ONNX's onnx-ml.proto are found, which
# `scripts/setup onnx` installs: the proto in the project's folder .onnx.

# reprise_onnx_messages(<target> <name>) adds an object library of onnx/<name>.proto, compiled as reprise-<name>.  The
# package becomes reprise.onnx.proto, so that its symbols differ from those of other compilations of the same messages
# that a program links.  It is a target of its own, so that generating the messages waits for no other target.
function(reprise_onnx_messages target name)
    cmake_path(GET REPRISE_ONNX_PROTO PARENT_PATH folder)
    set(out ${PROJECT_BINARY_DIR}/reprise-onnx)
    file(READ ${folder}/${name}.proto text)
    string(REPLACE "package onnx;" "package reprise.onnx.proto;" text "${text}")
    string(REPLACE "\"onnx/onnx-ml.proto\"" "\"reprise-onnx-ml.proto\"" text "${text}")
    file(CONFIGURE OUTPUT ${out}/reprise-${name}.proto CONTENT "${text}" @ONLY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${folder}/${name}.proto)
    set(source ${out}/reprise-${name}.pb.cc)
    add_custom_command(OUTPUT ${source} ${out}/reprise-${name}.pb.h
        COMMAND protobuf::protoc --cpp_out=${out} -I ${out} reprise-${name}.proto
        DEPENDS ${out}/reprise-${name}.proto COMMENT "Messages of ${name}.proto" VERBATIM)
    add_library(${target} OBJECT ${source})
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_compile_features(${target} PUBLIC cxx_std_20)
    target_include_directories(${target} SYSTEM PUBLIC ${out})
    target_link_libraries(${target} PUBLIC protobuf::libprotobuf-lite)
    if(NOT MSVC)
        target_compile_options(${target} PRIVATE -w) # generated code is not ours to warn about
    endif()
endfunction()

# reprise_onnx() adds reprise::onnx, if protobuf and ONNX's proto are found.
function(reprise_onnx)
    reprise_find_onnx(found)
    if(NOT found)
        return()
    endif()
    reprise_onnx_messages(reprise_onnx_ml onnx-ml)
    reprise_sources(sources src/onnx)
    add_library(reprise_onnx STATIC ${sources} $<TARGET_OBJECTS:reprise_onnx_ml>)
    add_dependencies(reprise_onnx reprise_onnx_ml)
    add_library(reprise::onnx ALIAS reprise_onnx)
    set_target_properties(reprise_onnx PROPERTIES EXPORT_NAME onnx POSITION_INDEPENDENT_CODE ON)
    target_include_directories(reprise_onnx PRIVATE ${PROJECT_SOURCE_DIR}/src ${REPRISE_GENERATED})
    target_include_directories(reprise_onnx SYSTEM PRIVATE ${PROJECT_BINARY_DIR}/reprise-onnx)
    target_link_libraries(reprise_onnx PUBLIC reprise::reprise
        PRIVATE $<BUILD_INTERFACE:reprise_compiler> protobuf::libprotobuf-lite)
    target_precompile_headers(reprise_onnx PRIVATE <algorithm> <functional> <map> <memory> <optional> <string> <vector>
        <reprise/ops.hpp> ${PROJECT_SOURCE_DIR}/src/onnx/proto.hpp)
endfunction()
