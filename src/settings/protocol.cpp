#include "settings/protocol.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/error.hpp"

namespace wattune {

using nlohmann::json;

namespace {

using Kind = SettingsRequest::Kind;
constexpr std::array<std::pair<Kind, const char*>, 6> kinds = {{{Kind::open, "open"},
                                                                {Kind::acquire, "acquire"},
                                                                {Kind::set, "set"},
                                                                {Kind::worker, "worker"},
                                                                {Kind::alive, "alive"},
                                                                {Kind::release, "release"}}};

constexpr std::size_t length_bytes = 4;
constexpr std::size_t longest_name = 128;

/// Requests are flat; reading what is nested deeply would take the stack of a server that others depend on.
class DepthLimit : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool key(string_t&) override { return true; }
  bool start_object(std::size_t) override { return ++depth_ <= deepest; }
  bool end_object() override { return --depth_ >= 0; }
  bool start_array(std::size_t) override { return ++depth_ <= deepest; }
  bool end_array() override { return --depth_ >= 0; }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

 private:
  static constexpr int deepest = 8;
  int depth_ = 0;
};

const char* name_of(Kind kind) {
  for (const auto& [known, name] : kinds) {
    if (known == kind) return name;
  }
  return "";
}

Kind kind_of(const json& message) {
  const auto found = message.find("op");
  if (found == message.end() || !found->is_string()) throw UsageError("a request has no 'op'");
  for (const auto& [kind, name] : kinds) {
    if (found->get_ref<const std::string&>() == name) return kind;
  }
  throw UsageError("a request has an unknown 'op'");
}

/// The keys that a request of a kind may have, and no others.
void check_keys(const json& message, std::initializer_list<const char*> allowed) {
  for (const auto& [key, value] : message.items()) {
    bool known = key == "op";
    for (const char* name : allowed) known = known || key == name;
    if (!known) throw UsageError("a request holds an unknown key");
  }
}

std::string text(const json& message, const char* key) {
  const auto found = message.find(key);
  if (found == message.end()) return {};
  if (!found->is_string()) throw UsageError(fmt::format("'{}' of a request is no text", key));
  const auto& value = found->get_ref<const std::string&>();
  if (value.size() > longest_name) throw UsageError(fmt::format("'{}' of a request is too long", key));
  for (const char c : value) {
    if (c < ' ' || c > '~') throw UsageError(fmt::format("'{}' of a request holds strange characters", key));
  }
  return value;
}

std::int64_t integer(const json& message, const char* key, std::int64_t least, std::int64_t most) {
  const auto found = message.find(key);
  if (found == message.end() || !found->is_number_integer()) {
    throw UsageError(fmt::format("'{}' of a request is no integer", key));
  }
  // An unsigned number beyond the signed range comes out negative.
  const auto value = found->get<std::int64_t>();
  if (value < least || value > most) throw UsageError(fmt::format("'{}' of a request is out of range", key));
  return value;
}

std::vector<Setting> wanted_settings(const json& message) {
  std::vector<Setting> wanted;
  const auto found = message.find("wanted");
  if (found == message.end()) return wanted;
  if (!found->is_array() || found->size() > all_settings.size()) {
    throw UsageError("'wanted' of a request is no short list");
  }
  for (const auto& name : *found) {
    const auto setting = name.is_string() ? setting_of(name.get_ref<const std::string&>()) : std::nullopt;
    if (!setting) throw UsageError("a request wants what is no setting");
    wanted.push_back(*setting);
  }
  return wanted;
}

}  // namespace

json to_json(const SettingsRequest& request) {
  json message = {{"op", name_of(request.kind)}};
  switch (request.kind) {
    case Kind::open:
      message["version"] = request.version;
      if (!request.uuid.empty()) message["uuid"] = request.uuid;
      if (!request.pci.empty()) message["pci"] = request.pci;
      for (const Setting setting : request.wanted) message["wanted"].push_back(parameter_of(setting));
      break;
    case Kind::acquire:
      message["wait"] = request.wait;
      if (request.locked_sm_clock_hz) message["locked_sm_clock_hz"] = *request.locked_sm_clock_hz;
      break;
    case Kind::set:
      message["settings"] = to_json(request.settings);
      break;
    case Kind::worker:
      message["pid"] = request.pid;
      break;
    default:
      break;
  }
  return message;
}

SettingsRequest parse_settings_request(std::string_view cbor) {
  json message(json::value_t::discarded);
  try {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(cbor.data());
    DepthLimit limit;
    if (json::sax_parse(begin, begin + cbor.size(), &limit, json::input_format_t::cbor)) {
      message = json::from_cbor(begin, begin + cbor.size(), true, false);
    }
  } catch (const json::exception&) {
    // A list that claims more items than there can be is thrown even where exceptions are not asked for.
  }
  if (!message.is_object()) throw UsageError("a request is no CBOR map");
  SettingsRequest request;
  request.kind = kind_of(message);
  switch (request.kind) {
    case Kind::open:
      check_keys(message, {"version", "uuid", "pci", "wanted"});
      request.version = static_cast<int>(integer(message, "version", 0, 1000));
      request.uuid = text(message, "uuid");
      request.pci = text(message, "pci");
      if (request.uuid.empty() && request.pci.empty()) throw UsageError("a request names no board");
      request.wanted = wanted_settings(message);
      break;
    case Kind::acquire: {
      check_keys(message, {"wait", "locked_sm_clock_hz"});
      const auto wait = message.find("wait");
      if (wait == message.end() || !wait->is_boolean()) throw UsageError("'wait' of a request is no boolean");
      request.wait = wait->get<bool>();
      const auto locked = message.find("locked_sm_clock_hz");
      if (locked == message.end()) break;
      if (!locked->is_number() || !std::isfinite(locked->get<double>()) || !(locked->get<double>() > 0)) {
        throw UsageError("'locked_sm_clock_hz' of a request is no positive number");
      }
      request.locked_sm_clock_hz = locked->get<double>();
      break;
    }
    case Kind::set: {
      check_keys(message, {"settings"});
      const auto settings = message.find("settings");
      if (settings == message.end()) throw UsageError("a request to set has no 'settings'");
      request.settings = settings_from_json(*settings);
      break;
    }
    case Kind::worker:
      check_keys(message, {"pid"});
      request.pid = integer(message, "pid", 1, INT32_MAX);
      break;
    default:
      check_keys(message, {});
  }
  return request;
}

std::string frame(const json& message) {
  std::vector<std::uint8_t> bytes(length_bytes);
  json::to_cbor(message, bytes);
  const std::size_t length = bytes.size() - length_bytes;
  for (unsigned i = 0; i < length_bytes; ++i) bytes[i] = static_cast<std::uint8_t>(length >> (8 * i));
  return {bytes.begin(), bytes.end()};
}

std::optional<std::string> FrameReader::take() {
  if (buffer_.size() < length_bytes) return std::nullopt;
  std::size_t length = 0;
  for (unsigned i = 0; i < length_bytes; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(buffer_[i])) << (8 * i);
  }
  if (length > most_bytes_) throw UsageError(fmt::format("a message claims {} bytes", length));
  if (buffer_.size() - length_bytes < length) return std::nullopt;
  std::string message = buffer_.substr(length_bytes, length);
  buffer_.erase(0, length_bytes + length);
  return message;
}

}  // namespace wattune
