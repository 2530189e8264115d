// A file with a secret in it: tokens, a private key. Read only if nobody but its owner may.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace cadastre::server {

enum class PrivateFileError : std::uint8_t {
  kUnreadable,  // It is not there, not a plain file, or longer than asked for.
  kExposed,     // Its group or others have rights on it: chmod 600.
};

// Whole, at most `bytes_max`. The permissions are those of the file that is read, not of a name.
[[nodiscard]] base::Result<std::string, PrivateFileError> read_private_file(const char* path,
                                                                            std::size_t bytes_max);
// The same for a file that others may read, such as a certificate.
[[nodiscard]] base::Result<std::string, PrivateFileError> read_public_file(const char* path,
                                                                           std::size_t bytes_max);

}  // namespace cadastre::server
