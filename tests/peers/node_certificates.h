// Certificates of nodes: an authority made by openssl signs nodes 1 and 2 of cluster 7, node 1 of another cluster, one that
// names no node and one that names two; a stranger signs itself.

#pragma once

#include <string_view>

#include "server/grpc/peer_transport.h"
#include "tests/certificates.h"

namespace cadastre::peers {

class NodeCertificates {
 public:
  NodeCertificates() {
    authority_.sign_itself("stranger", "IP:127.0.0.1,URI:cadastre://cluster/7/node/1");
    authority_.sign("one", "IP:127.0.0.1,URI:cadastre://cluster/7/node/1");
    authority_.sign("two", "IP:127.0.0.1,URI:cadastre://cluster/7/node/2");
    authority_.sign("foreign", "IP:127.0.0.1,URI:cadastre://cluster/8/node/1");
    authority_.sign("nameless", "IP:127.0.0.1");
    authority_.sign("both",
                    "IP:127.0.0.1,URI:cadastre://cluster/7/node/1,URI:cadastre://cluster/7/node/2");
  }
  [[nodiscard]] server::PeerTls of(std::string_view name) const {
    return {authority_.certificate("authority"), authority_.certificate(name),
            authority_.key(name)};
  }

 private:
  const TestAuthority authority_;
};

}  // namespace cadastre::peers
