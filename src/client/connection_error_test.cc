#include "client/connection_error.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "client/wire_error.h"
#include "coord/errors.h"
#include "coord/identity_testing.h"

namespace cadastre::client {
namespace {

using Kind = coord::InfraError::Kind;

struct Case {
  std::string_view what;
  std::string message;
  std::optional<Kind> kind;
  std::string_view advice;
};

TEST(ConnectionError, SaysWhatToDo) {
  const std::string none = "failed to connect to all addresses; last error: ";
  const std::vector<Case> cases = {
      {"another authority", none + "UNKNOWN: a: Ssl handshake failed: certificate verify failed",
       Kind::kRefused, "name the authority"},
      {"another name", none + "UNKNOWN: a: Peer name b is not in peer certificate", Kind::kRefused,
       "a name that it holds"},
      {"a plain server", none + "UNKNOWN: a: Ssl handshake failed: wrong version number",
       Kind::kRefused, "connect without"},
      {"a server that hangs up", none + "UNAVAILABLE: a: Socket closed", Kind::kTransient,
       "client certificate"},
      {"files that are no PEM", "empty address list: ", Kind::kRefused, "PEM"},
      {"nobody there", none + "UNKNOWN: a: Connection refused", std::nullopt, ""},
      {"an answer with such words", "certificate verify failed", std::nullopt, ""},
      {"nothing", "", std::nullopt, ""},
  };
  for (const Case& row : cases) {
    const auto error = connection_error(row.message);
    ASSERT_EQ(error.has_value(), row.kind.has_value()) << row.what;
    if (!error) continue;
    EXPECT_EQ(error->kind, *row.kind) << row.what;
    EXPECT_TRUE(error->message.contains(row.advice)) << row.what << ": " << error->message;
  }
}

// A status that nobody but gRPC itself made.
TEST(ConnectionError, IsWhatAnUnavailableStatusMeans) {
  const auto tenant = coord::testing::tenant_of(1);
  const std::string message = "failed to connect to all addresses; is not in peer certificate";
  const AnyError unavailable = from_status({StatusCode::kUnavailable, message, ""}, tenant);
  EXPECT_EQ(unavailable.get_if<coord::InfraError>()->kind, Kind::kRefused);
  const AnyError unknown = from_status({StatusCode::kUnknown, message, ""}, tenant);
  EXPECT_EQ(unknown.get_if<coord::InfraError>()->kind, Kind::kTransient);
}

}  // namespace
}  // namespace cadastre::client
