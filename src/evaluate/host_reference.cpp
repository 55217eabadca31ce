// The host references built into the program.

#include <map>
#include <mutex>

#include "evaluate/session.hpp"

namespace wattune {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, HostReference> references;
};

Registry& registry() {
  static Registry instance;
  return instance;
}

}  // namespace

void register_host_reference(const std::string& name, HostReference reference) {
  const std::lock_guard lock(registry().mutex);
  registry().references[name] = std::move(reference);
}

HostReference find_host_reference(const std::string& name) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().references.find(name);
  return found == registry().references.end() ? nullptr : found->second;
}

std::vector<std::string> host_reference_names() {
  const std::lock_guard lock(registry().mutex);
  std::vector<std::string> names;
  for (const auto& [name, reference] : registry().references) names.push_back(name);
  return names;
}

}  // namespace wattune
