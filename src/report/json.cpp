#include "report/json.hpp"

#include <nlohmann/json.hpp>

#include "report/front.hpp"
#include "result/order.hpp"

namespace wattune {

using nlohmann::json;

json objectives_to_json(std::span<const Objective> objectives) {
  json list = json::array();
  for (const auto& objective : objectives) {
    list.push_back({{"name", objective.name}, {"direction", to_string(objective.direction)}});
  }
  return list;
}

json run_to_json(const RunInfo& run, const std::vector<std::string>& parameter_names,
                 std::span<const Evaluation> evaluations, std::span<const Objective> objectives) {
  json list = json::array();
  json counts = json::object();
  for (const auto& evaluation : evaluations) {
    list.push_back(to_json(evaluation, parameter_names));
    auto& count = counts[std::string(to_string(evaluation.outcome))];
    count = count.is_null() ? 1 : count.get<std::size_t>() + 1;
  }
  const auto among = run.constraints.feasible(evaluations, competing(evaluations));
  json best_ones = json::object();
  for (const auto& objective : objectives) {
    if (const auto winner = best(evaluations, among, objective)) {
      best_ones[objective.name] = {{"configuration", list[*winner]["configuration"]},
                                   {"quantities", list[*winner]["quantities"]}};
    }
  }
  json object = {{"problem", run.problem},
                 {"device", run.device_id},
                 {"device_name", run.device_name},
                 {"board", run.board},
                 {"simulated", run.simulated},
                 {"strategy", run.strategy},
                 {"seed", run.seed},
                 {"space", {{"cartesian", to_string(run.cartesian)}, {"valid", to_string(run.space_size)}}},
                 {"objectives", objectives_to_json(objectives)},
                 {"evaluations", std::move(list)},
                 {"best", std::move(best_ones)},
                 {"pareto", pareto_front(evaluations, among, objectives)},
                 {"counts", std::move(counts)},
                 {"reused", run.reused},
                 {"interrupted", run.interrupted},
                 {"journal", run.journal},
                 {"seconds", run.seconds}};
  if (!run.constraints.empty()) {
    object["subject_to"] = run.constraints.conditions();
    object["feasible"] = among;
  }
  if (objectives.size() > 1)
    object["front"] = front_to_json(analyse_front(evaluations, among, objectives), evaluations);
  if (run.host_watts) object["host_power"] = *run.host_watts;
  if (!run.remarks.empty()) object["remarks"] = run.remarks;
  return object;
}

std::string json_text(const json& object) {
  return object.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

}  // namespace wattune
