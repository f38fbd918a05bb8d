# Finds Dear ImGui with its backends for GLFW and Vulkan, as Debian's libimgui-dev has it, and defines ImGui_FOUND and the
# target ImGui::ImGui.
include(FindPackageHandleStandardArgs)
find_path(ImGui_INCLUDE_DIR NAMES backends/imgui_impl_vulkan.h PATH_SUFFIXES imgui)
find_library(ImGui_LIBRARY NAMES imgui)
find_library(ImGui_STB_LIBRARY NAMES stb) # which Debian's package needs; others contain it
mark_as_advanced(ImGui_INCLUDE_DIR ImGui_LIBRARY ImGui_STB_LIBRARY)
find_package_handle_standard_args(ImGui REQUIRED_VARS ImGui_LIBRARY ImGui_INCLUDE_DIR)
if(ImGui_FOUND AND NOT TARGET ImGui::ImGui)
    add_library(ImGui::ImGui STATIC IMPORTED)
    set_target_properties(ImGui::ImGui PROPERTIES IMPORTED_LOCATION "${ImGui_LIBRARY}"
        INTERFACE_INCLUDE_DIRECTORIES "${ImGui_INCLUDE_DIR}")
    if(ImGui_STB_LIBRARY)
        set_property(TARGET ImGui::ImGui PROPERTY INTERFACE_LINK_LIBRARIES "${ImGui_STB_LIBRARY}")
    endif()
endif()
