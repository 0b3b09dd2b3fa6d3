# What `crane --version` says. A new commit configures again, so that the name is never stale.
execute_process(COMMAND git -C ${CMAKE_SOURCE_DIR} rev-parse --short=10 HEAD
                OUTPUT_VARIABLE CRANE_COMMIT OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET
                RESULT_VARIABLE CRANE_COMMIT_FAILED)
if(CRANE_COMMIT_FAILED)
  set(CRANE_COMMIT unknown)
elseif(EXISTS ${CMAKE_SOURCE_DIR}/.git/logs/HEAD)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/.git/logs/HEAD)
endif()
set_source_files_properties(src/app/version.cpp PROPERTIES COMPILE_DEFINITIONS
  "CRANE_VERSION=\"${PROJECT_VERSION}\";CRANE_COMMIT=\"${CRANE_COMMIT}\"")
