#include "base/kept_file.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/file.hpp"

namespace wattune {

namespace {

namespace fs = std::filesystem;

std::string variable_of(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::string harmless(std::string text) {
  for (char& c : text) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '.';
    if (!plain) c = '_';
  }
  return text;
}

bool write_whole(const fs::path& file, const std::string& text) {
  std::ofstream stream(file, std::ios::binary);
  stream << text;
  stream.close();
  return static_cast<bool>(stream);
}

}  // namespace

fs::path kept_folder(const char* variable, const std::string& name) {
  if (const auto named = variable_of(variable); !named.empty()) return named;
  if (const auto cache = variable_of("WATTUNE_CACHE_DIR"); !cache.empty()) return fs::path(cache) / name;
  if (const auto cache = variable_of("XDG_CACHE_HOME"); !cache.empty()) return fs::path(cache) / "wattune" / name;
  if (const auto home = variable_of("HOME"); !home.empty()) return fs::path(home) / ".cache" / "wattune" / name;
  return {};
}

fs::path kept_file(const fs::path& folder, const std::string& a, const std::string& b) {
  return folder / (harmless(a) + "_" + harmless(b) + ".json");
}

fs::path kept_folder(const KeptKind& kind) {
  return kept_folder(kind.variable, kind.folder);
}

fs::path keep_json(const KeptKind& kind, const fs::path& folder, const std::string& board, const std::string& driver,
                   const nlohmann::json& object) {
  if (folder.empty()) {
    throw RunError(fmt::format("cannot keep the {} of {}: there is no home; name a folder in {}", kind.what, board,
                               kind.variable));
  }
  const fs::path file = kept_file(folder, board, driver);
  const std::string text = object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (const auto error = replace_file(file, text)) {
    throw RunError(fmt::format("cannot keep the {} of {} in '{}': {}; name another folder in {}", kind.what, board,
                               file.string(), error.message(), kind.variable));
  }
  return file;
}

nlohmann::json read_kept_json(const KeptKind& kind, const fs::path& file) {
  // A pipe could block, or never end.
  std::error_code error;
  if (!fs::is_regular_file(file, error)) throw UsageError("it is no regular file");
  auto object = nlohmann::json::parse(read_file(file, std::string("the ") + kind.what), nullptr, false);
  if (object.is_discarded()) throw UsageError("it is no JSON, or not whole");
  return object;
}

std::string passed_over_text(const KeptKind& kind, const fs::path& file, const std::string& why) {
  return fmt::format("the {} '{}' is not used: {}; '{}' makes it anew", kind.what, file.string(), why, kind.made_by);
}

std::error_code replace_file(const fs::path& file, const std::string& text) {
  std::error_code error;
  fs::create_directories(file.parent_path(), error);
  fs::path aside = file;
  aside += "." + std::to_string(::getpid()) + ".tmp";
  if (!error && !write_whole(aside, text)) error = std::error_code(errno, std::generic_category());
  if (!error) fs::rename(aside, file, error);
  if (error) {
    std::error_code ignored;
    fs::remove(aside, ignored);
  }
  return error;
}

}  // namespace wattune
