// The command line's entry: parse, run one command, answer with its exit status.
//
// 0: success. 1: the operation was refused or failed. 2: wrong usage. docs/cli.md has the contract.
// The caller has SIGPIPE ignored: a reader that has gone ends the run with status 1 and no words.

#pragma once

namespace cadastre::cli {

[[nodiscard]] int run(int argc, char** argv);

}  // namespace cadastre::cli
