// cadastre: the one binary. Everything it does is in the room `cli`.

#include <csignal>

#include "cli/main.h"

int main(int argc, char** argv) {
  // A reader that has gone shows as a failed write, which every writer handles.
  // NOLINTNEXTLINE(misc-include-cleaner): glibc defines SIGPIPE in a private header
  if (std::signal(SIGPIPE, SIG_IGN) == SIG_ERR) return 1;
  return cadastre::cli::run(argc, argv);
}
