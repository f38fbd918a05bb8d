# glslc writes a dependency file <kernel>.spv.d for each kernel, with paths relative to FOLDER.  This joins them to one DEPFILE,
# whose target is the first kernel, with absolute paths, in which spaces of FOLDER are escaped.  The relative paths must have none:
# glslc does not escape them.
#
#   cmake -D FOLDER=<folder> -D KERNELS=<kernel>,<kernel>... -D DEPFILE=<file> -P JoinDepfiles.cmake
string(REPLACE "," ";" kernels "${KERNELS}")
set(files "")
foreach(kernel IN LISTS kernels)
    file(READ "${FOLDER}/${kernel}.spv.d" text)
    string(REGEX REPLACE "^[^\n]*[.]spv: |[\n\r]" "" text "${text}")
    string(REGEX MATCHALL "[^ ]+" found "${text}")
    list(APPEND files ${found})
endforeach()
list(REMOVE_DUPLICATES files)
set(text "")
foreach(file IN LISTS files)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${FOLDER}" NORMALIZE)
    string(REPLACE " " "\\ " file "${file}")
    string(APPEND text " ${file}")
endforeach()
list(GET kernels 0 first)
cmake_path(GET FOLDER FILENAME folder)
file(WRITE "${DEPFILE}" "${folder}/${first}.spv:${text}\n")
