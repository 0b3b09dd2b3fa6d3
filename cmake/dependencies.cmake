# Third-party libraries, all from Debian 12. A missing one stops the configure step and names its package.
# Why each is here: docs/dependencies.md.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

function(crane_require_header header package target)
  find_path(CRANE_INCLUDE_${target} ${header})
  if(NOT CRANE_INCLUDE_${target})
    message(FATAL_ERROR "${header} not found: apt-get install ${package}")
  endif()
  add_library(${target} INTERFACE)
  target_include_directories(${target} SYSTEM INTERFACE ${CRANE_INCLUDE_${target}})
endfunction()

function(crane_require_library library target)
  find_library(CRANE_LIBRARY_${target} ${library})
  if(NOT CRANE_LIBRARY_${target})
    message(FATAL_ERROR "lib${library} not found: install the packages of tools/packages.txt")
  endif()
  target_link_libraries(${target} INTERFACE ${CRANE_LIBRARY_${target}})
endfunction()

crane_require_header(nlohmann/json.hpp nlohmann-json3-dev crane_json)
crane_require_header(pcre2.h libpcre2-dev crane_pcre2)
crane_require_library(pcre2-8 crane_pcre2)
crane_require_header(utf8proc.h libutf8proc-dev crane_utf8proc)
crane_require_library(utf8proc crane_utf8proc)
crane_require_header(CLI/CLI.hpp libcli11-dev crane_cli)
crane_require_header(histedit.h libedit-dev crane_edit)
crane_require_library(edit crane_edit)
