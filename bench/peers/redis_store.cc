#include "bench/peers/redis_store.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <hiredis/hiredis.h>

#include "base/check.h"
#include "bench/peers/process_io.h"
#include "bench/peers/redis_server.h"
#include "bench/peers/set_store.h"

namespace cadastre::bench {
namespace {

constexpr std::size_t kIdsPerCommand = 1000;
constexpr std::chrono::minutes kLogTimeout{2};

std::string to_decimal(Id id) {
  return std::to_string(id.value());
}

Id to_id(const redisReply* text) {
  std::uint64_t value = 0;
  const auto read = std::from_chars(text->str, text->str + text->len, value);
  CAD_CHECK(read.ec == std::errc(), "a member is a number");
  return Id{value};
}

std::span<redisReply*> elements(const redisReply* array) {
  return {array->element, array->elements};
}

class RedisReader final : public SetReader {
 public:
  explicit RedisReader(const std::string& socket_path) : connection_(socket_path) {}

  void renew() override {}  // There are no snapshots.
  [[nodiscard]] bool contains(std::string_view key, Id id) override {
    const std::string member = to_decimal(id);
    return connection_.call({"SISMEMBER", key, member})->integer == 1;
  }

  [[nodiscard]] std::uint64_t count_present(std::string_view key,
                                            std::span<const Id> ids) override {
    std::uint64_t present = 0;
    while (!ids.empty()) {
      const auto some = ids.first(std::min(ids.size(), kIdsPerCommand));
      std::vector<std::string> members;
      std::ranges::transform(some, std::back_inserter(members), to_decimal);
      std::vector<std::string_view> words = {"SMISMEMBER", key};
      words.insert(words.end(), members.begin(), members.end());
      const auto reply = connection_.call(words);
      present += static_cast<std::uint64_t>(std::ranges::count_if(
          elements(reply.get()), [](const redisReply* one) { return one->integer == 1; }));
      ids = ids.subspan(some.size());
    }
    return present;
  }

  [[nodiscard]] std::uint64_t count(std::string_view key) override {
    return static_cast<std::uint64_t>(connection_.call({"SCARD", key})->integer);
  }

  // In no order; while nobody writes, each id once or more: a table that shrinks is walked twice.
  void stream(std::string_view key, IdRange range, VisitIds visit) override {
    std::string cursor = "0";
    std::vector<Id> block;
    do {
      const auto reply = connection_.call({"SSCAN", key, cursor, "COUNT", "10000"});
      cursor.assign(reply->element[0]->str, reply->element[0]->len);
      block.clear();
      for (const redisReply* member : elements(reply->element[1])) {
        const Id id = to_id(member);
        if (range.contains(id)) block.push_back(id);
      }
      if (!block.empty()) visit(block);
    } while (cursor != "0" && !gives_up());
  }

  [[nodiscard]] std::uint64_t intersection_count(std::string_view a, std::string_view b) override {
    return static_cast<std::uint64_t>(connection_.call({"SINTERCARD", "2", a, b})->integer);
  }

 private:
  RedisConnection connection_;
};

}  // namespace

std::string redis_version() {
  struct Close {
    void operator()(std::FILE* pipe) const noexcept { pclose(pipe); }
  };
  const std::unique_ptr<std::FILE, Close> pipe(popen("redis-server --version", "r"));
  std::array<char, 256> line{};
  CAD_CHECK(pipe != nullptr && std::fgets(line.data(), line.size(), pipe.get()) != nullptr,
            "redis-server is installed");
  const std::string_view text(line.data());  // Redis server v=7.0.15 sha=...
  const std::size_t at = text.find("v=") + 2;
  return std::string(text.substr(at, text.find(' ', at) - at));
}

RedisStore::RedisStore(const std::string& directory)
    : directory_(directory), server_(directory), connection_(server_.socket_path()) {}

void RedisStore::begin() {
  commands_.clear();
}

void RedisStore::queue(std::string_view command, std::string_view key, std::span<const Id> ids) {
  while (!ids.empty()) {
    const auto some = ids.first(std::min(ids.size(), kIdsPerCommand));
    Command& added = commands_.emplace_back(command, std::string(key));
    added.ids.reserve(some.size());
    std::ranges::transform(some, std::back_inserter(added.ids), to_decimal);
    ids = ids.subspan(some.size());
  }
}

void RedisStore::insert(std::string_view key, Id id) {
  queue("SADD", key, {&id, 1});
}

void RedisStore::insert_many(std::string_view key, std::span<const Id> ids) {
  queue("SADD", key, ids);
}

void RedisStore::remove_many(std::string_view key, std::span<const Id> ids) {
  queue("SREM", key, ids);
}

void RedisStore::send(const Command& command) {
  std::vector<std::string_view> words = {command.name, command.key};
  words.insert(words.end(), command.ids.begin(), command.ids.end());
  connection_.send(words);
}

void RedisStore::commit() {
  const bool alone = commands_.size() == 1;  // One command is a transaction as it is.
  if (!alone) connection_.send({"MULTI"});
  for (const Command& command : commands_)
    send(command);
  if (!alone) connection_.send({"EXEC"});
  const std::size_t replies = commands_.size() + (alone ? 0 : 2);
  for (std::size_t i = 0; i < replies; ++i)
    (void)connection_.receive();
  commands_.clear();
}

std::string RedisStore::info(std::string_view section, std::string_view field) {
  const auto reply = connection_.call({"INFO", section});
  const std::string_view text(reply->str, reply->len);
  const std::string wanted = "\n" + std::string(field) + ":";
  const std::size_t at = text.find(wanted);
  CAD_CHECK(at != std::string_view::npos, "the server knows the field");
  const std::string_view rest = text.substr(at + wanted.size());
  return std::string(rest.substr(0, rest.find('\r')));
}

// The file begins with all that is in memory, written by a child of the server.
void RedisStore::wait_for_log() {
  const auto deadline = std::chrono::steady_clock::now() + kLogTimeout;
  while (info("persistence", "aof_rewrite_in_progress") != "0" ||
         info("persistence", "aof_rewrite_scheduled") != "0") {
    CAD_CHECK(std::chrono::steady_clock::now() < deadline, "the server writes its file");
    connection_.call({"BLPOP", "nothing", "0.05"});  // Seconds that the server keeps us waiting.
  }
}

void RedisStore::set_durability(Durability durability) {
  const bool is_sync = durability == Durability::kSync;
  connection_.call({"CONFIG", "SET", "appendfsync", is_sync ? "always" : "no"});
  connection_.call({"CONFIG", "SET", "appendonly", is_sync ? "yes" : "no"});
  wait_for_log();
}

std::unique_ptr<SetReader> RedisStore::reader() {
  return std::make_unique<RedisReader>(server_.socket_path());
}

Space RedisStore::space() {
  const std::string used = info("memory", "used_memory");
  return {.file_bytes = directory_bytes(directory_), .live_bytes = std::stoull(used)};
}

std::uint64_t RedisStore::bytes_written() const {
  return bytes_handed_over(std::to_string(server_.pid()));
}

}  // namespace cadastre::bench
