// First process of the emulated machine that tools/emulate_avx512 starts: runs one program, sends
// its output to the first serial port and its exit status to the second, then switches the machine
// off.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

enum { kMaxStrings = 1024, kMaxBytes = 1 << 18 };

// Reads a file of NUL-terminated strings; the vector returned ends with a null pointer.
static char** read_strings(const char* path) {
  static char* none[] = {NULL};
  char** strings = calloc(kMaxStrings + 1, sizeof *strings);
  char* bytes = calloc(kMaxBytes + 1, 1);
  FILE* file = fopen(path, "rb");
  if (file == NULL || strings == NULL || bytes == NULL) return none;
  const size_t size = fread(bytes, 1, kMaxBytes, file);
  fclose(file);
  size_t count = 0;
  for (size_t at = 0; at < size && count < kMaxStrings; at += strlen(bytes + at) + 1) {
    strings[count++] = bytes + at;
  }
  return strings;
}

// Opens a serial port that passes bytes through unchanged.
static int open_serial(const char* path) {
  const int port = open(path, O_RDWR | O_NOCTTY);
  struct termios settings;
  if (port >= 0 && tcgetattr(port, &settings) == 0) {
    cfmakeraw(&settings);
    settings.c_cflag |= CLOCAL;
    cfsetspeed(&settings, B115200);
    tcsetattr(port, TCSANOW, &settings);
  }
  return port;
}

static int run_program(int output) {
  char** arguments = read_strings("/emulator/arguments");
  char** environment = read_strings("/emulator/environment");
  if (arguments[0] == NULL) return 125;
  const pid_t child = fork();
  if (child == 0) {
    dup2(open("/dev/null", O_RDONLY), 0);
    dup2(output, 1);
    dup2(output, 2);
    execve("/emulator/program", arguments, environment);
    dprintf(2, "emulator: cannot start %s: %s\n", arguments[0], strerror(errno));
    _exit(126);
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(void) {
  mkdir("/dev", 0755);
  mkdir("/proc", 0755);
  mkdir("/sys", 0755);
  mkdir("/tmp", 01777);
  mount("devtmpfs", "/dev", "devtmpfs", 0, NULL);
  mount("proc", "/proc", "proc", 0, NULL);
  mount("sysfs", "/sys", "sysfs", 0, NULL);
  const int output = open_serial("/dev/ttyS0");
  const int report = open_serial("/dev/ttyS1");
  dprintf(report, "emulator: started\n");
  const int status = run_program(output);
  tcdrain(output);
  dprintf(report, "emulator: status %d\n", status);
  tcdrain(report);
  // Bochs ends when the word "Shutdown" is written to this port.
  if (ioperm(0x8900, 1, 1) == 0) {
    for (const char* letter = "Shutdown"; *letter != '\0'; ++letter) outb(*letter, 0x8900);
  }
  for (;;) pause();
}
