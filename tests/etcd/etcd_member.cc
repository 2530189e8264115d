#include "tests/etcd/etcd_member.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <stdlib.h>

#include "base/check.h"
#include "base/clock.h"
#include "base/signal.h"

namespace cadastre::coord::etcd {
namespace {

constexpr std::chrono::milliseconds kStartMax{20'000};
constexpr int kAttemptsMax = 5;
constexpr std::string_view kServes = "serving client traffic";

std::chrono::milliseconds left_until(base::Elapsed deadline) {
  const auto left = deadline - base::SystemClock().elapsed();
  return std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds{0});
}

class File {
 public:
  explicit File(int number) : number_(number) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(number_); }
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

// Ports that nobody had a moment ago, all different.
std::vector<std::uint16_t> free_ports(std::size_t count) {
  std::vector<std::unique_ptr<File>> sockets;  // Kept until all are found.
  std::vector<std::uint16_t> ports;
  for (std::size_t i = 0; i < count; ++i) {
    const int socket_number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockets.push_back(std::make_unique<File>(socket_number));
    sockaddr_in address = loopback(0);
    socklen_t size = sizeof address;
    CAD_CHECK(bind(socket_number, reinterpret_cast<sockaddr*>(&address), size) == 0,
              "a port is free");
    CAD_CHECK(getsockname(socket_number, reinterpret_cast<sockaddr*>(&address), &size) == 0,
              "a socket knows its port");
    ports.push_back(ntohs(address.sin_port));
  }
  return ports;
}

std::string read_all(const std::filesystem::path& file) {
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

}  // namespace

std::filesystem::path make_scratch_directory() {
  // In memory where there is such a place: what a disk loses is not what is tested here.
  const bool shared = std::filesystem::is_directory("/dev/shm");
  std::string name =
      (shared ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path()) /
      "cadastre-etcd-XXXXXX";
  CAD_CHECK(mkdtemp(name.data()) != nullptr, "a directory can be made");
  return name;
}

EtcdMember::EtcdMember(Place place, MemberOptions options)
    : place_(std::move(place)), options_(std::move(options)) {}

EtcdMember::~EtcdMember() {
  if (process_ > 0) kill();
}

std::string EtcdMember::endpoint() const {
  return fmt::format("http://127.0.0.1:{}", place_.client_port);
}

std::string EtcdMember::tls_endpoint() const {
  return fmt::format("https://127.0.0.1:{}", place_.tls_port);
}

std::vector<std::string> EtcdMember::arguments() const {
  const std::string peer = fmt::format("http://127.0.0.1:{}", place_.peer_port);
  std::string clients = endpoint();
  std::vector<std::string> out = {"etcd",
                                  "--name=" + place_.name,
                                  "--data-dir=" + (place_.directory / "data").string(),
                                  "--listen-peer-urls=" + peer,
                                  "--initial-advertise-peer-urls=" + peer,
                                  "--initial-cluster=" + place_.cluster,
                                  "--initial-cluster-state=new",
                                  "--logger=zap",
                                  "--log-outputs=stderr"};
  if (!options_.tls_directory.empty()) {
    clients += "," + tls_endpoint();
    const auto file = [this](std::string_view name) {
      return (options_.tls_directory / name).string();
    };
    out.push_back("--cert-file=" + file("server.crt"));
    out.push_back("--key-file=" + file("server.key"));
    out.push_back("--trusted-ca-file=" + file("ca.crt"));
    out.push_back("--client-cert-auth");
  }
  out.push_back("--listen-client-urls=" + clients);
  out.push_back("--advertise-client-urls=" + clients);
  out.insert(out.end(), options_.flags.begin(), options_.flags.end());
  return out;
}

void EtcdMember::start() {
  CAD_CHECK(process_ < 0, "it does not run");
  std::filesystem::create_directories(place_.directory);
  const std::string log = (place_.directory / "log").string();
  const std::vector<std::string> words = arguments();
  std::vector<char*> argv;
  for (const std::string& word : words)
    argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const File output(open(log.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  process_ = fork();
  CAD_CHECK(process_ >= 0, "a process can be made");
  if (process_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    dup2(output.number(), STDOUT_FILENO);
    dup2(output.number(), STDERR_FILENO);
    execvp("etcd", argv.data());
    _exit(127);
  }
}

bool EtcdMember::wait_until_it_serves(std::chrono::milliseconds limit) {
  const base::Elapsed deadline = base::SystemClock().elapsed() + limit;
  const std::filesystem::path log = place_.directory / "log";
  const File watch(inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  CAD_CHECK(inotify_add_watch(watch.number(), log.c_str(), IN_MODIFY) >= 0, "the log is there");
  const File process(static_cast<int>(syscall(SYS_pidfd_open, process_, 0)));
  for (;;) {
    if (read_all(log).contains(kServes)) return true;
    std::array<pollfd, 2> events{pollfd{watch.number(), POLLIN, 0},
                                 pollfd{process.number(), POLLIN, 0}};
    const int ready =
        poll(events.data(), events.size(), static_cast<int>(left_until(deadline).count()));
    CAD_CHECK(ready > 0, "etcd serves in time");
    if (events[1].revents != 0) return false;
    std::array<char, 4096> ignored;
    (void)!read(watch.number(), ignored.data(), ignored.size());
  }
}

void EtcdMember::kill() {
  ::kill(process_, SIGKILL);
  while (waitpid(process_, nullptr, 0) < 0)
    CAD_CHECK(errno == EINTR, "a child can be waited for");
  process_ = -1;
}

void EtcdMember::pause() {
  CAD_CHECK(::kill(process_, SIGSTOP) == 0, "it runs");
  int status = 0;  // Until all its threads stand still.
  while (waitpid(process_, &status, WUNTRACED) < 0)
    CAD_CHECK(errno == EINTR, "a child can be waited for");
  CAD_CHECK(WIFSTOPPED(status), "it has not ended");
}

void EtcdMember::resume() {
  CAD_CHECK(::kill(process_, SIGCONT) == 0, "it is there");
}

std::string EtcdMember::post(std::string_view path, std::string_view json) const {
  const File connection(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval limit{.tv_sec = 10, .tv_usec = 0};
  setsockopt(connection.number(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  const sockaddr_in address = loopback(place_.client_port);
  if (connect(connection.number(), reinterpret_cast<const sockaddr*>(&address), sizeof address) !=
      0)
    return {};
  const std::string request =
      fmt::format("POST {} HTTP/1.0\r\nContent-Length: {}\r\n\r\n{}", path, json.size(), json);
  if (send(connection.number(), request.data(), request.size(), MSG_NOSIGNAL) !=
      static_cast<ssize_t>(request.size()))
    return {};
  std::string answer;
  std::array<char, 4096> buffer;
  for (ssize_t got = 0; (got = recv(connection.number(), buffer.data(), buffer.size(), 0)) > 0;)
    answer.append(buffer.data(), static_cast<std::size_t>(got));
  const std::size_t body = answer.find("\r\n\r\n");
  return body == std::string::npos ? std::string() : answer.substr(body + 4);
}

std::string EtcdMember::status(std::string_view field) const {
  const std::string answer = post("/v3/maintenance/status", "{}");
  const std::string quoted = fmt::format("\"{}\":\"", field);
  const std::size_t at = answer.find(quoted);
  if (at == std::string::npos) return {};
  const std::size_t begin = at + quoted.size();
  return answer.substr(begin, answer.find('"', begin) - begin);
}

EtcdCluster::EtcdCluster(std::size_t size, const MemberOptions& options)
    : directory_(make_scratch_directory()) {
  bool serves = false;
  for (int attempt = 0; !serves && attempt < kAttemptsMax; ++attempt)
    serves = start(size, options);
  CAD_CHECK(serves, "etcd can be started");
}

EtcdCluster::~EtcdCluster() {
  members_.clear();
  std::filesystem::remove_all(directory_);
}

bool EtcdCluster::start(std::size_t size, const MemberOptions& options) {
  members_.clear();
  std::filesystem::remove_all(directory_);
  const std::vector<std::uint16_t> ports = free_ports(3 * size);
  std::string cluster;
  for (std::size_t i = 0; i < size; ++i)
    cluster += fmt::format("{}m{}=http://127.0.0.1:{}", i == 0 ? "" : ",", i, ports[3 * i + 1]);
  for (std::size_t i = 0; i < size; ++i) {
    members_.push_back(std::make_unique<EtcdMember>(
        EtcdMember::Place{.name = fmt::format("m{}", i),
                          .directory = directory_ / fmt::format("m{}", i),
                          .client_port = ports[3 * i],
                          .peer_port = ports[3 * i + 1],
                          .tls_port = ports[3 * i + 2],
                          .cluster = cluster},
        options));
    members_.back()->start();
  }
  return std::ranges::all_of(
      members_, [](const auto& member) { return member->wait_until_it_serves(kStartMax); });
}

std::vector<std::string> EtcdCluster::endpoints() const {
  std::vector<std::string> out;
  for (const auto& member : members_)
    out.push_back(member->endpoint());
  return out;
}

std::size_t EtcdCluster::leader() const {
  const base::SystemClock clock;
  const base::Elapsed deadline = clock.elapsed() + kStartMax;
  base::Signal never;
  while (clock.elapsed() < deadline) {
    for (std::size_t i = 0; i < members_.size(); ++i) {
      const std::string leader = members_[i]->status("leader");
      if (!leader.empty() && leader == members_[i]->status("member_id")) return i;
    }
    never.wait_for(std::chrono::milliseconds{20});
  }
  CAD_CHECK(false, "one of them leads");
  return 0;
}

}  // namespace cadastre::coord::etcd
