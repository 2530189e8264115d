// RedisStore: Redis sets, over a Unix socket. In memory; for the durable figures with its append-only
// file, flushed with every commit. Commands of a transaction go out together, between MULTI and EXEC.

#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/peers/redis_server.h"
#include "bench/peers/set_store.h"

namespace cadastre::bench {

// Of the server that is installed; it is asked itself.
[[nodiscard]] std::string redis_version();

class RedisStore final : public SetStore {
 public:
  explicit RedisStore(const std::string& directory);

  [[nodiscard]] std::string_view name() const override { return "Redis over a socket"; }
  void begin() override;
  void insert(std::string_view key, Id id) override;
  void insert_many(std::string_view key, std::span<const Id> ids) override;
  void remove_many(std::string_view key, std::span<const Id> ids) override;
  void commit() override;
  void set_durability(Durability durability) override;
  [[nodiscard]] bool can_compact() const override { return false; }
  void compact(std::string_view) override {}
  [[nodiscard]] std::unique_ptr<SetReader> reader() override;
  // The append-only file, if there is one; live is what the server has in memory.
  [[nodiscard]] Space space() override;
  [[nodiscard]] std::uint64_t bytes_written() const override;

 private:
  struct Command {
    std::string_view name;  // SADD or SREM
    std::string key;
    std::vector<std::string> ids;
  };

  void queue(std::string_view command, std::string_view key, std::span<const Id> ids);
  void send(const Command& command);
  [[nodiscard]] std::string info(std::string_view section, std::string_view field);
  void wait_for_log();

  std::string directory_;
  RedisServer server_;
  RedisConnection connection_;
  std::vector<Command> commands_;  // Of the transaction.
};

}  // namespace cadastre::bench
