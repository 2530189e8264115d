// RawStream: a call of a node's peer port that writes any bytes, as a broken or hostile peer would.

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/bytes.h"

namespace cadastre::peers {

class RawStream {
 public:
  // Plain, on loopback. The method is one of peer_wire.h; nothing: the stream of frames.
  explicit RawStream(std::uint16_t port, const char* method = nullptr);
  RawStream(const RawStream&) = delete;
  RawStream& operator=(const RawStream&) = delete;
  ~RawStream();

  // False: the stream has ended.
  bool write(base::ByteView message);
  // Whether the node has let the stream in.
  [[nodiscard]] bool is_let_in();

  struct Ending {
    std::string reason;  // What came on the way back.
    std::string status;  // The status' text.
  };
  // Waits for the node to end it.
  [[nodiscard]] Ending ending();

 private:
  struct Call;  // gRPC's side
  std::unique_ptr<Call> call_;
};

}  // namespace cadastre::peers
