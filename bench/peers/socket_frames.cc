#include "bench/peers/socket_frames.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/endian.h"
#include "log/frame_codec.h"

namespace cadastre::bench {
namespace {

constexpr std::size_t kBodyBytesAt = 32;
constexpr std::size_t kBufferBytes = 4 * log::kMiB;

int open_socket() {
  const int made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CAD_CHECK(made >= 0, "a benchmark can open a socket");
  return made;
}

// How many bytes of the front are whole frames.
std::size_t whole_frames(base::ByteView bytes) {
  std::size_t done = 0;
  while (bytes.size() - done >= log::kFrameHeadBytes) {
    const std::size_t frame =
        log::frame_bytes(base::load_le<std::uint32_t>(bytes.data() + done + kBodyBytesAt));
    if (frame > bytes.size() - done) break;
    done += frame;
  }
  return done;
}

}  // namespace

SocketFrames::SocketFrames(log::TransportSink& sink) : sink_(sink) {
  const int listening = open_socket();
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const where = reinterpret_cast<sockaddr*>(&address);
  CAD_CHECK(::bind(listening, where, size) == 0 && ::listen(listening, 1) == 0 &&
                ::getsockname(listening, where, &size) == 0,
            "loopback has a free port");
  writing_ = open_socket();
  CAD_CHECK(::connect(writing_, where, size) == 0, "somebody listens");
  reading_ = ::accept4(listening, nullptr, nullptr, SOCK_CLOEXEC);
  CAD_CHECK(reading_ >= 0, "somebody connects");
  ::close(listening);
  const int on = 1;
  (void)::setsockopt(writing_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

SocketFrames::~SocketFrames() {
  ::close(writing_);
  ::close(reading_);
}

void SocketFrames::send(log::Frame frame) {
  {
    const base::MutexLock lock(mutex_);
    const std::size_t dropped = queue_.add({.kind = log::FrameKind::kMessage,
                                            .group = frame.group,
                                            .from = frame.from,
                                            .to = frame.to,
                                            .body = std::move(frame.body)});
    CAD_CHECK(dropped == 0, "a benchmark keeps to the bound");
  }
  work_.raise();
}

void SocketFrames::write_all() {
  base::Bytes buffer;
  for (;;) {
    std::vector<log::LaneFrame> frames;
    {
      const base::MutexLock lock(mutex_);
      if (stopped_) break;
      frames = queue_.take();
    }
    if (frames.empty()) {
      work_.wait();
      continue;
    }
    std::size_t bytes = 0;
    for (const log::LaneFrame& frame : frames) {
      const std::size_t size = frame.bytes();
      if (buffer.size() < bytes + size) buffer.resize(bytes + size);
      log::encode_frame(frame.view(), std::span(buffer).subspan(bytes, size));
      bytes += size;
    }
    for (std::size_t done = 0; done < bytes;) {
      const ssize_t put = ::send(writing_, buffer.data() + done, bytes - done, MSG_NOSIGNAL);
      CAD_CHECK(put > 0, "loopback takes it");
      done += static_cast<std::size_t>(put);
    }
  }
  ::shutdown(writing_, SHUT_WR);
}

void SocketFrames::read_all() {
  base::Bytes buffer(kBufferBytes);
  std::size_t filled = 0;
  for (;;) {
    const ssize_t got = ::recv(reading_, buffer.data() + filled, buffer.size() - filled, 0);
    if (got <= 0) return;
    filled += static_cast<std::size_t>(got);
    const std::size_t done = whole_frames({buffer.data(), filled});
    if (done == 0) continue;
    // Copied out once, as a transport must that gives frames away.
    std::shared_ptr<std::byte[]> memory = std::make_shared_for_overwrite<std::byte[]>(done);
    std::memcpy(memory.get(), buffer.data(), done);
    std::memmove(buffer.data(), buffer.data() + done, filled - done);
    filled -= done;
    const auto views = log::decode_frames({memory.get(), done});
    CAD_CHECK(views.has_value(), "loopback spoils nothing");
    std::vector<log::Frame> frames;
    for (const log::FrameView& view : *views)
      frames.push_back({view.group, view.from, view.to, log::Body(memory, view.body)});
    const log::NodeId from = frames.front().from;
    sink_.on_frames(from, std::move(frames));
  }
}

void SocketFrames::stop() {
  {
    const base::MutexLock lock(mutex_);
    stopped_ = true;
  }
  work_.raise();
}

}  // namespace cadastre::bench
