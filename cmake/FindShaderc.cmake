# Shaderc::shaderc: shaderc as static archives.  Debian's shared object can't be loaded, and its combined archive has
# neither glslang nor SPIRV-Tools, so these are linked after it if they are found.
find_path(Shaderc_INCLUDE_DIR shaderc/shaderc.hpp)
find_library(Shaderc_LIBRARY NAMES shaderc_combined)
set(Shaderc_parts "")
foreach(part IN ITEMS glslang MachineIndependent OSDependent OGLCompiler GenericCodeGen SPIRV SPIRV-Tools-opt SPIRV-Tools)
    find_library(Shaderc_${part}_LIBRARY NAMES lib${part}.a ${part})
    mark_as_advanced(Shaderc_${part}_LIBRARY)
    if(Shaderc_${part}_LIBRARY)
        list(APPEND Shaderc_parts ${Shaderc_${part}_LIBRARY})
    endif()
endforeach()
mark_as_advanced(Shaderc_INCLUDE_DIR Shaderc_LIBRARY)
include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Shaderc REQUIRED_VARS Shaderc_LIBRARY Shaderc_INCLUDE_DIR)
if(Shaderc_FOUND AND NOT TARGET Shaderc::shaderc)
    find_package(Threads REQUIRED)
    add_library(Shaderc::shaderc INTERFACE IMPORTED)
    set_target_properties(Shaderc::shaderc PROPERTIES
        INTERFACE_INCLUDE_DIRECTORIES ${Shaderc_INCLUDE_DIR}
        INTERFACE_LINK_LIBRARIES "${Shaderc_LIBRARY};${Shaderc_parts};Threads::Threads")
endif()
