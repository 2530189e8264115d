// TestAuthority: keys and certificates for tests of TLS, made by openssl in a directory of their own.
//
//   const TestAuthority authority;
//   authority.sign("server", "IP:127.0.0.1,DNS:localhost");
//   … authority.certificate("server"), authority.key("server"), authority.certificate("authority")
//
// Its own name is `authority`.

#pragma once

#include <cstdlib>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "base/check.h"
#include "log/storage/directory_testing.h"

namespace cadastre {

class TestAuthority {
 public:
  TestAuthority() { make("authority", ""); }

  // By this authority, for these names (subjectAltName).
  void sign(std::string_view name, std::string_view names) const {
    make(name, fmt::format("-CA authority.pem -CAkey authority.key -addext subjectAltName={} "
                           "-addext basicConstraints=critical,CA:FALSE",
                           names));
  }
  // By itself: nobody trusts it who does not name it.
  void sign_itself(std::string_view name, std::string_view names) const {
    make(name, fmt::format("-addext subjectAltName={}", names));
  }

  // PEM.
  [[nodiscard]] std::string certificate(std::string_view name) const {
    return log::bytes_of(directory_.path() / fmt::format("{}.pem", name));
  }
  [[nodiscard]] std::string key(std::string_view name) const {
    return log::bytes_of(directory_.path() / fmt::format("{}.key", name));
  }

 private:
  void make(std::string_view name, std::string_view more) const {
    const std::string line = fmt::format(
        "cd '{}' && openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 "
        "-subj /CN={} -keyout {}.key -out {}.pem {} >>openssl.log 2>&1",
        directory_.path().string(), name, name, name, more);
    // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing else runs while certificates are made
    CAD_CHECK(std::system(line.c_str()) == 0, "openssl makes the test's certificates");
  }

  const log::ScratchDirectory directory_;
};

}  // namespace cadastre
