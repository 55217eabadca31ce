#include "tune/setting_order.hpp"

#include <algorithm>

namespace wattune {

std::vector<std::size_t> SettingOrder::order(std::span<const DeviceSettings> held, double now) const {
  // Settings in the order in which they were first proposed; a handful, so that looking through them is fast enough.
  std::vector<DeviceSettings> settings;
  std::vector<std::vector<std::size_t>> members;
  for (std::size_t i = 0; i < held.size(); ++i) {
    auto found = std::find(settings.begin(), settings.end(), held[i]);
    if (found == settings.end()) {
      settings.push_back(held[i]);
      members.emplace_back();
      found = settings.end() - 1;
    }
    members[static_cast<std::size_t>(found - settings.begin())].push_back(i);
  }
  const auto current = begun_ ? std::find(settings.begin(), settings.end(), current_) : settings.end();
  if (current != settings.end()) {
    const auto index = current - settings.begin();
    const bool overdue = share_seconds_ > 0 && now - since_ > share_seconds_;
    // What has had its share comes last; else it goes on.
    if (overdue) {
      std::rotate(members.begin() + index, members.begin() + index + 1, members.end());
    } else {
      std::rotate(members.begin(), members.begin() + index, members.begin() + index + 1);
    }
  }
  std::vector<std::size_t> result;
  result.reserve(held.size());
  for (const auto& group : members) result.insert(result.end(), group.begin(), group.end());
  return result;
}

void SettingOrder::begin(const DeviceSettings& settings, double now) {
  if (begun_ && settings == current_) return;
  begun_ = true;
  current_ = settings;
  since_ = now;
}

}  // namespace wattune
