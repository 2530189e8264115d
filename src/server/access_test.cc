#include "server/access.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "base/bytes.h"
#include "base/random.h"
#include "coord/identity.h"
#include "coord/tenant_name.h"
#include "server/current_access.h"
#include "server/limits.h"

namespace cadastre::server {
namespace {

constexpr std::string_view kTable =
    "# workers\n"
    "\n"
    "token-of-acme-0001 acme\n"
    "token-of-both-0002\tacme  other\r\n"
    "token-by-id-000003 0000000000000000000000000000000000000000000000000000000000000007\n";

Result<AccessTable, TokenFileError> parse(std::string_view text) {
  base::SeededRandom random(1);
  return AccessTable::parse(text, random);
}

TEST(AccessTable, ATokenSpeaksForItsTenantsOnly) {
  const auto table = parse(kTable);
  ASSERT_TRUE(table);
  const coord::TenantId acme = coord::tenant_named("acme");
  const coord::TenantId other = coord::tenant_named("other");
  coord::TenantId::Bytes seven{};
  seven.back() = std::byte{7};
  struct Case {
    std::string_view what;
    std::string_view header;
    coord::TenantId tenant;
    Access expected;
  };
  const Case cases[] = {
      {"its own tenant", "Bearer token-of-acme-0001", acme, Access::kAllowed},
      {"another tenant", "Bearer token-of-acme-0001", other, Access::kDenied},
      {"a tenant that nobody has", "Bearer token-of-acme-0001", coord::tenant_named("none"),
       Access::kDenied},
      {"the first of two", "Bearer token-of-both-0002", acme, Access::kAllowed},
      {"the second of two", "Bearer token-of-both-0002", other, Access::kAllowed},
      {"a tenant by its id", "Bearer token-by-id-000003", coord::TenantId::from_bytes(seven),
       Access::kAllowed},
      {"no header", "", acme, Access::kUnauthenticated},
      {"no scheme", "token-of-acme-0001", acme, Access::kUnauthenticated},
      {"another scheme", "Basic token-of-acme-0001", acme, Access::kUnauthenticated},
      {"a prefix of a token", "Bearer token-of-acme-000", acme, Access::kUnauthenticated},
      {"a token and more", "Bearer token-of-acme-0001 ", acme, Access::kUnauthenticated},
      {"an empty token", "Bearer ", acme, Access::kUnauthenticated},
  };
  for (const Case& one : cases)
    EXPECT_EQ(table->decide(one.header, one.tenant), one.expected) << one.what;
  EXPECT_EQ(table->decide("Bearer " + std::string(kTokenBytesMax + 1, 'x'), acme),
            Access::kUnauthenticated);
}

TEST(AccessTable, WithoutTokensEverybodyMay) {
  EXPECT_EQ(AccessTable::open_to_all().decide("", coord::tenant_named("acme")), Access::kAllowed);
}

TEST(AccessTable, AMalformedFileNamesTheLineAndNotItsContent) {
  struct Case {
    std::string_view text;
    std::string_view place;
  };
  const Case cases[] = {
      {"", "line 0"},
      {"# nothing\n", "line 0"},
      {"short acme\n", "line 1"},
      {"\ntoken-of-acme-0001\n", "line 2"},
      {"token-of-acme-0001 acme\ntoken-of-acme-0001 other\n", "line 0"},
  };
  for (const Case& one : cases) {
    const auto table = parse(one.text);
    ASSERT_FALSE(table) << one.text;
    EXPECT_EQ(table.error().code, TokenFileError::kMalformed);
    EXPECT_TRUE(table.error().detail.starts_with(one.place)) << table.error().detail;
    EXPECT_EQ(table.error().detail.find("acme"), std::string::npos);
  }
}

class TokenFile : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = testing::TempDir() + "token_file_" + std::to_string(::getpid());
    std::filesystem::create_directories(directory_);
    path_ = directory_ + "/tokens";
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void write(std::string_view text, mode_t mode) {
    std::ofstream(path_) << text;
    ASSERT_EQ(::chmod(path_.c_str(), mode), 0);
  }
  [[nodiscard]] TokenFileError error() {
    base::SeededRandom random(1);
    const auto table = read_token_file(path_.c_str(), random);
    return table ? TokenFileError{255} : table.error().code;
  }

  std::string directory_;
  std::string path_;
};

TEST_F(TokenFile, IsReadOnlyIfNobodyElseMay) {
  for (const mode_t mode : {0640U, 0604U, 0644U, 0660U, 0610U}) {
    write(kTable, mode);
    EXPECT_EQ(error(), TokenFileError::kExposed) << std::oct << mode;
  }
  write(kTable, 0600);
  EXPECT_EQ(error(), TokenFileError{255});
  write(kTable, 0400);
  EXPECT_EQ(error(), TokenFileError{255});
}

TEST(CurrentAccess, DecidesByTheTableInForce) {
  base::SeededRandom random(1);
  const auto table = [&random](std::string_view text) {
    return AccessTable::parse(text, random).value();
  };
  const auto acme = *tenant_of_word("acme");
  CurrentAccess access(table("0123456789abcdef acme"));
  EXPECT_EQ(access.decide("Bearer 0123456789abcdef", acme), Access::kAllowed);
  access.replace(table("fedcba9876543210 acme\n0123456789abcdef other"));
  EXPECT_EQ(access.decide("Bearer 0123456789abcdef", acme), Access::kDenied);
  EXPECT_EQ(access.decide("Bearer fedcba9876543210", acme), Access::kAllowed);
  EXPECT_TRUE(access.needs_token());
  EXPECT_EQ(CurrentAccess(AccessTable::open_to_all()).decide("", acme), Access::kAllowed);
}

TEST_F(TokenFile, ThatIsNoneOrTooLargeIsRefused) {
  EXPECT_EQ(error(), TokenFileError::kUnreadable) << "not there";
  write(std::string(kTokenFileBytesMax + 1, '#'), 0600);
  EXPECT_EQ(error(), TokenFileError::kUnreadable);
  path_ = directory_;
  EXPECT_EQ(error(), TokenFileError::kUnreadable) << "a directory";
}

}  // namespace
}  // namespace cadastre::server
