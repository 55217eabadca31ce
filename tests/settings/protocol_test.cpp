#include "settings/protocol.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fake_board.hpp"

namespace wattune {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Kind = SettingsRequest::Kind;

std::string cbor(const json& message) {
  const auto bytes = json::to_cbor(message);
  return {bytes.begin(), bytes.end()};
}

std::string parse_error(const std::string& text) {
  return error_of([&] { static_cast<void>(parse_settings_request(text)); });
}

TEST(SettingsProtocol, EveryRequestComesBackAsItWasSent) {
  SettingsRequest open;
  open.kind = Kind::open;
  open.version = settings_protocol_version;
  open.uuid = "GPU-1";
  EXPECT_EQ(parse_settings_request(cbor(to_json(open))).uuid, "GPU-1");
  SettingsRequest acquire;
  acquire.kind = Kind::acquire;
  acquire.wait = true;
  acquire.locked_sm_clock_hz = 1.2e9;
  EXPECT_EQ(parse_settings_request(cbor(to_json(acquire))).locked_sm_clock_hz, 1.2e9);
  SettingsRequest set;
  set.kind = Kind::set;
  set.settings = {1.2e9, std::nullopt, 200};
  EXPECT_EQ(parse_settings_request(cbor(to_json(set))).settings, set.settings);
  SettingsRequest worker;
  worker.kind = Kind::worker;
  worker.pid = 77;
  EXPECT_EQ(parse_settings_request(cbor(to_json(worker))).pid, 77);
  for (const Kind kind : {Kind::alive, Kind::release}) {
    SettingsRequest plain;
    plain.kind = kind;
    EXPECT_EQ(parse_settings_request(cbor(to_json(plain))).kind, kind);
  }
}

TEST(SettingsProtocol, WhatIsNoRequestIsRefusedWithAReason) {
  EXPECT_THAT(parse_error(""), HasSubstr("no CBOR map"));
  EXPECT_THAT(parse_error("GET / HTTP/1.1"), HasSubstr("no CBOR map"));
  EXPECT_THAT(parse_error(std::string(4000, '\x81')), HasSubstr("no CBOR map"));
  // Whole, but nested deeper than any request: it is refused before it takes the server's stack.
  EXPECT_THAT(parse_error("\xa1\x62op" + std::string(1000, '\x81') + "\x01"), HasSubstr("no CBOR map"));
  EXPECT_THAT(parse_error(cbor({{"op", "reboot"}})), HasSubstr("unknown 'op'"));
  EXPECT_THAT(parse_error(cbor({{"op", "alive"}, {"more", 1}})), HasSubstr("unknown key"));
  EXPECT_THAT(parse_error(cbor({{"op", "open"}, {"version", 1}})), HasSubstr("names no board"));
  EXPECT_THAT(parse_error(cbor({{"op", "open"}, {"version", 1}, {"uuid", "GPU-\n"}})), HasSubstr("strange characters"));
  EXPECT_THAT(parse_error(cbor({{"op", "set"}, {"settings", {{"sm_clock_hz", -1}}}})), HasSubstr("no positive number"));
  EXPECT_THAT(parse_error(cbor({{"op", "set"}, {"settings", {{"fan", 1}}}})), HasSubstr("something other"));
  EXPECT_THAT(parse_error(cbor({{"op", "worker"}, {"pid", 0}})), HasSubstr("out of range"));
  EXPECT_THAT(parse_error(cbor({{"op", "worker"}, {"pid", UINT64_MAX}})), HasSubstr("out of range"));
}

TEST(FrameReader, CutsAStreamIntoMessagesHoweverItArrives) {
  const std::string stream = frame({{"op", "alive"}}) + frame({{"op", "release"}});
  FrameReader reader(most_request_bytes);
  std::vector<std::string> messages;
  for (const char byte : stream) {
    reader.add({&byte, 1});
    while (auto message = reader.take()) messages.push_back(*message);
  }
  ASSERT_EQ(messages.size(), 2U);
  EXPECT_EQ(parse_settings_request(messages[1]).kind, Kind::release);
}

TEST(FrameReader, RefusesAMessageThatClaimsTooMuch) {
  FrameReader reader(most_request_bytes);
  reader.add(std::string("\xff\xff\xff\x7f", 4));
  EXPECT_THAT(error_of([&] { reader.take(); }), HasSubstr("claims 2147483647 bytes"));
}

}  // namespace
}  // namespace wattune
