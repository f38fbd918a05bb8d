# Joins the dependency files <kernel>.spv.d that glslc has written in FOLDER to DEPFILE, as those of <first kernel>.spv; with
# absolute paths, as glslc does not escape spaces and got relative paths.
#
#   cmake -D FOLDER=<folder> -D KERNELS=<kernel>,<kernel>... -D DEPFILE=<file> -P JoinDepfiles.cmake
string(REPLACE "," ";" kernels "${KERNELS}")
set(files "")
foreach(kernel IN LISTS kernels)
    file(READ "${FOLDER}/${kernel}.spv.d" text)
    string(REGEX REPLACE "^[^:]*:|[\n\r]" "" text "${text}")
    string(REGEX MATCHALL "[^ ]+" found "${text}")
    list(APPEND files ${found})
endforeach()
list(REMOVE_DUPLICATES files)
list(TRANSFORM files PREPEND "${FOLDER}/")
set(text "")
foreach(file IN LISTS files)
    cmake_path(NORMAL_PATH file)
    string(REPLACE " " "\\ " file "${file}")
    string(APPEND text " ${file}")
endforeach()
list(GET kernels 0 first)
cmake_path(GET FOLDER FILENAME folder)
file(WRITE "${DEPFILE}" "${folder}/${first}.spv:${text}\n")
