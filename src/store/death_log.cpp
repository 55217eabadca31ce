#include "store/death_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file.hpp"
#include "result/evaluation.hpp"

namespace wattune {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

std::string key_of(const std::vector<Value>& configuration) {
  std::string key;
  append_key(key, configuration);
  return key;
}

}  // namespace

DeathLog::DeathLog(const fs::path& journal, std::vector<std::string> parameter_names)
    : file_(journal.string() + ".deaths"), parameter_names_(std::move(parameter_names)) {
  read();
}

void DeathLog::read() {
  std::ifstream stream(file_);
  for (std::string line; std::getline(stream, line);) {
    try {
      const json object = json::parse(line);
      Deaths deaths;
      for (const auto& name : parameter_names_) {
        deaths.configuration.push_back(value_from_json(object.at("configuration").at(name)));
      }
      deaths.count = object.at("workers").get<int>();
      deaths_[key_of(deaths.configuration)] = std::move(deaths);
    } catch (const json::exception&) {
      // Cut short, or not of ours: that configuration is tried as if nothing were known of it.
    } catch (const UsageError&) {
    }
  }
}

int DeathLog::count(const std::vector<Value>& configuration) const {
  if (deaths_.empty()) return 0;
  const auto found = deaths_.find(key_of(configuration));
  return found == deaths_.end() ? 0 : found->second.count;
}

void DeathLog::add(const std::vector<Value>& configuration) {
  Deaths& deaths = deaths_[key_of(configuration)];
  deaths.configuration = configuration;
  ++deaths.count;
  write();
}

void DeathLog::forget(const std::vector<Value>& configuration) {
  if (!deaths_.empty() && deaths_.erase(key_of(configuration)) > 0) write();
}

void DeathLog::write() const {
  std::error_code ignored;
  if (deaths_.empty()) {
    fs::remove(file_, ignored);
    return;
  }
  std::string text;
  for (const auto& [key, deaths] : deaths_) {
    json configuration = json::object();
    for (std::size_t i = 0; i < parameter_names_.size(); ++i) {
      configuration[parameter_names_[i]] = to_json(deaths.configuration[i]);
    }
    const json object = {{"configuration", std::move(configuration)}, {"workers", deaths.count}};
    text += object.dump(-1, ' ', false, json::error_handler_t::replace) + "\n";
  }
  // Whole or not at all, and on disk before the configuration gets another chance: it may take the machine down.
  const std::string draft = file_.string() + ".new";
  const FileDescriptor fd(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  const bool written = fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) &&
                       ::fdatasync(fd.get()) == 0;
  if (!written || ::rename(draft.c_str(), file_.c_str()) != 0) ::unlink(draft.c_str());
}

}  // namespace wattune
