# The installed tree. It may be moved to any place, and to any machine of the same architecture with the same or a newer
# C and C++ runtime: what the command needs beyond that lies in lib/wattune, found relative to the command.
#   bin/wattune                       the command
#   include/wattune                   the public headers
#   lib/*.a                           the libraries, one for each folder of src/
#   lib/cmake/wattune                 find_package(wattune) gives wattune::wattune
#   lib/wattune                       shared libraries of others that the command needs
#   share/wattune/kernels             the kernel suite
#   share/wattune/packaging           what an administrator installs: the settings service, the epilog of batch jobs
#   share/licenses/wattune            our licence and those of the libraries that are part of the tree
# A folder of its own for the libraries of others keeps an installation under /usr/local from replacing those that
# other programs use.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/wattune)
set(bundle_dir ${CMAKE_INSTALL_LIBDIR}/wattune)
set(licence_dir ${CMAKE_INSTALL_DATADIR}/licenses/wattune)

# --- The libraries ---
get_property(libraries GLOBAL PROPERTY WATTUNE_LIBRARIES)
list(REMOVE_ITEM libraries wattune_cli)
add_library(wattune_package INTERFACE)
target_link_libraries(wattune_package INTERFACE ${libraries})
set_target_properties(wattune_package PROPERTIES EXPORT_NAME wattune)
add_library(wattune::wattune ALIAS wattune_package)

install(TARGETS wattune_package wattune_options ${libraries} EXPORT wattuneTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(EXPORT wattuneTargets NAMESPACE wattune:: DESTINATION ${package_dir})
install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.hpp")
# Those of the parts that public headers pass on.
install(FILES src/base/error.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wattune/base)
install(FILES src/expr/value.hpp DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/wattune/expr)

configure_package_config_file(cmake/wattuneConfig.cmake.in ${PROJECT_BINARY_DIR}/wattuneConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/wattuneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/wattuneConfig.cmake ${PROJECT_BINARY_DIR}/wattuneConfigVersion.cmake
        DESTINATION ${package_dir})

# --- The command ---
file(RELATIVE_PATH bundle_from_bin /${CMAKE_INSTALL_BINDIR} /${bundle_dir})
set_target_properties(wattune PROPERTIES INSTALL_RPATH $ORIGIN/${bundle_from_bin})
install(TARGETS wattune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(CODE "
  set(command_file \"$<TARGET_FILE:wattune>\")
  set(bundle_dir \"${bundle_dir}\")
  set(licence_dir \"${licence_dir}\")
  set(opencl_loader \"${OpenCL_LIBRARY}\")")
install(SCRIPT cmake/BundleLibraries.cmake)

# --- Documents (kernels/ installs itself) ---
install(DIRECTORY docs/ DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY packaging/ DESTINATION ${CMAKE_INSTALL_DATADIR}/wattune/packaging USE_SOURCE_PERMISSIONS)
install(FILES README.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE DESTINATION ${licence_dir})
