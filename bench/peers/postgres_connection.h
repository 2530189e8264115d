// A connection to PostgreSQL with prepared statements and binary values, and closed loops over many of them.
// A statement that fails ends the process.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <libpq-fe.h>

namespace cadastre::bench {

// A prepared statement with its values, as they go on the wire.
struct Statement {
  const char* name;  // Outlives it.
  std::vector<std::optional<std::string>> values;
};

[[nodiscard]] std::string binary_of(std::int64_t value);
[[nodiscard]] inline std::string binary_of(std::string_view bytes) {
  return std::string(bytes);
}

// Rows of binary values.
class Rows {
 public:
  explicit Rows(PGresult* result) : result_(result) {}

  [[nodiscard]] bool is_empty() const { return PQntuples(result_.get()) == 0; }
  [[nodiscard]] std::size_t changed() const;  // by an update
  // Of the first row.
  [[nodiscard]] std::int64_t number(int column) const;
  [[nodiscard]] bool flag(int column) const;
  [[nodiscard]] std::optional<std::string> bytes(int column) const;

 private:
  struct Clear {
    void operator()(PGresult* result) const noexcept { PQclear(result); }
  };
  std::unique_ptr<PGresult, Clear> result_;
};

// For one thread.
class PostgresConnection {
 public:
  explicit PostgresConnection(const std::string& connection_text);

  // Text without values.
  void execute(const std::string& text);
  void prepare(const char* name, const std::string& text);
  // Sends and waits.
  Rows call(const Statement& statement);

  // Sends; `receive` has the rows once they are here, and nothing before.
  void send(const Statement& statement);
  [[nodiscard]] std::optional<Rows> receive();
  [[nodiscard]] int socket() const { return PQsocket(connection_.get()); }

 private:
  struct Finish {
    void operator()(PGconn* connection) const noexcept { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> connection_;
};

// What one connection says, statement after statement.
class PostgresTalk {
 public:
  PostgresTalk() = default;
  PostgresTalk(const PostgresTalk&) = delete;
  PostgresTalk& operator=(const PostgresTalk&) = delete;
  virtual ~PostgresTalk() = default;

  [[nodiscard]] virtual PostgresConnection& connection() = 0;
  [[nodiscard]] virtual Statement next() = 0;
  // True if this ends an operation.
  [[nodiscard]] virtual bool answered(const Rows& rows) = 0;
};

// Operations per second of all talks at once, after a warm-up of a fifth of the time. One thread waits for all
// sockets, as PostgreSQL's own load generator does.
[[nodiscard]] double run_talks(const std::vector<std::unique_ptr<PostgresTalk>>& talks,
                               double seconds);

}  // namespace cadastre::bench
