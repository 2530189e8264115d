// HttpServer: a few read-only pages for operators and their machines: /metrics, /healthz, /readyz, /debug/log.
//
// Bounded: kHttpThreads answer, others wait; long or slow requests are closed (limits.h). Whoever starts
// it gives it a thread to serve() on.

#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "server/listen_address.h"
#include "server/start_error.h"

namespace cadastre::server {

struct HttpAnswer {
  int status = 200;
  std::string content_type;
  std::string body;
};

// What was asked for, as far as pages care.
struct HttpRequest {
  std::vector<std::string> places;                // What stood in the places of the path, in order.
  std::map<std::string, std::string> parameters;  // Of one that is repeated the first.
};

// `path` is exact, but `*` stands for one part between slashes. The answer is called on any of the server's threads,
// several at once.
struct HttpPage {
  std::string path;
  std::function<HttpAnswer(const HttpRequest&)> answer;
};

// Paths of PEM files.
struct HttpTls {
  std::string certificate;
  std::string private_key;
  std::optional<std::string> client_ca;
};

struct HttpOptions {
  ListenAddress address;
  std::optional<HttpTls> tls;
};

class HttpServer {
 public:
  // Bound when it returns; answers once somebody serves.
  [[nodiscard]] static base::Result<std::unique_ptr<HttpServer>, StartError> bind(
      const HttpOptions& options, std::vector<HttpPage> pages);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }

  // Until stop(). Once.
  void serve();
  [[nodiscard]] bool is_serving() const;
  // From any thread; does nothing unless it is serving.
  void stop();

 private:
  struct Running;  // cpp-httplib's side
  HttpServer(std::unique_ptr<Running> running, std::uint16_t port);

  std::unique_ptr<Running> running_;
  std::uint16_t port_;
};

}  // namespace cadastre::server
