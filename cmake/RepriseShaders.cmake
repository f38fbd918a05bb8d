# Compiles the shaders and embeds them into the library.
#
#   reprise_add_shaders(<target>)
#
# compiles every shaders/*.comp (the file's name is its registration), checks the SPIR-V, packs it and adds it to
# <target>, with one registry (src/device/embedded_kernels.hpp) that finds them by name.
#   - A shader is one kernel with the name of its file, unless it lists variants:
#         // variants: gemm_texel_nn: ; gemm_texel_tn: -DA_TRANSPOSED -DTILE=8
#     (name: definitions; several such lines add up).
#   - A variant may need extensions of GLSL that not every glslc knows:
#         // needs: gemm_matrix_f16: GL_KHR_cooperative_matrix
#     It is left out, and the table of parts says so, where glslc, or REPRISE_MATRIX_GLSLC if that is set, does not know them.
#   - shaders/elementwise.comp is compiled for each row and part of include/reprise/elementwise.def, and includes only
#     that row: elementwise_tanh_fwd, elementwise_tanh_d0; elementwise_add_fwd_i32 for integers.  Each is compiled again
#     with the suffix _plain, for operands without strides and conversions.  If src/ops/vocabulary_f64.inc or
#     vocabulary_shared.inc defines all functions of a row, it is also compiled with _f64: elementwise_add_fwd_f64.
#     For i64, shaders/elementwise_i64.comp is compiled for each row that takes integers: elementwise_add_fwd_i64.
# A kernel is compiled again when the shader, a file that it includes, its row or its definitions change.
include_guard(GLOBAL)

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH REPRISE_SHADER_ROOT)

find_program(REPRISE_GLSLC glslc DOC "GLSL compiler of the shaderc project")
set(REPRISE_MATRIX_GLSLC "" CACHE FILEPATH "glslc for the kernels with cooperative matrices; empty: REPRISE_GLSLC")
reprise_forget_missing(REPRISE_SPIRV_VAL)
find_program(REPRISE_SPIRV_VAL spirv-val DOC "SPIR-V validator; not used where it is missing")
reprise_runs(REPRISE_SPIRV_VAL_RUNS "${REPRISE_SPIRV_VAL}" --version)
if(REPRISE_SPIRV_VAL_RUNS)
    reprise_part("validation of kernels" YES "${REPRISE_SPIRV_VAL}")
elseif(REPRISE_SPIRV_VAL)
    reprise_part("validation of kernels" NO "${REPRISE_SPIRV_VAL} does not start" "scripts/setup build")
else()
    reprise_part("validation of kernels" NO "spirv-val was not found" "scripts/setup build")
endif()
set(REPRISE_SPIRV "" CACHE PATH "Folder of kernels that another build tree of these sources has compiled: <it>/shaders")

# Adds one kernel with the definitions in ARGN, which becomes <name>.spv; REPRISE_KERNEL_NEEDS lists the extensions that it
# needs.  A folder of `-I`, relative to the build folder, is that of a row of the table.  Appends to `spirv` in the caller, and to
# the list that cmake/RepriseCuda.cmake reads: "<name>|<shader>|<definitions, separated by commas>".
function(_reprise_compile_kernel name shader)
    list(JOIN ARGN "," definitions)
    set_property(GLOBAL APPEND PROPERTY REPRISE_KERNELS "${name}|${shader}|${definitions}")
    if(REPRISE_SPIRV)
        set(spirv ${spirv} "${REPRISE_SPIRV}/${name}.spv" PARENT_SCOPE)
        return()
    endif()
    # The kernels of a row are compiled by one glslc, as most of the time for a small one goes into its start.  So definitions are
    # written to a file; -std=460core allows these before the shader's #version.
    set(row ${ARGN})
    list(FILTER row INCLUDE REGEX "^-I")
    set(text "${ARGN}")
    list(FILTER text EXCLUDE REGEX "^-I")
    list(TRANSFORM text REPLACE "^-D([^=]*)=?(.*)$" "#define \\1 \\2\n")
    list(JOIN text "" text)
    cmake_path(GET shader FILENAME file)
    file(CONFIGURE OUTPUT "shaders/kernels/${name}.glsl" CONTENT "${text}#include \"${file}\"\n" @ONLY)
    set(compiler "${REPRISE_GLSLC}")
    set(validates ${REPRISE_SPIRV_VAL_RUNS})
    if(REPRISE_KERNEL_NEEDS AND REPRISE_MATRIX_GLSLC)
        set(compiler "${REPRISE_MATRIX_GLSLC}")
        set(validates OFF) # spirv-val may be too old for what another compiler wrote
    endif()
    if(row)
        string(MAKE_C_IDENTIFIER "${row}-${file}" group)
    else()
        set(group ${name})
    endif()
    set_property(GLOBAL APPEND PROPERTY REPRISE_KERNEL_GROUPS ${group})
    set_property(GLOBAL APPEND PROPERTY REPRISE_KERNELS_OF_${group} ${name})
    set_property(GLOBAL PROPERTY REPRISE_COMMAND_OF_${group} "${compiler};${validates};${shader};${row}")
    set(spirv ${spirv} "${CMAKE_CURRENT_BINARY_DIR}/shaders/${name}.spv" PARENT_SCOPE)
endfunction()

# Adds the commands that compile the kernels of all groups.
function(_reprise_compile_groups)
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/shaders")
    get_property(groups GLOBAL PROPERTY REPRISE_KERNEL_GROUPS)
    list(REMOVE_DUPLICATES groups)
    # Relative paths: glslc does not escape spaces in its lists of dependencies.
    file(RELATIVE_PATH shaders "${folder}" "${REPRISE_SHADER_ROOT}/shaders")
    file(RELATIVE_PATH src "${folder}" "${REPRISE_SHADER_ROOT}/src")
    foreach(group IN LISTS groups)
        get_property(kernels GLOBAL PROPERTY REPRISE_KERNELS_OF_${group})
        get_property(command GLOBAL PROPERTY REPRISE_COMMAND_OF_${group})
        list(POP_FRONT command compiler validates shader)
        list(TRANSFORM command REPLACE "^-Ishaders/" "-I") # relative to the folder
        list(TRANSFORM kernels REPLACE "(.+)" "kernels/\\1.glsl" OUTPUT_VARIABLE sources)
        list(TRANSFORM kernels REPLACE "(.+)" "${folder}/\\1.spv" OUTPUT_VARIABLE outputs)
        list(TRANSFORM sources PREPEND "${folder}/" OUTPUT_VARIABLE written)
        set(validate "")
        if(validates)
            foreach(output IN LISTS outputs)
                list(APPEND validate COMMAND "${REPRISE_SPIRV_VAL}" --target-env vulkan1.2 "${output}")
            endforeach()
        endif()
        list(JOIN kernels "," names)
        add_custom_command(OUTPUT ${outputs}
            COMMAND "${compiler}" --target-env=vulkan1.2 -std=460core -O -fshader-stage=compute ${command} "-I${shaders}"
                    "-I${src}" -MD -c ${sources}
            ${validate}
            COMMAND "${CMAKE_COMMAND}" -D "FOLDER=${folder}" -D "KERNELS=${names}" -D "DEPFILE=${folder}/${group}.d"
                    -P "${REPRISE_SHADER_ROOT}/cmake/JoinDepfiles.cmake"
            WORKING_DIRECTORY "${folder}"
            DEPENDS "${shader}" ${written} "${REPRISE_SHADER_ROOT}/cmake/JoinDepfiles.cmake"
            DEPFILE "${folder}/${group}.d"
            COMMENT "Shader ${names}"
            VERBATIM)
    endforeach()
endfunction()

# Compiles a kernel of the table for any operands, and for plain ones.  Appends to `spirv` in the caller.
function(_reprise_compile_row name shader)
    _reprise_compile_kernel(${name} "${shader}" ${ARGN})
    _reprise_compile_kernel(${name}_plain "${shader}" ${ARGN} -DPLAIN)
    set(spirv ${spirv} PARENT_SCOPE)
endfunction()

# Parses the table to a list of rows, each "UNARY,name,out,types...,f,derivatives...,domains" without parenthesized text
# (so that each comma separates columns), and to a list of the rows' original texts.
function(_reprise_read_table file rows texts)
    file(READ "${file}" table)
    string(REPLACE ";" " " table "${table}")
    string(REGEX REPLACE "//[^\n]*|#[^\n]*" "" table "${table}")
    string(REGEX REPLACE "(UNARY|BINARY|TERNARY)" ";\\1" table "${table}")
    set(parsed "")
    set(verbatim "")
    foreach(text IN LISTS table)
        string(STRIP "${text}" text)
        if(text STREQUAL "")
            continue()
        endif()
        string(REGEX REPLACE "^([A-Z]+) *\\((.*)\\)$" "\\1,\\2" row "${text}")
        set(before "")
        while(NOT row STREQUAL before)
            set(before "${row}")
            string(REGEX REPLACE "\\([^()]*\\)" "" row "${row}")
        endwhile()
        string(REGEX REPLACE "[ \n\t]" "" row "${row}")
        list(APPEND parsed "${row}")
        list(APPEND verbatim "${text}")
    endforeach()
    set(${rows} "${parsed}" PARENT_SCOPE)
    set(${texts} "${verbatim}" PARENT_SCOPE)
endfunction()

# Sets <definition> for the identity (cast), the only row whose operands differ in dtype; to empty for other rows.
function(_reprise_converts text definition)
    set(${definition} "" PARENT_SCOPE)
    if(text MATCHES ", *x,")
        set(${definition} -DCONVERTS PARENT_SCOPE)
    endif()
endfunction()

# Compiles a kernel of the table for f64, if all functions that the row calls have f64 versions.  Constants are
# rewritten as doubles.  Appends to `spirv` in the caller.
function(_reprise_compile_row_f64 name shader text folder)
    set(defined "rp_and( rp_or( rp_not( rp_div( rp_sqrt(") # for bools; and quotient and root, which readers define
    foreach(part IN ITEMS f64 shared)
        set(vocabulary "${REPRISE_SHADER_ROOT}/src/ops/vocabulary_${part}.inc")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${vocabulary}")
        file(STRINGS "${vocabulary}" functions REGEX "^RP_FN")
        string(APPEND defined "${functions}")
    endforeach()
    string(REGEX MATCHALL "rp_[a-z0-9_]+ *\\(" called "${text}")
    foreach(function IN LISTS called)
        string(FIND "${defined}" "${function}" at)
        if(at EQUAL -1)
            return()
        endif()
    endforeach()
    string(REGEX REPLACE "K\\((-?[0-9]+)\\)" "K(\\1.0)" text "${text}")
    string(REGEX REPLACE "K\\((-?[0-9.]+(e-?[0-9]+)?)\\)" "K(\\1lf)" text "${text}")
    string(REGEX MATCH "K\\([^)]*[^f)]\\)" single "${text}")
    if(single)
        message(FATAL_ERROR "${single} is not read as a number: write it as K(1), K(-0.5) or K(1e-3)")
    endif()
    _reprise_converts("${text}" converts)
    file(CONFIGURE OUTPUT "${folder}/f64/row.def" CONTENT "${text}\n" @ONLY)
    _reprise_compile_kernel(${name}_f64 "${shader}" "-I${folder}/f64" ${ARGN} -DDOUBLE ${converts})
    set(spirv ${spirv} PARENT_SCOPE)
endfunction()

# Compiles a kernel of the table for i64, with functions on two words for operators.  Appends to `spirv` in the caller.
function(_reprise_compile_row_i64 name text folder)
    string(REGEX REPLACE ", *-x," ", rp_neg(x)," text "${text}")
    set(operators "+" add "-" sub "*" mul
        "<" less "<=" less_equal ">" greater ">=" greater_equal "==" equal "!=" not_equal)
    while(operators)
        list(POP_FRONT operators operator function)
        string(REGEX REPLACE "([+*])" "[\\1]" operator "${operator}")
        string(REGEX REPLACE ", *([abx]) ${operator} ([abx])," ", rp_${function}(\\1, \\2)," text "${text}")
    endwhile()
    _reprise_converts("${text}" converts)
    file(CONFIGURE OUTPUT "${folder}/i64/row.def" CONTENT "${text}\n" @ONLY)
    _reprise_compile_kernel(${name}_i64 "${REPRISE_SHADER_ROOT}/shaders/elementwise_i64.comp" "-I${folder}/i64"
        ${ARGN} ${converts})
    set(spirv ${spirv} PARENT_SCOPE)
endfunction()

# Compiles all kernels of the table.  Appends to `spirv` in the caller.
function(_reprise_elementwise_kernels shader)
    set(table "${REPRISE_SHADER_ROOT}/include/reprise/elementwise.def")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${table}")
    _reprise_read_table("${table}" rows texts)
    foreach(row text IN ZIP_LISTS rows texts)
        string(REPLACE "," ";" columns "${row}")
        list(GET columns 0 kind)
        list(GET columns 1 name)
        list(GET columns 2 out)
        set(kinds UNARY BINARY TERNARY)
        list(FIND kinds "${kind}" arity)
        math(EXPR arity "${arity} + 1")
        math(EXPR expected "4 + 4 * ${arity}")
        list(LENGTH columns found)
        if(arity EQUAL 0 OR NOT found EQUAL expected)
            message(FATAL_ERROR "${table}: the row ${name} has ${found} columns, ${expected} expected")
        endif()
        list(SUBLIST columns 3 ${arity} types)
        math(EXPR first "4 + ${arity}")
        list(SUBLIST columns ${first} ${arity} derivatives)

        # written only when the row changes, so that a new row compiles its own kernels and no others
        set(folder "shaders/rows/${name}")
        file(CONFIGURE OUTPUT "${folder}/row.def" CONTENT "${text}\n" @ONLY)

        set(slot 0)
        set(inputs "")
        foreach(type IN LISTS types)
            list(APPEND inputs "-DT${slot}=${type}")
            math(EXPR slot "${slot} + 1")
        endforeach()
        math(EXPR operands "${arity} + 1")
        set(forward -DKERNEL=${name}_fwd -DOPERANDS=${operands} ${inputs} -DRESULT=${out})
        if(NOT "I" IN_LIST types)
            _reprise_compile_row(elementwise_${name}_fwd "${shader}" "-I${folder}" ${forward})
            if("N" IN_LIST types OR "F" IN_LIST types)
                _reprise_compile_row_f64(elementwise_${name}_fwd "${shader}" "${text}" "${folder}" ${forward})
            endif()
        endif()
        if("N" IN_LIST types OR "I" IN_LIST types)
            _reprise_compile_row(elementwise_${name}_fwd_i32 "${shader}" "-I${folder}" ${forward} -DINTEGER)
            _reprise_compile_row_i64(elementwise_${name}_fwd "${text}" "${folder}" ${forward})
        endif()
        math(EXPR dy "${arity} + 1")
        math(EXPR operands "${arity} + 3")
        list(APPEND inputs -DT${arity}=F -DT${dy}=F) # y, dy
        set(k 0)
        foreach(derivative IN LISTS derivatives)
            if(NOT derivative MATCHES "^(NONE|dy)$") # a derivative dy needs no kernel
                set(derived -DKERNEL=${name}_d${k} -DOPERANDS=${operands} ${inputs} -DRESULT=F)
                _reprise_compile_row(elementwise_${name}_d${k} "${shader}" "-I${folder}" ${derived})
                _reprise_compile_row_f64(elementwise_${name}_d${k} "${shader}" "${text}" "${folder}" ${derived})
            endif()
            math(EXPR k "${k} + 1")
        endforeach()
    endforeach()
    set(spirv ${spirv} PARENT_SCOPE)
endfunction()

# Sets <result> to whether the glslc for kernels with needs knows an extension of GLSL.
function(_reprise_glslc_knows extension result)
    set(glslc "${REPRISE_GLSLC}")
    if(REPRISE_MATRIX_GLSLC)
        set(glslc "${REPRISE_MATRIX_GLSLC}")
        if(NOT EXISTS "${glslc}")
            message(FATAL_ERROR "REPRISE_MATRIX_GLSLC names (${glslc}), which does not exist")
        endif()
    endif()
    execute_process(COMMAND "${glslc}" --version OUTPUT_VARIABLE version RESULT_VARIABLE status ERROR_QUIET)
    if(NOT status EQUAL 0)
        message(FATAL_ERROR "${glslc} --version failed with (${status})")
    endif()
    string(SHA1 compiler "${glslc} ${version} ${extension}")
    if(NOT DEFINED REPRISE_GLSLC_KNOWS_${compiler})
        set(shader "${CMAKE_CURRENT_BINARY_DIR}/shaders/knows.comp")
        file(WRITE "${shader}" "#version 460\n#extension ${extension} : require\nvoid main() {}\n")
        execute_process(COMMAND "${glslc}" --target-env=vulkan1.2 -o "${shader}.spv" "${shader}"
            RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
        set(known OFF)
        if(status EQUAL 0)
            set(known ON)
        endif()
        set(REPRISE_GLSLC_KNOWS_${compiler} ${known} CACHE INTERNAL "${glslc} knows ${extension}")
    endif()
    set(${result} ${REPRISE_GLSLC_KNOWS_${compiler}} PARENT_SCOPE)
endfunction()

# Sets <result> to the first of the extensions in ARGN that is missing for a kernel, or to an empty string.
function(_reprise_missing_extensions name result)
    set(missing "")
    foreach(extension IN LISTS ARGN)
        if(REPRISE_SPIRV) # what the other build tree compiles
            file(STRINGS "${REPRISE_SPIRV}/embedded_kernels.list" found REGEX "/${name}[.]spv$")
            if(NOT found)
                set(missing ${extension})
            endif()
        else()
            _reprise_glslc_knows(${extension} known)
            if(NOT known)
                set(missing ${extension})
            endif()
        endif()
        if(missing)
            break()
        endif()
    endforeach()
    set(${result} "${missing}" PARENT_SCOPE)
endfunction()

# Compiles the variants that a structured shader lists.  Appends to `spirv` in the caller.
function(_reprise_listed_kernels shader)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${shader}")
    get_filename_component(stem "${shader}" NAME_WE)
    file(STRINGS "${shader}" lines REGEX "^// variants:")
    if(NOT lines)
        _reprise_compile_kernel("${stem}" "${shader}")
    endif()
    file(STRINGS "${shader}" needs REGEX "^// needs:")
    foreach(line IN LISTS needs)
        string(REGEX REPLACE "^// needs:" "" line "${line}")
        foreach(need IN LISTS line)
            if(NOT need MATCHES "^ *([a-z0-9_]+) *:(.*)$")
                message(FATAL_ERROR "${shader}: a need is \"name: extensions\", not \"${need}\"")
            endif()
            separate_arguments(needs_of_${CMAKE_MATCH_1} UNIX_COMMAND "${CMAKE_MATCH_2}")
        endforeach()
    endforeach()
    foreach(line IN LISTS lines)
        string(REGEX REPLACE "^// variants:" "" line "${line}")
        foreach(variant IN LISTS line)
            string(STRIP "${variant}" variant)
            if(NOT variant MATCHES "^([a-z0-9_]+) *:(.*)$")
                message(FATAL_ERROR "${shader}: a variant is \"name: definitions\", not \"${variant}\"")
            endif()
            set(name "${CMAKE_MATCH_1}")
            separate_arguments(definitions UNIX_COMMAND "${CMAKE_MATCH_2}")
            set(REPRISE_KERNEL_NEEDS "${needs_of_${name}}")
            _reprise_missing_extensions("${name}" missing ${needs_of_${name}})
            if(missing)
                set_property(GLOBAL PROPERTY REPRISE_EXTENSION_${missing} OFF)
                set_property(GLOBAL APPEND PROPERTY REPRISE_EXTENSIONS ${missing})
                continue()
            endif()
            foreach(extension IN LISTS needs_of_${name})
                set_property(GLOBAL PROPERTY REPRISE_EXTENSION_${extension} ON)
                set_property(GLOBAL APPEND PROPERTY REPRISE_EXTENSIONS ${extension})
            endforeach()
            _reprise_compile_kernel("${name}" "${shader}" ${definitions})
        endforeach()
    endforeach()
    set(spirv ${spirv} PARENT_SCOPE)
endfunction()

# Generates <out>.cpp: the texts that kernels generated at run time include, and the kernels into which chains are fused,
# which have a branch for CHAIN.  Their names are the last two parts of their paths.
function(_reprise_shader_texts out)
    file(GLOB common CONFIGURE_DEPENDS "${REPRISE_SHADER_ROOT}/shaders/common/*.glsl")
    file(GLOB vocabulary CONFIGURE_DEPENDS "${REPRISE_SHADER_ROOT}/src/ops/*.inc")
    list(FILTER vocabulary EXCLUDE REGEX "/readers.inc$") # C++ only
    file(GLOB shaders CONFIGURE_DEPENDS "${REPRISE_SHADER_ROOT}/shaders/*.comp")
    set(fusible "")
    foreach(file IN LISTS shaders)
        file(STRINGS "${file}" found REGEX "^#ifn?def CHAIN")
        if(found)
            list(APPEND fusible "${file}")
        endif()
    endforeach()
    set(lines "")
    file(GLOB cuda CONFIGURE_DEPENDS "${REPRISE_SHADER_ROOT}/cuda/common/*.cuh")
    foreach(file IN LISTS common vocabulary fusible cuda)
        string(REGEX REPLACE "^.*/([^/]+/[^/]+)$" "\\1" name "${file}")
        list(APPEND lines "${name}=${file}")
    endforeach()
    list(JOIN lines "\n" text)
    file(CONFIGURE OUTPUT "${out}.list" CONTENT "${text}\n" @ONLY)
    add_custom_command(OUTPUT "${out}.cpp"
        COMMAND reprise_embed_spirv texts "${out}.list" "${out}.cpp"
        DEPENDS reprise_embed_spirv "${out}.list" ${common} ${vocabulary} ${fusible} ${cuda}
        COMMENT "Texts of shaders"
        VERBATIM)
endfunction()

# Writes <folder>/sources.digest, a hash of all sources of kernels.  Kernels of another build tree must have been
# compiled from the same sources.
function(_reprise_check_sources folder)
    file(GLOB sources CONFIGURE_DEPENDS "${REPRISE_SHADER_ROOT}/shaders/*.comp"
        "${REPRISE_SHADER_ROOT}/shaders/common/*.glsl" "${REPRISE_SHADER_ROOT}/src/ops/*.inc")
    set(digests "")
    foreach(source IN LISTS sources ITEMS "${REPRISE_SHADER_ROOT}/include/reprise/elementwise.def")
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
        file(SHA256 "${source}" digest)
        string(APPEND digests "${digest}")
    endforeach()
    string(SHA256 digest "${digests}")
    file(WRITE "${folder}/sources.digest" "${digest}")
    if(REPRISE_SPIRV)
        set(theirs "")
        if(EXISTS "${REPRISE_SPIRV}/sources.digest")
            file(READ "${REPRISE_SPIRV}/sources.digest" theirs)
        endif()
        if(NOT theirs STREQUAL digest)
            message(FATAL_ERROR "The kernels of ${REPRISE_SPIRV} are of other sources: build them there first")
        endif()
    endif()
endfunction()

function(reprise_add_shaders target)
    if(NOT REPRISE_GLSLC AND NOT REPRISE_SPIRV)
        message(FATAL_ERROR "glslc is needed to compile the shaders: install shaderc or the Vulkan SDK")
    endif()
    set(folder "${CMAKE_CURRENT_BINARY_DIR}/shaders")
    file(MAKE_DIRECTORY "${folder}")
    _reprise_check_sources("${folder}")
    file(GLOB shaders CONFIGURE_DEPENDS "${REPRISE_SHADER_ROOT}/shaders/*.comp")
    list(SORT shaders)
    set(all "")
    set(sources "")
    foreach(shader IN LISTS shaders)
        get_filename_component(stem "${shader}" NAME_WE)
        set(spirv "")
        if(stem STREQUAL "elementwise_i64") # compiled with the table's kernels
            continue()
        elseif(stem STREQUAL "elementwise")
            _reprise_elementwise_kernels("${shader}")
        else()
            _reprise_listed_kernels("${shader}")
        endif()
        # a list in a file, as some platforms limit command lines
        list(JOIN spirv "\n" lines)
        file(CONFIGURE OUTPUT "${folder}/${stem}.list" CONTENT "${lines}\n" @ONLY)
        add_custom_command(OUTPUT "${folder}/${stem}.cpp"
            COMMAND reprise_embed_spirv embed "${folder}/${stem}.list" "${folder}/${stem}.cpp"
            DEPENDS reprise_embed_spirv "${folder}/${stem}.list" ${spirv}
            COMMENT "Embedding ${stem}"
            VERBATIM)
        list(APPEND sources "${folder}/${stem}.cpp")
        list(APPEND all ${spirv})
    endforeach()
    _reprise_compile_groups()
    list(JOIN all "\n" lines)
    set(registry "${folder}/embedded_kernels")
    file(CONFIGURE OUTPUT "${registry}.list" CONTENT "${lines}\n" @ONLY)
    add_custom_command(OUTPUT "${registry}.cpp"
        COMMAND reprise_embed_spirv registry "${registry}.list" "${registry}.cpp"
        DEPENDS reprise_embed_spirv "${registry}.list"
        COMMENT "Registry of kernels"
        VERBATIM)
    _reprise_shader_texts("${folder}/shader_texts")
    target_sources(${target} PRIVATE ${sources} "${registry}.cpp" "${folder}/shader_texts.cpp")
    target_include_directories(${target} PRIVATE "${REPRISE_SHADER_ROOT}/src")
    list(LENGTH all count)
    message(STATUS "Reprise: ${count} kernels")
    get_property(extensions GLOBAL PROPERTY REPRISE_EXTENSIONS)
    list(REMOVE_DUPLICATES extensions)
    set(compiler "${REPRISE_GLSLC}")
    if(REPRISE_SPIRV)
        set(compiler "${REPRISE_SPIRV}")
    elseif(REPRISE_MATRIX_GLSLC)
        set(compiler "${REPRISE_MATRIX_GLSLC}")
    endif()
    foreach(extension IN LISTS extensions)
        get_property(is_known GLOBAL PROPERTY REPRISE_EXTENSION_${extension})
        if(is_known)
            reprise_part("kernels with ${extension}" YES "${compiler}")
        elseif(REPRISE_SPIRV)
            reprise_part("kernels with ${extension}" NO "${compiler} has none")
        else()
            reprise_part("kernels with ${extension}" NO "${compiler} does not know it"
                "name a newer glslc by REPRISE_MATRIX_GLSLC (docs/install.md)")
        endif()
    endforeach()
endfunction()
