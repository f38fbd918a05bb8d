# Install rules: the library, its headers and the package that find_package(reprise CONFIG) reads.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/reprise)

install(TARGETS reprise EXPORT repriseTargets
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
    FILE_SET HEADERS DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
    FILE_SET tables DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT repriseTargets NAMESPACE reprise:: DESTINATION ${package_dir})
# The kernels' launch interface, for applications that compile their own kernels (docs/custom-ops.md).
set(shader_dir ${CMAKE_INSTALL_DATADIR}/reprise/shaders)
install(FILES ${PROJECT_SOURCE_DIR}/shaders/common/abi.glsl DESTINATION ${shader_dir}/common)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/repriseConfig.cmake.in
    ${PROJECT_BINARY_DIR}/repriseConfig.cmake INSTALL_DESTINATION ${package_dir} PATH_VARS shader_dir)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/repriseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/repriseConfig.cmake ${PROJECT_BINARY_DIR}/repriseConfigVersion.cmake
    DESTINATION ${package_dir})
if(TARGET reprise_fuser)
    install(TARGETS reprise_fuser EXPORT repriseFuserTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT repriseFuserTargets NAMESPACE reprise:: DESTINATION ${package_dir})
    install(FILES ${PROJECT_SOURCE_DIR}/cmake/FindShaderc.cmake DESTINATION ${package_dir})
endif()
if(TARGET reprise_onnx)
    install(TARGETS reprise_onnx EXPORT repriseOnnxTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT repriseOnnxTargets NAMESPACE reprise:: DESTINATION ${package_dir})
endif()
if(TARGET reprise_mpi)
    install(TARGETS reprise_mpi EXPORT repriseMpiTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
    install(EXPORT repriseMpiTargets NAMESPACE reprise:: DESTINATION ${package_dir})
endif()
# For builds without CMake: `pkg-config --cflags --libs reprise`.  As the library is static, what it needs is linked, too.
# The prefix is found from the place of the file, so the tree can be moved; archives of other packages stay where they are.
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
string(REGEX REPLACE "[^/]+" ".." prefix_from_here "${pkgconfig_dir}")
function(reprise_pkgconfig name description requires) # reprise_pkgconfig(<name> <description> <packages> <library>...)
    list(JOIN ARGN " " libs)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/reprise.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${pkgconfig_dir})
endfunction()
set(others ${REPRISE_CUBLASLT_LIBRARIES} ${CMAKE_DL_LIBS} ${CMAKE_THREAD_LIBS_INIT})
list(TRANSFORM others REPLACE "^([A-Za-z0-9_]+)$" "-l\\1")
reprise_pkgconfig(reprise "${PROJECT_DESCRIPTION}" zlib "-L\${libdir}" -lreprise ${others})
if(TARGET reprise_fuser)
    set(fuser_symbol -Wl,-u,reprise_link_fuser)
    if(APPLE)
        set(fuser_symbol -Wl,-u,_reprise_link_fuser)
    endif()
    get_target_property(shaderc Shaderc::shaderc INTERFACE_LINK_LIBRARIES)
    list(REMOVE_ITEM shaderc Threads::Threads)
    reprise_pkgconfig(reprise-fuser "Compiles kernels for Reprise at run time" reprise ${fuser_symbol}
        "-L\${libdir}" -lreprise_fuser ${shaderc})
endif()
if(TARGET reprise_onnx)
    reprise_pkgconfig(reprise-onnx "Reads and writes ONNX models for Reprise" "reprise protobuf-lite" "-L\${libdir}"
        -lreprise_onnx)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET reprise_command)
    install(TARGETS reprise_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

if(NOT PROJECT_IS_TOP_LEVEL)
    return()
endif()
# `cpack -G DEB`, in the build tree, makes libreprise-dev_<version>_<architecture>.deb.
set(CPACK_PACKAGE_NAME libreprise-dev)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "The authors of Reprise")
set(CPACK_DEBIAN_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_PACKAGE_DEPENDS zlib1g-dev)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # of the command
# For the fuser: shaderc, glslang and spirv-tools; for reprise::onnx: protobuf.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libvulkan1, libshaderc-dev, glslang-dev, spirv-tools, libprotobuf-dev")
include(CPack)
