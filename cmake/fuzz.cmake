# libFuzzer targets of tests/fuzz, for parsers of foreign bytes. Not part of any ordinary build:
#   cmake -S . -B build/fuzz -G Ninja -DCMAKE_CXX_COMPILER=clang++-14 -DCMAKE_C_COMPILER=clang-14 \
#     -DCRANE_BUILD_FUZZ=ON "-DCRANE_SANITIZE=address;undefined;fuzzer-no-link"
#   ninja -C build/fuzz fuzz_gguf && build/fuzz/bin/fuzz_gguf -max_total_time=300 CORPUS tests/fuzz/seeds/gguf
# A found input joins tests/fuzz/seeds and, as a case with its message, the tests of the reader.
option(CRANE_BUILD_FUZZ "Build the fuzz targets (needs clang)" OFF)
if(NOT CRANE_BUILD_FUZZ)
  return()
endif()
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang" OR NOT "fuzzer-no-link" IN_LIST CRANE_SANITIZE)
  message(FATAL_ERROR "CRANE_BUILD_FUZZ needs clang and "
                      "-DCRANE_SANITIZE=address;undefined;fuzzer-no-link")
endif()

function(crane_fuzz name)
  add_executable(fuzz_${name} ${CMAKE_SOURCE_DIR}/tests/fuzz/${name}_fuzz.cpp)
  target_compile_options(fuzz_${name} PRIVATE ${CRANE_WARNINGS})
  target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(fuzz_${name} PRIVATE ${ARGN})
endfunction()
crane_fuzz(gguf crane_io)
crane_fuzz(safetensors crane_io)
crane_fuzz(json crane_base)
