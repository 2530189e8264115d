#include "bench/peers/postgres_connection.h"

#include <poll.h>

#include <charconv>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <libpq-fe.h>

#include "base/check.h"

namespace cadastre::bench {
namespace {

using Seconds = std::chrono::duration<double>;
using SteadyClock = std::chrono::steady_clock;

constexpr int kBinary = 1;
constexpr int kAnswerMaxMs = 30'000;

// A statement's values as libpq wants them.
struct Values {
  explicit Values(const Statement& statement) {
    for (const auto& value : statement.values) {
      pointers.push_back(value ? value->data() : nullptr);
      lengths.push_back(value ? static_cast<int>(value->size()) : 0);
      formats.push_back(kBinary);
    }
  }
  [[nodiscard]] int count() const { return static_cast<int>(pointers.size()); }

  std::vector<const char*> pointers;
  std::vector<int> lengths;
  std::vector<int> formats;
};

bool is_good(const PGresult* result) {
  const ExecStatusType status = PQresultStatus(result);
  return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

Rows good_rows(PGresult* result) {
  CAD_CHECK(is_good(result), PQresultErrorMessage(result));
  return Rows(result);
}

// The talks that have a statement under way, and what ended so far.
class Round {
 public:
  explicit Round(const std::vector<std::unique_ptr<PostgresTalk>>& talks) {
    for (const auto& talk : talks) {
      sockets_.push_back({.fd = talk->connection().socket(), .events = POLLIN, .revents = 0});
      talks_.push_back(talk.get());
      talk->connection().send(talk->next());
    }
  }

  // Until then; returns how many operations ended meanwhile.
  std::uint64_t run(SteadyClock::time_point until) {
    std::uint64_t ended = 0;
    while (SteadyClock::now() < until)
      ended += step(Again::kYes);
    return ended;
  }
  void finish() {
    while (!talks_.empty())
      step(Again::kNo);
  }

 private:
  enum class Again : std::uint8_t {
    kNo,
    kYes
  };

  std::uint64_t step(Again again) {
    std::uint64_t ended = 0;
    CAD_CHECK(poll(sockets_.data(), sockets_.size(), kAnswerMaxMs) > 0, "PostgreSQL answers");
    for (std::size_t i = 0; i < talks_.size(); ++i) {
      if (sockets_[i].revents == 0) continue;
      const auto rows = talks_[i]->connection().receive();
      if (!rows) continue;
      const bool is_end = talks_[i]->answered(*rows);
      if (is_end) ++ended;
      if (is_end && again == Again::kNo) {
        std::swap(talks_[i], talks_.back());
        std::swap(sockets_[i], sockets_.back());
        talks_.pop_back();
        sockets_.pop_back();
        --i;
      } else {
        talks_[i]->connection().send(talks_[i]->next());
      }
    }
    return ended;
  }

  std::vector<pollfd> sockets_;
  std::vector<PostgresTalk*> talks_;
};

}  // namespace

std::string binary_of(std::int64_t value) {
  std::string out(sizeof value, '\0');
  for (std::size_t i = 0; i < out.size(); ++i)
    out[out.size() - 1 - i] = static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
  return out;
}

std::size_t Rows::changed() const {
  const std::string_view text = PQcmdTuples(result_.get());
  std::size_t count = 0;
  std::from_chars(text.data(), text.data() + text.size(), count);
  return count;
}

std::int64_t Rows::number(int column) const {
  CAD_CHECK(PQgetlength(result_.get(), 0, column) == sizeof(std::int64_t), "a column is an int8");
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof value; ++i)
    value = value << 8 | static_cast<unsigned char>(PQgetvalue(result_.get(), 0, column)[i]);
  return static_cast<std::int64_t>(value);
}

bool Rows::flag(int column) const {
  CAD_CHECK(PQgetlength(result_.get(), 0, column) == 1, "a column is a bool");
  return *PQgetvalue(result_.get(), 0, column) != 0;
}

std::optional<std::string> Rows::bytes(int column) const {
  if (PQgetisnull(result_.get(), 0, column) != 0) return std::nullopt;
  return std::string(PQgetvalue(result_.get(), 0, column),
                     static_cast<std::size_t>(PQgetlength(result_.get(), 0, column)));
}

PostgresConnection::PostgresConnection(const std::string& connection_text)
    : connection_(PQconnectdb(connection_text.c_str())) {
  CAD_CHECK(PQstatus(connection_.get()) == CONNECTION_OK, PQerrorMessage(connection_.get()));
}

void PostgresConnection::execute(const std::string& text) {
  good_rows(PQexec(connection_.get(), text.c_str()));
}

void PostgresConnection::prepare(const char* name, const std::string& text) {
  good_rows(PQprepare(connection_.get(), name, text.c_str(), 0, nullptr));
}

Rows PostgresConnection::call(const Statement& statement) {
  const Values values(statement);
  return good_rows(PQexecPrepared(connection_.get(), statement.name, values.count(),
                                  values.pointers.data(), values.lengths.data(),
                                  values.formats.data(), kBinary));
}

void PostgresConnection::send(const Statement& statement) {
  const Values values(statement);
  CAD_CHECK(
      PQsendQueryPrepared(connection_.get(), statement.name, values.count(), values.pointers.data(),
                          values.lengths.data(), values.formats.data(), kBinary) == 1,
      PQerrorMessage(connection_.get()));
}

std::optional<Rows> PostgresConnection::receive() {
  CAD_CHECK(PQconsumeInput(connection_.get()) == 1, PQerrorMessage(connection_.get()));
  if (PQisBusy(connection_.get()) != 0) return std::nullopt;
  std::optional<Rows> rows = good_rows(PQgetResult(connection_.get()));
  CAD_CHECK(PQgetResult(connection_.get()) == nullptr, "one statement has one result");
  return rows;
}

double run_talks(const std::vector<std::unique_ptr<PostgresTalk>>& talks, double seconds) {
  const auto in = [](double wait) {
    return SteadyClock::now() + std::chrono::duration_cast<SteadyClock::duration>(Seconds(wait));
  };
  Round round(talks);
  round.run(in(seconds / 5));
  const auto started = SteadyClock::now();
  const std::uint64_t ended = round.run(in(seconds));
  const double rate = static_cast<double>(ended) / Seconds(SteadyClock::now() - started).count();
  round.finish();
  return rate;
}

}  // namespace cadastre::bench
