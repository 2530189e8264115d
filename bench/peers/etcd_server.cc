#include "bench/peers/etcd_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <utility>

#include <fmt/format.h>

#include "base/check.h"

namespace cadastre::bench {
namespace {

constexpr const char* kProgram = "/usr/bin/etcd";

// A port that is free now; etcd cannot be asked to pick one.
int free_port() {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  CAD_CHECK(bind(file, reinterpret_cast<sockaddr*>(&address), size) == 0,
            "a loopback port is free");
  CAD_CHECK(getsockname(file, reinterpret_cast<sockaddr*>(&address), &size) == 0,
            "it has a number");
  close(file);
  return ntohs(address.sin_port);
}

void append_bytes_field(std::string& out, char tag, std::string_view bytes) {
  out += tag;
  for (std::size_t rest = bytes.size();; rest >>= 7) {  // A varint.
    const bool more = rest >= 0x80;
    out += static_cast<char>((rest & 0x7f) | (more ? 0x80 : 0));
    if (!more) break;
  }
  out += bytes;
}

std::string peer_url(const EtcdPlace& place) {
  return fmt::format("http://127.0.0.1:{}", place.peer_port);
}

std::string key_of(std::uint64_t number) {
  return fmt::format("key{:012}", number % 100'000);
}

}  // namespace

EtcdPlace EtcdPlace::pick(std::string name) {
  return {.name = std::move(name), .client_port = free_port(), .peer_port = free_port()};
}

std::string EtcdPlace::introduction() const {
  return name + "=" + peer_url(*this);
}

EtcdServer::EtcdServer(const std::filesystem::path& directory)
    : EtcdServer(directory, EtcdPlace::pick("etcd"), {}) {}

EtcdServer::EtcdServer(const std::filesystem::path& directory,
                       const EtcdPlace& place,
                       const std::string& cluster)
    : address_(fmt::format("127.0.0.1:{}", place.client_port)) {
  const std::string client_url = "http://" + address_;
  const std::string peers_url = peer_url(place);
  const std::array<std::string, 9> arguments{
      "--name=" + place.name,
      "--data-dir=" + (directory / place.name).string(),
      "--listen-client-urls=" + client_url,
      "--advertise-client-urls=" + client_url,
      "--listen-peer-urls=" + peers_url,
      "--initial-advertise-peer-urls=" + peers_url,
      "--initial-cluster=" + (cluster.empty() ? place.introduction() : cluster),
      "--log-level=error",
      "--quota-backend-bytes=8589934592"};
  pid_ = fork();
  CAD_CHECK(pid_ >= 0, "a process can be started");
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    std::array<char*, 11> words{};
    words[0] = const_cast<char*>(kProgram);
    for (std::size_t i = 0; i < arguments.size(); ++i)
      words[i + 1] = const_cast<char*>(arguments[i].c_str());
    execv(kProgram, words.data());
    _exit(127);
  }
}

EtcdServer::~EtcdServer() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool EtcdServer::is_installed() {
  return access(kProgram, X_OK) == 0;
}

std::string EtcdServer::version() {
  FILE* const said = popen("etcd --version", "re");
  std::array<char, 128> line{};
  const bool read = said != nullptr && std::fgets(line.data(), line.size(), said) != nullptr;
  if (said != nullptr) pclose(said);
  std::string text = read ? line.data() : "unknown";
  while (text.ends_with('\n'))
    text.pop_back();
  return text;
}

std::string EtcdServer::put_request(std::uint64_t number, std::size_t value_bytes) {
  std::string request;
  append_bytes_field(request, '\x0a', key_of(number));
  append_bytes_field(request, '\x12', std::string(value_bytes, 'x'));
  return request;
}

std::string EtcdServer::range_request(std::uint64_t number) {
  std::string request;
  append_bytes_field(request, '\x0a', key_of(number));
  return request;
}

}  // namespace cadastre::bench
