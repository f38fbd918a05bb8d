# Finds the Vulkan drivers of this machine by their manifests (ICD JSON files).
#
#   REPRISE_LAVAPIPE_ICD, REPRISE_SWIFTSHADER_ICD   manifests of the software drivers; cache variables
#   REPRISE_EXTRA_ICDS                              more manifests, such as another Mesa's: name=file;name=file
#   REPRISE_REQUIRED_DRIVERS                        configuring fails without these; if the list is not empty, also
#                                                   without the validation layer (CI)
# Result: REPRISE_DRIVERS, a list of names; REPRISE_ICD_<name>; REPRISE_LAYER_DIR, the folder of the manifest of
# the validation layer, or empty.
#
# Any other manifest is taken for a GPU driver if vulkaninfo (if installed) lists a device of it that is not a CPU.

set(manifest_dirs $ENV{XDG_CONFIG_HOME} $ENV{XDG_DATA_HOME} $ENV{HOME}/.local/share
    $ENV{XDG_CONFIG_DIRS} $ENV{XDG_DATA_DIRS} /usr/local/etc /usr/local/share /etc /usr/share /etc/xdg
    /opt/homebrew/share)
string(REPLACE ":" ";" manifest_dirs "${manifest_dirs}")

set(manifests "")
foreach(dir IN LISTS manifest_dirs)
    file(GLOB found ${dir}/vulkan/icd.d/*.json)
    list(APPEND manifests ${found})
endforeach()
list(REMOVE_DUPLICATES manifests)

# Picks the manifest for this machine's architecture, which is part of the file name if Debian installs several.
function(reprise_pick_manifest variable pattern)
    set(best "")
    foreach(manifest IN LISTS manifests)
        cmake_path(GET manifest FILENAME name)
        if(name MATCHES "${pattern}" AND (NOT best OR name MATCHES "\\.${CMAKE_SYSTEM_PROCESSOR}\\."))
            set(best ${manifest})
        endif()
    endforeach()
    set(${variable} "${best}" PARENT_SCOPE)
endfunction()

reprise_pick_manifest(lavapipe "^lvp_icd\\.")
reprise_pick_manifest(swiftshader "^vk_swiftshader_icd\\.")
if(NOT swiftshader) # browsers install it in their own folder
    find_file(swiftshader_in_browser vk_swiftshader_icd.json NO_CACHE PATH_SUFFIXES
        chromium chromium-browser google/chrome chrome
        PATHS /usr/lib /usr/lib64 /usr/local/lib /opt "$ENV{ProgramFiles}" "$ENV{VULKAN_SDK}/lib")
    if(swiftshader_in_browser)
        set(swiftshader ${swiftshader_in_browser})
    endif()
endif()
set(REPRISE_LAVAPIPE_ICD "${lavapipe}" CACHE FILEPATH "Manifest of lavapipe (Debian: mesa-vulkan-drivers)")
set(REPRISE_SWIFTSHADER_ICD "${swiftshader}" CACHE FILEPATH "Manifest of SwiftShader (Debian: chromium-common)")
set(REPRISE_EXTRA_ICDS "" CACHE STRING "More drivers to test: name=manifest, separated by semicolons")
set(REPRISE_REQUIRED_DRIVERS "$ENV{REPRISE_REQUIRED_DRIVERS}" CACHE STRING "Drivers that must be there")

set(REPRISE_DRIVERS "")
macro(reprise_add_driver name manifest)
    list(APPEND REPRISE_DRIVERS ${name})
    set(REPRISE_ICD_${name} ${manifest})
endmacro()

foreach(driver IN ITEMS lavapipe swiftshader)
    string(TOUPPER REPRISE_${driver}_ICD variable)
    if(NOT ${variable} AND ${driver}) # installed since the last run
        set_property(CACHE ${variable} PROPERTY VALUE ${${driver}})
    endif()
    if(EXISTS "${${variable}}")
        reprise_add_driver(${driver} ${${variable}})
    endif()
endforeach()
foreach(extra IN LISTS REPRISE_EXTRA_ICDS)
    string(REGEX MATCH "^([A-Za-z0-9_-]+)=(.+)$" matched "${extra}")
    if(NOT matched OR NOT EXISTS "${CMAKE_MATCH_2}")
        message(FATAL_ERROR "REPRISE_EXTRA_ICDS: '${extra}' is not name=manifest with a manifest that exists.")
    endif()
    reprise_add_driver(${CMAKE_MATCH_1} ${CMAKE_MATCH_2})
endforeach()

find_program(REPRISE_VULKANINFO vulkaninfo DOC "Finds out which drivers have a GPU (Debian: vulkan-tools)")
foreach(manifest IN LISTS manifests)
    cmake_path(GET manifest STEM name)
    string(REGEX REPLACE "_icd$" "" name ${name})
    if(NOT REPRISE_VULKANINFO OR name MATCHES "^(lvp|vk_swiftshader)$" OR name IN_LIST REPRISE_DRIVERS)
        continue()
    endif()
    execute_process(COMMAND ${CMAKE_COMMAND} -E env VK_DRIVER_FILES=${manifest} VK_ICD_FILENAMES=${manifest}
        --unset=DISPLAY ${REPRISE_VULKANINFO} --summary OUTPUT_VARIABLE summary ERROR_QUIET TIMEOUT 30)
    if(summary MATCHES "PHYSICAL_DEVICE_TYPE_(DISCRETE|INTEGRATED|VIRTUAL)_GPU")
        reprise_add_driver(${name} ${manifest})
    endif()
endforeach()

foreach(driver IN LISTS REPRISE_REQUIRED_DRIVERS)
    if(NOT driver IN_LIST REPRISE_DRIVERS)
        message(FATAL_ERROR "The driver ${driver} was not found. Run scripts/setup, or name its manifest with "
            "-D REPRISE_LAVAPIPE_ICD=, -D REPRISE_SWIFTSHADER_ICD= or -D REPRISE_EXTRA_ICDS=${driver}=.")
    endif()
endforeach()

set(layer_dirs ${manifest_dirs})
list(TRANSFORM layer_dirs APPEND /vulkan/explicit_layer.d)
find_path(REPRISE_LAYER_DIR VkLayer_khronos_validation.json HINTS ENV VK_LAYER_PATH
    PATHS ${layer_dirs} "$ENV{VULKAN_SDK}/share/vulkan/explicit_layer.d" "$ENV{VULKAN_SDK}/Bin" NO_DEFAULT_PATH
    DOC "Folder of the validation layer's manifest (Debian: vulkan-validationlayers)")
if(NOT REPRISE_LAYER_DIR)
    if(REPRISE_REQUIRED_DRIVERS)
        message(FATAL_ERROR "The validation layer was not found. Run scripts/setup or set REPRISE_LAYER_DIR.")
    endif()
    reprise_part("validation layer in tests" NO "VkLayer_khronos_validation was not found" "scripts/setup test")
else()
    reprise_part("validation layer in tests" YES "${REPRISE_LAYER_DIR}")
endif()
foreach(driver IN ITEMS lavapipe swiftshader)
    if(NOT driver IN_LIST REPRISE_DRIVERS)
        reprise_part("tests on ${driver}" NO "its manifest was not found" "scripts/setup test")
    endif()
endforeach()
foreach(driver IN LISTS REPRISE_DRIVERS)
    reprise_part("tests on ${driver}" YES "${REPRISE_ICD_${driver}}")
endforeach()
