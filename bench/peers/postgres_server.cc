#include "bench/peers/postgres_server.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>  // NOLINT(modernize-deprecated-headers): kill is POSIX's
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>

#include "base/check.h"
#include "base/signal.h"

namespace cadastre::bench {
namespace {

constexpr std::chrono::seconds kReadyMax{60};
constexpr std::chrono::milliseconds kReadyStep{20};
constexpr int kEndMaxMs = 30'000;
constexpr const char* kUser = "postgres";
constexpr std::string_view kSocketName = "/.s.PGSQL.5432";

// The newest of Debian's versions, or nothing.
std::optional<std::filesystem::path> programs() {
  std::optional<std::filesystem::path> newest;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    const std::filesystem::path bin = entry.path() / "bin";
    if (access((bin / "initdb").c_str(), X_OK) == 0) newest = std::max(newest, std::optional(bin));
  }
  return newest;
}

struct Account {
  uid_t user;
  gid_t group;
};

// Whom the server runs as; nothing if there is nobody.
std::optional<Account> account() {
  if (geteuid() != 0) return Account{geteuid(), getegid()};
  passwd entry{};
  passwd* found = nullptr;
  std::array<char, 4096> text{};
  if (getpwnam_r(kUser, &entry, text.data(), text.size(), &found) != 0 || found == nullptr)
    return std::nullopt;
  return Account{entry.pw_uid, entry.pw_gid};
}

// The words and where they are said: made before the fork, since nothing may be allocated after it.
struct Command {
  Command(std::vector<std::string> said, std::filesystem::path in)
      : words(std::move(said)), directory(std::move(in)), output(directory / "output.txt") {
    for (std::string& word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
  }

  std::vector<std::string> words;
  std::filesystem::path directory;
  std::filesystem::path output;
  std::vector<char*> arguments;
};

// Becomes the program, or ends. Only calls that are safe between fork and exec.
[[noreturn]] void become(const Command& command, const Account& who, pid_t parent) {
  setpgid(0, 0);
  if (geteuid() == 0) {
    if (setgroups(0, nullptr) != 0 || setgid(who.group) != 0 || setuid(who.user) != 0) _exit(1);
  }
  // After the change of user, which would clear it.
  // NOLINTNEXTLINE(misc-include-cleaner): documented to come from <sys/prctl.h>
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const int output =
      open(command.output.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (output < 0 || dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0) _exit(1);
  if (chdir(command.directory.c_str()) != 0) _exit(1);
  execv(command.arguments.front(), command.arguments.data());
  _exit(1);
}

pid_t start(const Command& command) {
  const auto who = account();
  CAD_CHECK(who.has_value(), "the caller asked for obstacles");
  const pid_t parent = getpid();
  const pid_t pid = fork();
  CAD_CHECK(pid >= 0, "a process can be started");
  if (pid == 0) become(command, *who, parent);
  return pid;
}

bool run_to_its_end(const Command& command) {
  int status = 0;
  const pid_t pid = start(command);
  CAD_CHECK(waitpid(pid, &status, 0) == pid, "a child ends");
  // NOLINTNEXTLINE(misc-include-cleaner): documented to come from <sys/wait.h>
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

void make_cluster(const std::filesystem::path& directory, const std::filesystem::path& data) {
  const auto who = account();
  CAD_CHECK(chown(directory.c_str(), who->user, who->group) == 0, "the directory is ours to give");
  std::filesystem::permissions(directory, std::filesystem::perms::owner_all);
  const Command initdb(
      {(*programs() / "initdb").string(), "--auth=trust", "--encoding=UTF8", "--locale=C",
       fmt::format("--username={}", kUser), "--pgdata=" + data.string()},
      directory);
  CAD_CHECK(run_to_its_end(initdb), "initdb makes a cluster in an empty directory");
}

}  // namespace

PostgresServer::PostgresServer(const std::filesystem::path& directory,
                               std::size_t connections_max) {
  const std::filesystem::path data = directory / "data";
  if (!std::filesystem::exists(data / "PG_VERSION")) make_cluster(directory, data);
  std::filesystem::remove(data / "postmaster.pid");  // Of one that was killed.
  std::vector<std::string> words{(*programs() / "postgres").string(), "-D", data.string()};
  for (
      const std::string& setting :
      {std::string("listen_addresses="), "unix_socket_directories=" + directory.string(),
       fmt::format("max_connections={}", connections_max),
       // Every commit is synced, pages survive torn writes: the guarantees that ours has.
       std::string("fsync=on"), std::string("synchronous_commit=on"),
       std::string("full_page_writes=on"),
       // What a careful operator changes: memory, and no checkpoint in the middle of a measurement.
       std::string("shared_buffers=256MB"), std::string("wal_buffers=16MB"),
       std::string("max_wal_size=4GB"), std::string("checkpoint_timeout=30min"),
       std::string("jit=off"), std::string("max_parallel_workers_per_gather=0"),
       std::string("autovacuum_naptime=10s"), std::string("log_min_messages=fatal")}) {
    words.emplace_back("-c");
    words.push_back(setting);
  }
  connection_text_ = fmt::format("host={} user={} dbname=postgres", directory.string(), kUser);
  pid_ = start(Command(std::move(words), directory));
  wait_until_ready();
}

PostgresServer::~PostgresServer() {
  if (pid_ == 0) return;
  kill(pid_, SIGQUIT);  // It ends its own children at once; nothing of it is needed any more.
  waitpid(pid_, nullptr, 0);
}

void PostgresServer::kill_at_once() {
  // Each child leads a process group of its own. Handles, since ids could be given to others.
  std::vector<int> children;
  std::ifstream list(fmt::format("/proc/{0}/task/{0}/children", pid_));
  for (pid_t child = 0; list >> child;) {
    const auto handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
    if (handle >= 0) children.push_back(handle);
  }
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
  for (const int child : children) {
    syscall(SYS_pidfd_send_signal, child, SIGKILL, nullptr, 0);
    pollfd ended{.fd = child, .events = POLLIN, .revents = 0};
    CAD_CHECK(poll(&ended, 1, kEndMaxMs) == 1, "a killed process ends");
    close(child);
  }
}

void PostgresServer::wait_until_ready() const {
  const auto until = std::chrono::steady_clock::now() + kReadyMax;
  while (PQping(connection_text_.c_str()) != PQPING_OK) {
    CAD_CHECK(std::chrono::steady_clock::now() < until, "PostgreSQL starts: see its output.txt");
    // NOLINTNEXTLINE(misc-include-cleaner): documented to come from <sys/wait.h>
    CAD_CHECK(waitpid(pid_, nullptr, WNOHANG) == 0, "PostgreSQL stays up: see its output.txt");
    base::Signal().wait_for(kReadyStep);
  }
}

std::optional<std::string> PostgresServer::obstacle(const std::filesystem::path& directory) {
  if (!programs()) return "postgresql is not installed";
  const auto who = account();
  if (!who) return fmt::format("no user {} to run it as", kUser);
  if (directory.string().size() + kSocketName.size() >= sizeof(sockaddr_un::sun_path))
    return "the directory's name is too long for a Unix socket";
  if (geteuid() != 0) return std::nullopt;
  for (std::filesystem::path at = directory.parent_path();; at = at.parent_path()) {
    const auto mode = std::filesystem::status(at).permissions();
    if ((mode & std::filesystem::perms::others_exec) == std::filesystem::perms::none)
      return fmt::format("user {} cannot reach {}", kUser, at.string());
    if (at == at.root_path()) return std::nullopt;
  }
}

std::string PostgresServer::version() {
  const int number = PQlibVersion();
  return fmt::format("PostgreSQL {}.{}", number / 10'000, number % 10'000);
}

}  // namespace cadastre::bench
