#include "tests/cluster/line_door.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/mutex.h"
#include "server/listen_address.h"

namespace cadastre::cluster {
namespace {

constexpr std::size_t kLineBytesMax = 256;
constexpr int kBacklog = 64;

int listen_at(const server::ListenAddress& address) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CAD_CHECK(listener >= 0, "a test can have a socket");
  const int yes = 1;
  CAD_CHECK(setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0,
            "addresses can be used again");
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(address.port);
  CAD_CHECK(inet_pton(AF_INET, address.host.c_str(), &where.sin_addr) == 1,
            "the door is at a v4 address");
  CAD_CHECK(bind(listener, reinterpret_cast<const sockaddr*>(&where), sizeof where) == 0,
            "the door's address is this machine's and free");
  CAD_CHECK(listen(listener, kBacklog) == 0, "a bound socket listens");
  return listener;
}

}  // namespace

LineDoor::LineDoor(const server::ListenAddress& address, Ask ask)
    : ask_(std::move(ask)), listener_(listen_at(address)), wake_(eventfd(0, EFD_CLOEXEC)) {
  CAD_CHECK(wake_ >= 0, "a test can have an event");
}

void LineDoor::answer(Connection connection, std::string line) {
  {
    const base::MutexLock lock(mutex_);
    answers_.push_back({connection, std::move(line)});
  }
  const std::uint64_t one = 1;
  CAD_CHECK(write(wake_, &one, sizeof one) == sizeof one, "an event counts");
}

void LineDoor::serve() {
  for (;;) {
    std::vector<pollfd> watched = {{listener_, POLLIN, 0}, {wake_, POLLIN, 0}};
    std::vector<Connection> numbers;
    for (const auto& [number, open] : connections_) {
      numbers.push_back(number);
      watched.push_back({open.socket, POLLIN, 0});
    }
    if (poll(watched.data(), watched.size(), -1) < 0) {
      CAD_CHECK(errno == EINTR, "what is open can be watched");
      continue;
    }
    if (watched[1].revents != 0) give_answers();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto found = connections_.find(numbers[i]);
      if (watched[i + 2].revents == 0 || found == connections_.end()) continue;
      if (take_input(found->first, found->second)) continue;
      close(found->second.socket);
      connections_.erase(found);
    }
    if (watched[0].revents != 0) accept_one();
  }
}

void LineDoor::accept_one() {
  const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (socket < 0) return;
  const int yes = 1;
  (void)setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  connections_[++last_].socket = socket;
}

void LineDoor::give_answers() {
  std::uint64_t count = 0;
  CAD_CHECK(read(wake_, &count, sizeof count) == sizeof count, "an event that is there is read");
  std::vector<Answered> answers;
  {
    const base::MutexLock lock(mutex_);
    answers.swap(answers_);
  }
  for (Answered& each : answers) {
    const auto found = connections_.find(each.connection);
    if (found == connections_.end()) continue;
    each.line += '\n';
    // A short answer fits the buffer; who does not read it goes when its input ends.
    (void)send(found->second.socket, each.line.data(), each.line.size(),
               MSG_NOSIGNAL | MSG_DONTWAIT);
    found->second.asked = false;
    look_at(found->first, found->second);
  }
}

bool LineDoor::take_input(Connection number, Open& open) {
  std::array<char, kLineBytesMax> bytes;
  const ssize_t count = recv(open.socket, bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0) return errno == EAGAIN || errno == EINTR;
  if (count == 0 || open.input.size() > kLineBytesMax) return false;
  open.input.append(bytes.data(), static_cast<std::size_t>(count));
  look_at(number, open);
  return true;
}

void LineDoor::look_at(Connection number, Open& open) {
  const std::size_t end = open.input.find('\n');
  if (open.asked || end == std::string::npos) return;
  const std::string line = open.input.substr(0, end);
  open.input.erase(0, end + 1);
  open.asked = true;
  ask_(number, line);
}

}  // namespace cadastre::cluster
