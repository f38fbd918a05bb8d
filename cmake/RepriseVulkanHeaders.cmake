# reprise_vulkan_headers: the Vulkan headers and volk (header and source), which opens the loader at run time.
#
# volk defines a global variable for each Vulkan function, under the function's own name.  In a static library
# these would capture the calls of an application that links the Vulkan loader or its own copy of volk, so a
# generated header, which is included first, renames them to reprise_vk*.
find_path(REPRISE_VULKAN_INCLUDE_DIR vulkan/vulkan_core.h HINTS ENV VULKAN_SDK PATH_SUFFIXES include Include REQUIRED
    DOC "Folder of vulkan/vulkan_core.h (Debian: libvulkan-dev)")
find_path(REPRISE_VOLK_INCLUDE_DIR volk.c HINTS ENV VULKAN_SDK PATH_SUFFIXES include/volk include/Volk volk Volk include REQUIRED
    DOC "Folder of volk.h and volk.c (Debian: libvulkan-volk-dev)")

set(renames ${REPRISE_GENERATED}/reprise_volk_names.h)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${REPRISE_VOLK_INCLUDE_DIR}/volk.h)
file(STRINGS ${REPRISE_VOLK_INCLUDE_DIR}/volk.h declarations
    REGEX "^(extern PFN_vk[A-Za-z0-9]+ vk|[A-Za-z0-9_]+ volk[A-Za-z]+\\()")
set(text "")
foreach(declaration IN LISTS declarations)
    string(REGEX REPLACE "^.* (vk[A-Za-z0-9]+|volk[A-Za-z]+)[;(].*$" "\\1" name "${declaration}")
    string(APPEND text "#define ${name} reprise_${name}\n")
endforeach()
if(NOT text MATCHES "#define vkCreateDevice " OR NOT text MATCHES "#define volkInitialize ")
    message(FATAL_ERROR "${REPRISE_VOLK_INCLUDE_DIR}/volk.h is not a volk.h that can be read here.")
endif()
file(CONFIGURE OUTPUT ${renames} CONTENT "#pragma once\n${text}" @ONLY)

add_library(reprise_vulkan_headers INTERFACE)
target_include_directories(reprise_vulkan_headers SYSTEM INTERFACE
    ${REPRISE_VULKAN_INCLUDE_DIR} ${REPRISE_VOLK_INCLUDE_DIR})
target_compile_definitions(reprise_vulkan_headers INTERFACE VK_NO_PROTOTYPES)
target_compile_options(reprise_vulkan_headers INTERFACE
    $<IF:$<CXX_COMPILER_ID:MSVC>,/FI${renames},SHELL:-include ${renames}>)
target_link_libraries(reprise_vulkan_headers INTERFACE ${CMAKE_DL_LIBS})
