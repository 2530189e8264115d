#include "node/remote_access.h"

#include <memory>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "client/alarm_timer.h"
#include "client/remote_coordination.h"
#include "coord/backend.h"
#include "coord/sync_over_async.h"

namespace cadastre::node {
namespace {

struct Parts {
  base::SystemClock clock;
  base::OsSeededRandom random;
  client::AlarmTimer timer;
};

// A client and the parts that it borrows, as one facade.
class RemoteFacade final : public coord::SyncOverAsync {
 public:
  RemoteFacade(std::unique_ptr<Parts> parts, std::unique_ptr<client::RemoteCoordination> remote)
      : SyncOverAsync(*remote), parts_(std::move(parts)), remote_(std::move(remote)) {}

 private:
  const std::unique_ptr<Parts> parts_;
  const std::unique_ptr<client::RemoteCoordination> remote_;
};

}  // namespace

base::Result<std::unique_ptr<coord::CoordinationFacade>, client::RemoteError> open_remote(
    const std::string& address, const RemoteAccess& access) {
  auto parts = std::make_unique<Parts>();
  auto remote = CAD_TRY(client::RemoteCoordination::open(
      {.address = address, .tls = access.tls, .token = access.token},
      {parts->clock, parts->random, parts->timer}));
  return std::make_unique<RemoteFacade>(std::move(parts), std::move(remote));
}

}  // namespace cadastre::node
