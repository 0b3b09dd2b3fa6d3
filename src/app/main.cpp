#include <string>
#include <vector>

#include "app/program.h"

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return crane::run_program(arguments, crane::process_environment());
}
