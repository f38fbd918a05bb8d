# Generates the registry of structured ops: `const Op X_op{...}` at the start of a line of src/ops/*.cpp registers op X.
# (The linker would drop self-registering objects of a static library.)
file(GLOB op_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/ops/*.cpp)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${op_files})
set(rows "")
foreach(file IN LISTS op_files)
    file(STRINGS ${file} definitions REGEX "^const (graph::)?Op [a-z0-9_]+_op *{")
    foreach(definition IN LISTS definitions)
        string(REGEX REPLACE "^const (graph::)?Op ([a-z0-9_]+)_op.*$" "\\2" name "${definition}")
        list(APPEND rows "OP(${name})")
    endforeach()
endforeach()
list(SORT rows)
list(JOIN rows "\n" rows)
file(CONFIGURE OUTPUT ${REPRISE_GENERATED}/ops/ops.def CONTENT "${rows}\n#undef OP\n" @ONLY)

# Lists the files of rows with which ops are tested: src/testing/op_info/X.cpp defines add_X().
file(GLOB row_files CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/src/testing/op_info
    ${PROJECT_SOURCE_DIR}/src/testing/op_info/*.cpp)
list(REMOVE_ITEM row_files rows.cpp)
list(TRANSFORM row_files REPLACE "^(.*)\\.cpp$" "ROWS(\\1)")
list(JOIN row_files "\n" row_files)
file(CONFIGURE OUTPUT ${REPRISE_GENERATED}/testing/op_info/files.def CONTENT "${row_files}\n#undef ROWS\n" @ONLY)

# The vocabulary for doubles as C++, which lacks GLSL's suffix of double literals (1.0lf).
set(vocabulary ${PROJECT_SOURCE_DIR}/src/ops/vocabulary_f64.inc)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${vocabulary})
file(READ ${vocabulary} text)
string(REGEX REPLACE "([0-9])lf" "\\1" text "${text}")
file(CONFIGURE OUTPUT ${REPRISE_GENERATED}/ops/vocabulary_f64_host.inc CONTENT "${text}" @ONLY)
