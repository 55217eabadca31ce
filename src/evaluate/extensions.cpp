#include "evaluate/extensions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <mutex>

#include "base/error.hpp"
#include "evaluate/session.hpp"
#include "problem/quantities.hpp"
#include "result/metrics.hpp"
#include "wattune/reference.hpp"

namespace wattune {

namespace {

struct Registry {
  std::mutex mutex;
  std::map<std::string, HostReference> references;
  std::map<std::string, ObserverKind> observers;
  std::map<std::string, LaunchFunction> launch_functions;
  bool closed = false;

  void check(const std::string& what, const std::string& name, bool taken) const {
    if (name.empty()) throw UsageError(fmt::format("cannot register {} without a name", what));
    if (taken) throw UsageError(fmt::format("cannot register {} '{}': there is one of that name", what, name));
    if (!closed) return;
    throw UsageError(
        fmt::format("cannot register {} '{}' now: worker processes would not know it; register it before "
                    "wattune::Runtime is made",
                    what, name));
  }
};

Registry& registry() {
  static Registry instance;
  return instance;
}

template <typename T>
std::string names_of(const std::map<std::string, T>& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.first);
  return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
}

bool is_identifier(const std::string& text) {
  return !text.empty() && std::isdigit(static_cast<unsigned char>(text[0])) == 0 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; });
}

/// The content of a problem's arguments, for references of the public interface.
class ProblemArguments final : public HostArguments {
 public:
  ProblemArguments(const Problem& problem, std::vector<std::vector<std::byte>>& content)
      : problem_(problem), content_(content) {}

  [[nodiscard]] const std::vector<std::int64_t>& problem_size() const override { return problem_.problem_size; }

  [[nodiscard]] std::span<std::byte> bytes(const std::string& name, std::size_t element_bytes) override {
    for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
      const Argument& argument = problem_.arguments[i];
      if (argument.name != name) continue;
      if (element_bytes != argument.type.bytes && element_bytes != argument.type.scalar_bytes()) {
        throw UsageError(fmt::format(
            "reference '{}': argument '{}' has elements of {} bytes ({}), and is read as ones "
            "of {}",
            problem_.verification.host_function, name, argument.type.bytes, to_string(argument.type), element_bytes));
      }
      if (content_[i].empty()) {
        throw UsageError(fmt::format("reference '{}': argument '{}' is local memory, which has no content",
                                     problem_.verification.host_function, name));
      }
      return content_[i];
    }
    std::vector<std::string> names;
    for (const auto& argument : problem_.arguments) names.push_back(argument.name);
    throw UsageError(fmt::format("reference '{}': there is no argument '{}'; there are: {}",
                                 problem_.verification.host_function, name, fmt::join(names, ", ")));
  }

 private:
  const Problem& problem_;
  std::vector<std::vector<std::byte>>& content_;
};

}  // namespace

// ---- registration

void register_host_reference(const std::string& name, HostReference reference) {
  const std::lock_guard lock(registry().mutex);
  registry().references[name] = std::move(reference);
}

void register_reference(const std::string& name, Reference reference) {
  const std::lock_guard lock(registry().mutex);
  registry().check("reference", name, registry().references.contains(name));
  registry().references[name] = [name, reference = std::move(reference)](const Problem& problem,
                                                                         std::vector<std::vector<std::byte>>& content) {
    ProblemArguments arguments(problem, content);
    try {
      reference(arguments);
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw RunError(fmt::format("{}: reference '{}' failed: {}", problem.file.string(), name, error.what()));
    }
  };
}

void register_observer(const std::string& name, std::vector<ObservedQuantity> quantities, ObserverFactory factory) {
  const std::lock_guard lock(registry().mutex);
  registry().check("observer", name, registry().observers.contains(name));
  if (quantities.empty()) throw UsageError(fmt::format("observer '{}' has no quantities; give it one or more", name));
  for (const auto& quantity : quantities) {
    if (!is_identifier(quantity.name)) {
      throw UsageError(fmt::format("observer '{}': the quantity '{}' is no identifier; use letters, digits and '_'",
                                   name, quantity.name));
    }
    if (find_measured_quantity(quantity.name) != nullptr) {
      throw UsageError(fmt::format("observer '{}': wattune itself measures '{}'; give the quantity another name", name,
                                   quantity.name));
    }
  }
  registry().observers[name] = {name, std::move(quantities), std::move(factory)};
}

void register_launch_function(const std::string& name, LaunchFunction function) {
  const std::lock_guard lock(registry().mutex);
  registry().check("launch function", name, registry().launch_functions.contains(name));
  registry().launch_functions[name] = std::move(function);
}

void close_registration() {
  const std::lock_guard lock(registry().mutex);
  registry().closed = true;
}

// ---- looking up

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

std::vector<ObserverKind> observers_of(const Problem& problem) {
  const std::lock_guard lock(registry().mutex);
  std::vector<ObserverKind> result;
  std::map<std::string, std::string> givers;  // quantity: observer
  for (const auto& metric : problem.metrics) givers[metric.name] = "a metric";
  for (const auto& name : problem.observers) {
    const auto found = registry().observers.find(name);
    if (found == registry().observers.end()) {
      throw UsageError(
          fmt::format("{}: wattune.Observers: there is no observer '{}' in this program; registered are: {}",
                      problem.file.string(), name, names_of(registry().observers)));
    }
    for (const auto& quantity : found->second.quantities) {
      const auto [other, is_new] = givers.emplace(quantity.name, fmt::format("observer '{}'", name));
      if (is_new) continue;
      throw UsageError(
          fmt::format("{}: wattune.Observers: observer '{}' gives '{}', as does {}; rename one, or leave one "
                      "out",
                      problem.file.string(), name, quantity.name, other->second));
    }
    result.push_back(found->second);
  }
  return result;
}

LaunchFunction launch_function_of(const Problem& problem) {
  if (problem.launch_function.empty()) return nullptr;
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().launch_functions.find(problem.launch_function);
  if (found != registry().launch_functions.end()) return found->second;
  throw UsageError(
      fmt::format("{}: wattune.LaunchFunction: there is no launch function '{}' in this program; registered "
                  "are: {}",
                  problem.file.string(), problem.launch_function, names_of(registry().launch_functions)));
}

void check_extensions(const Problem& problem) {
  static_cast<void>(launch_function_of(problem));
  auto known = measured_quantity_names();
  for (const auto& observer : observers_of(problem)) {
    for (const auto& quantity : observer.quantities) known.push_back(quantity.name);
  }
  for (const auto& name : MetricSet(problem).inputs()) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    throw UsageError(
        fmt::format("{}: wattune.Metrics: a metric uses '{}', which is no parameter, no earlier metric and "
                    "nothing that is measured; there are: {}",
                    problem.file.string(), name, fmt::join(known, ", ")));
  }
}

}  // namespace wattune
