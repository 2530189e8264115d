// cadastre: the one binary. Everything it does is in the room `cli`.

#include "cli/main.h"

int main(int argc, char** argv) {
  return cadastre::cli::run(argc, argv);
}
