#include "report/front.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "report/format.hpp"
#include "report/json.hpp"

namespace wattune {

namespace {

using nlohmann::json;

bool contains(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

/// "28.4 % slower", "5.8 % less energy".
std::string in_words(const Objective& objective, const Change& change) {
  const std::string& name = objective.name;
  const bool more = change.relative > 0;
  const std::string percent =
      format_number(100 * std::fabs(change.relative), {1, "%"}, 100 * change.stderr_value) + " %";
  if (contains(name, "FLOP") || contains(name, "flop")) {
    if (contains(name, "/J") || contains(name, "/W"))
      return fmt::format("{} {} efficient", percent, more ? "more" : "less");
    return fmt::format("{} {}", percent, more ? "faster" : "slower");
  }
  return fmt::format("{} {} {}", percent, more ? "more" : "less", name);
}

json trade_off_json(const Front& front, std::span<const Evaluation> evaluations, std::size_t place) {
  json object = json::object();
  for (const auto& objective : front.objectives) {
    const Change change =
        change_between(evaluations[front.members.front().index], evaluations[front.members[place].index], objective);
    object[objective.name] = {{"relative", change.relative},
                              {"stderr", change.stderr_value}};  // NaN is written as null
  }
  return object;
}

}  // namespace

std::string front_title(const Front& front) {
  std::vector<std::string> names;
  for (const auto& objective : front.objectives) names.push_back(objective.name);
  const auto unsure =
      std::count_if(front.members.begin(), front.members.end(), [](const auto& member) { return !member.sure; });
  std::string text = fmt::format("Pareto front of {}: {} configuration{}", fmt::join(names, ", "), front.members.size(),
                                 front.members.size() == 1 ? "" : "s");
  if (unsure > 0) text += fmt::format(", {} of them not sure", unsure);
  return text;
}

std::vector<std::size_t> front_places(const Front& front, std::size_t most) {
  std::vector<std::size_t> places;
  const std::size_t rows = std::min(front.members.size(), most);
  for (std::size_t i = 0; i < rows; ++i) {
    places.push_back(rows == front.members.size() ? i : i * (front.members.size() - 1) / (rows - 1));
  }
  if (!front.knee || std::find(places.begin(), places.end(), *front.knee) != places.end()) return places;
  // In place of the nearest that is no end.
  const auto nearest = std::min_element(places.begin() + 1, places.end() - 1, [&](std::size_t a, std::size_t b) {
    const auto distance = [&](std::size_t place) {
      return place > *front.knee ? place - *front.knee : *front.knee - place;
    };
    return distance(a) < distance(b);
  });
  if (nearest != places.end() - 1) *nearest = *front.knee;
  return places;
}

std::string front_mark(const Front& front, std::size_t place) {
  return fmt::format("{}{}", front.members[place].sure ? "sure" : "not sure", front.knee == place ? ", knee" : "");
}

std::string trade_off(const Front& front, std::span<const Evaluation> evaluations, std::size_t place) {
  const auto change = [&](const Objective& objective) {
    return in_words(objective, change_between(evaluations[front.members.front().index],
                                              evaluations[front.members[place].index], objective));
  };
  return fmt::format("{} for {}", change(front.objectives[0]), change(front.objectives[1]));
}

std::string front_remarks(const Front& front, std::span<const Evaluation> evaluations) {
  std::string text;
  if (front.objectives.size() == 2 && front.members.size() > 1) {
    text += fmt::format("From the best {} to the best {}: {}\n", front.objectives[0].name, front.objectives[1].name,
                        trade_off(front, evaluations, front.members.size() - 1));
  }
  if (front.knee) {
    text += fmt::format("At the knee, farthest from the line between the ends: {}\n",
                        trade_off(front, evaluations, *front.knee));
  }
  if (std::any_of(front.members.begin(), front.members.end(), [](const auto& member) { return !member.sure; })) {
    text +=
        "Not sure: within the uncertainty (95 %) another configuration may be as good or better in every objective\n";
  }
  return text;
}

json front_to_json(const Front& front, std::span<const Evaluation> evaluations) {
  json members = json::array();
  for (const auto& member : front.members) {
    members.push_back(
        {{"index", member.index}, {"sure", member.sure}, {"rival", member.rival ? json(*member.rival) : json()}});
  }
  json object = {{"objectives", objectives_to_json(front.objectives)},
                 {"members", std::move(members)},
                 {"knee", front.knee ? json(front.members[*front.knee].index) : json()},
                 {"errors_known", front.errors_known}};
  if (front.objectives.size() == 2 && !front.members.empty()) {
    object["trade_off"] = trade_off_json(front, evaluations, front.members.size() - 1);
    object["knee_trade_off"] = front.knee ? trade_off_json(front, evaluations, *front.knee) : json();
  }
  return object;
}

}  // namespace wattune
