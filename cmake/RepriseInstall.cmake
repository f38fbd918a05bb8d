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
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
if(TARGET reprise_command)
    install(TARGETS reprise_command RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
