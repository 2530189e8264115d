// Why a listener did not start.

#pragma once

#include <cstdint>

namespace cadastre::server {

enum class StartError : std::uint8_t {
  kBadAddress,    // HOST:PORT is asked for, with a numeric port.
  kNotLoopback,   // Another address than loopback needs TLS, or --insecure.
  kBadTls,        // A certificate or key cannot be read or used; the detail names it.
  kCannotListen,  // The port is taken, or the address is not this machine's.
};

}  // namespace cadastre::server
