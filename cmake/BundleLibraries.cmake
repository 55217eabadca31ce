# Run while installing: copies the shared libraries that the command needs into the tree, with their licences.
# In: command_file; bundle_dir and licence_dir, relative to the prefix; opencl_loader, which the command opens at run
# time, so that it is not among the libraries it is linked to.

# The C and C++ runtime stays the system's: the GPU's driver is loaded into the same process and may need a newer one
# than ours, while a newer one runs programs built against an older. The sanitizers' runtimes belong to the compiler.
set(runtime_of_the_system
    "^ld-linux" "^linux-vdso" "^lib(c|m|dl|rt|pthread|util|resolv|anl|mvec)\\.so" "^lib(stdc\\+\\+|gcc_s)\\.so"
    "^lib(asan|ubsan|tsan|lsan)\\.so")

# Libraries of which only headers were used; their code is in the command all the same.
set(compiled_in nlohmann-json3-dev libexpected-dev libcli11-dev libeigen3-dev)

set(prefix $ENV{DESTDIR}${CMAKE_INSTALL_PREFIX})

# The Debian package that holds a file; empty where there is none.
function(package_of file result)
  set(${result} "" PARENT_SCOPE)
  find_program(dpkg_query dpkg-query)
  if(NOT dpkg_query)
    return()
  endif()
  # With /lib a link to /usr/lib, a package may list either name.
  string(REGEX REPLACE "^/usr/lib/" "/lib/" short ${file})
  foreach(candidate ${file} ${short} /usr${short})
    execute_process(COMMAND ${dpkg_query} -S ${candidate} OUTPUT_VARIABLE line ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0 AND line MATCHES "^([a-z0-9+.-]+)(:[a-z0-9]+)?: ")
      set(${result} ${CMAKE_MATCH_1} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

function(install_licence package)
  set(licence /usr/share/doc/${package}/copyright)
  if(NOT EXISTS ${licence})
    message(WARNING "No licence found for ${package}: add it to ${prefix}/${licence_dir} before you pass the tree on.")
    return()
  endif()
  file(REAL_PATH ${licence} licence)
  configure_file(${licence} ${prefix}/${licence_dir}/${package}.txt COPYONLY)
endfunction()

file(GET_RUNTIME_DEPENDENCIES EXECUTABLES ${command_file}
     RESOLVED_DEPENDENCIES_VAR found UNRESOLVED_DEPENDENCIES_VAR not_found
     PRE_EXCLUDE_REGEXES ${runtime_of_the_system})
if(not_found)
  message(FATAL_ERROR "Installing ${command_file}: these libraries that it needs were not found: ${not_found}")
endif()

# The name that is opened is that of the interface, libOpenCL.so.1, not the linker's libOpenCL.so.
if(EXISTS ${opencl_loader}.1)
  list(APPEND found ${opencl_loader}.1)
endif()

foreach(library IN LISTS found)
  file(INSTALL ${library} DESTINATION ${prefix}/${bundle_dir} FOLLOW_SYMLINK_CHAIN)
  package_of(${library} package)
  if(package)
    install_licence(${package})
  else()
    message(WARNING "No package holds ${library}: add its licence to ${prefix}/${licence_dir} before you pass the "
                    "tree on.")
  endif()
endforeach()
foreach(package IN LISTS compiled_in)
  install_licence(${package})
endforeach()
