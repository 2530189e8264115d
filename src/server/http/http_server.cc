#include "server/http/http_server.h"

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <httplib.h>

#include "base/result.h"
#include "server/limits.h"
#include "server/listen_address.h"
#include "server/start_error.h"

namespace cadastre::server {

struct HttpServer::Running {
  std::unique_ptr<httplib::Server> server;
};

namespace {

std::unique_ptr<httplib::Server> make_server(const HttpOptions& options) {
  if (!options.tls) return std::make_unique<httplib::Server>();
  const HttpTls& tls = *options.tls;
  return std::make_unique<httplib::SSLServer>(tls.certificate.c_str(), tls.private_key.c_str(),
                                              tls.client_ca ? tls.client_ca->c_str() : nullptr);
}

// httplib matches regular expressions. Paths are our own, and have no other sign that means something to one.
std::string pattern_of(const std::string& path) {
  std::string pattern;
  for (const char c : path) {
    if (c == '*') {
      pattern += "([^/]+)";
    } else {
      pattern += c;
    }
  }
  return pattern;
}

HttpRequest request_of(const httplib::Request& request) {
  HttpRequest made;
  for (std::size_t place = 1; place < request.matches.size(); ++place)
    made.places.push_back(request.matches[place].str());
  for (const auto& [name, value] : request.params)
    made.parameters.try_emplace(name, value);
  return made;
}

void set_bounds(httplib::Server& server) {
  server.set_tcp_nodelay(true);  // Before it is bound: later it has no effect.
  // Not its default, by which two servers may share a port.
  server.set_socket_options([](int socket) {
    const int yes = 1;
    (void)::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
  });
  server.new_task_queue = [] {
    return new httplib::ThreadPool(kHttpThreads);
  };
  server.set_payload_max_length(kHttpRequestBytesMax);
  server.set_read_timeout(kHttpTimeout);
  server.set_write_timeout(kHttpTimeout);
  server.set_keep_alive_max_count(kHttpRequestsPerConnectionMax);
  server.set_keep_alive_timeout(1);  // A silent connection holds a thread.
}

}  // namespace

base::Result<std::unique_ptr<HttpServer>, StartError> HttpServer::bind(
    const HttpOptions& options, std::vector<HttpPage> pages) {
  auto running = std::make_unique<Running>();
  running->server = make_server(options);
  httplib::Server& server = *running->server;
  if (!server.is_valid()) {
    return base::fail(StartError::kBadTls, "the certificate or key of HTTP cannot be used");
  }
  set_bounds(server);
  for (HttpPage& page : pages) {
    server.Get(pattern_of(page.path),
               [answer = std::move(page.answer)](const httplib::Request& request,
                                                 httplib::Response& response) {
                 const HttpAnswer given = answer(request_of(request));
                 response.status = given.status;
                 response.set_content(given.body, given.content_type);
               });
  }
  int port = options.address.port;
  if (port == 0) {
    port = server.bind_to_any_port(options.address.host);
  } else if (!server.bind_to_port(options.address.host, port)) {
    port = -1;
  }
  if (port <= 0) {
    return base::fail(StartError::kCannotListen,
                      fmt::format("cannot listen on {}", to_text(options.address)));
  }
  return std::unique_ptr<HttpServer>(
      new HttpServer(std::move(running), static_cast<std::uint16_t>(port)));
}

HttpServer::HttpServer(std::unique_ptr<Running> running, std::uint16_t port)
    : running_(std::move(running)), port_(port) {}

HttpServer::~HttpServer() {
  stop();
}

void HttpServer::serve() {
  (void)running_->server->listen_after_bind();
}

bool HttpServer::is_serving() const {
  return running_->server->is_running();
}

void HttpServer::stop() {
  running_->server->stop();
}

}  // namespace cadastre::server
