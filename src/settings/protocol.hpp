#pragma once
// What clients and the settings server say to each other: CBOR maps, framed by a 4-byte little-endian length, over a
// Unix stream socket. The server takes nothing from a client on trust.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "settings/device_settings.hpp"

namespace wattune {

inline constexpr int settings_protocol_version = 1;
/// A request is a few numbers; a reply may list clocks.
inline constexpr std::size_t most_request_bytes = 4096;
inline constexpr std::size_t most_reply_bytes = std::size_t{1} << 20;

struct SettingsRequest {
  enum class Kind {
    open,     ///< names a board; answered with its capabilities
    acquire,  ///< takes the board's lock; from here on the lease runs
    set,      ///< answered once it is set and read back
    worker,   ///< a process to kill when the client is lost
    alive,    ///< renews the lease; the only one without an answer
    release   ///< puts the board back and gives up the lock; answered once that is done
  };
  Kind kind = Kind::alive;
  int version = 0;                           ///< open
  std::string uuid;                          ///< open: this or pci
  std::string pci;                           ///< open
  std::vector<Setting> wanted;               ///< open: decides which way to permission is taken
  bool wait = false;                         ///< acquire: until the board is free
  std::optional<double> locked_sm_clock_hz;  ///< acquire: what restoring locks the SM clock to
  DeviceSettings settings;                   ///< set
  std::int64_t pid = 0;                      ///< worker
};

nlohmann::json to_json(const SettingsRequest& request);
/// Reads what a client sent. @throws UsageError for anything that is no request, saying why in one line.
SettingsRequest parse_settings_request(std::string_view cbor);

/// A message with its length before it.
std::string frame(const nlohmann::json& message);

/// Cuts a stream of bytes into messages.
class FrameReader {
 public:
  explicit FrameReader(std::size_t most_bytes) : most_bytes_(most_bytes) {}
  void add(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole message. @throws UsageError where it claims to be longer than allowed.
  std::optional<std::string> take();
  [[nodiscard]] std::size_t pending() const noexcept { return buffer_.size(); }

 private:
  std::size_t most_bytes_;
  std::string buffer_;
};

}  // namespace wattune
