# Helpers that turn a source folder into a target.

set(CRANE_WARNINGS -Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns about its own std::string (its bug 105651).
  list(APPEND CRANE_WARNINGS -Wno-restrict)
endif()
if(CRANE_WERROR)
  list(APPEND CRANE_WARNINGS -Werror)
endif()
if(CRANE_SANITIZE)
  string(REPLACE ";" "," CRANE_SANITIZE_LIST "${CRANE_SANITIZE}")
  add_compile_options(-fsanitize=${CRANE_SANITIZE_LIST} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${CRANE_SANITIZE_LIST})
endif()

find_program(CRANE_CCACHE ccache)
if(CRANE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CRANE_CCACHE})
endif()

# crane_layer(NAME LINKS target...): static library crane_NAME from src/NAME, without main.cpp and
# without the kernel files, which get flags of their own.
function(crane_layer name)
  cmake_parse_arguments(ARG "" "" "LINKS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$|/cpu/isa/")
  set(links)
  foreach(link ${ARG_LINKS})
    if(TARGET crane_${link})
      list(APPEND links crane_${link})
    else()
      list(APPEND links ${link})
    endif()
  endforeach()
  if(sources)
    add_library(crane_${name} STATIC ${sources})
    target_compile_options(crane_${name} PRIVATE ${CRANE_WARNINGS})
    set(kind PUBLIC)
  else()
    add_library(crane_${name} INTERFACE)
    set(kind INTERFACE)
  endif()
  target_include_directories(crane_${name} ${kind} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(crane_${name} ${kind} ${links})
endfunction()

# src/backends/cpu/isa/*.cpp: the kernels once per instruction set, each with flags of its own; the
# rest of the program stays baseline.
function(crane_isa_kernels)
  set(generic)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    set(avx2 -mavx2 -mfma -mf16c)
    set(avx512 -mavx2 -mfma -mf16c -mavx512f -mavx512bw -mavx512vl -mavx512dq)
    set(avx512vnni ${avx512} -mavx512vnni)
    set(levels generic avx2 avx512 avx512vnni)
  else()
    set(levels generic)
  endif()
  foreach(level ${levels})
    set(source ${CMAKE_SOURCE_DIR}/src/backends/cpu/isa/${level}.cpp)
    if(NOT EXISTS ${source})
      continue()
    endif()
    add_library(crane_cpu_${level} OBJECT ${source})
    target_include_directories(crane_cpu_${level} PRIVATE ${CMAKE_SOURCE_DIR}/src)
    # -O3 in every build type: the tests would crawl on unoptimised kernels, and a sanitizer sees
    # the same accesses. GCC 12's AVX-512 headers warn about uninitialised values by themselves.
    target_compile_options(crane_cpu_${level} PRIVATE ${CRANE_WARNINGS} ${${level}} -O3
      -ffp-contract=off -Wno-unused-function
      $<$<CXX_COMPILER_ID:GNU>:-Wno-uninitialized -Wno-maybe-uninitialized>)
    target_sources(crane_backends PRIVATE $<TARGET_OBJECTS:crane_cpu_${level}>)
  endforeach()
endfunction()
