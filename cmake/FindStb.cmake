# Finds the single-header libraries of https://github.com/nothings/stb, in a folder `stb` or without it, and defines the
# target Stb::headers.
include(FindPackageHandleStandardArgs)
find_path(Stb_INCLUDE_DIR NAMES stb/stb_image_write.h stb_image_write.h)
mark_as_advanced(Stb_INCLUDE_DIR)
find_package_handle_standard_args(Stb REQUIRED_VARS Stb_INCLUDE_DIR)
if(Stb_FOUND AND NOT TARGET Stb::headers)
    add_library(Stb::headers INTERFACE IMPORTED)
    set_target_properties(Stb::headers PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Stb_INCLUDE_DIR}")
endif()
