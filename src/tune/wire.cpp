#include "tune/wire.hpp"

#include <nlohmann/json.hpp>

#include "result/evaluation.hpp"

namespace wattune {

using nlohmann::json;

json to_json(const DeviceInfo& d) {
  return {{"id", d.id},
          {"name", d.name},
          {"backend", d.backend},
          {"kind", d.kind},
          {"uuid", d.uuid},
          {"pci", d.pci},
          {"platform", d.platform},
          {"driver", d.driver},
          {"architecture", d.architecture},
          {"global_memory", d.global_memory},
          {"local_memory", d.local_memory},
          {"max_work_group", d.max_work_group},
          {"max_block", d.max_block},
          {"max_grid", d.max_grid},
          {"max_allocation", d.max_allocation},
          {"compute_units", d.compute_units},
          {"simulated", d.simulated}};
}

DeviceInfo device_from_json(const json& j) {
  DeviceInfo d;
  j.at("id").get_to(d.id);
  j.at("name").get_to(d.name);
  j.at("backend").get_to(d.backend);
  j.at("kind").get_to(d.kind);
  j.at("uuid").get_to(d.uuid);
  j.at("pci").get_to(d.pci);
  j.at("platform").get_to(d.platform);
  j.at("driver").get_to(d.driver);
  j.at("architecture").get_to(d.architecture);
  j.at("global_memory").get_to(d.global_memory);
  j.at("local_memory").get_to(d.local_memory);
  j.at("max_work_group").get_to(d.max_work_group);
  j.at("max_block").get_to(d.max_block);
  j.at("max_grid").get_to(d.max_grid);
  j.at("max_allocation").get_to(d.max_allocation);
  j.at("compute_units").get_to(d.compute_units);
  j.at("simulated").get_to(d.simulated);
  return d;
}

json to_json(const CompileRequest& r) {
  return {{"device", r.device},
          {"source", r.source},
          {"file", r.file},
          {"defines", r.defines},
          {"options", r.options},
          {"include_paths", r.include_paths},
          {"includes_hash", r.includes_hash},
          {"kernel_name", r.kernel_name}};
}

CompileRequest compile_request_from_json(const json& j) {
  CompileRequest r;
  j.at("device").get_to(r.device);
  j.at("source").get_to(r.source);
  j.at("file").get_to(r.file);
  j.at("defines").get_to(r.defines);
  j.at("options").get_to(r.options);
  j.at("include_paths").get_to(r.include_paths);
  j.at("includes_hash").get_to(r.includes_hash);
  j.at("kernel_name").get_to(r.kernel_name);
  return r;
}

json to_json(const CompileResult& r) {
  return {{"binary", json::binary(r.binary)}, {"entry", r.entry},       {"symbols", r.symbols}, {"log", r.log},
          {"resources", r.resources},         {"compiler", r.compiler}, {"seconds", r.seconds}, {"cached", r.cached}};
}

CompileResult compile_result_from_json(const json& j) {
  CompileResult r;
  r.binary = j.at("binary").get_binary();
  j.at("entry").get_to(r.entry);
  j.at("symbols").get_to(r.symbols);
  j.at("log").get_to(r.log);
  j.at("resources").get_to(r.resources);
  j.at("compiler").get_to(r.compiler);
  j.at("seconds").get_to(r.seconds);
  j.at("cached").get_to(r.cached);
  return r;
}

json to_json(const Failure& failure) {
  return {{"outcome", to_string(failure.outcome)}, {"message", failure.message}};
}

Failure failure_from_json(const json& j) {
  return {outcome_from(j.at("outcome").get<std::string>()).value_or(Outcome::crash),
          j.at("message").get<std::string>()};
}

json to_json(const std::vector<Value>& configuration) {
  json list = json::array();
  for (const auto& value : configuration) list.push_back(to_json(value));
  return list;
}

}  // namespace wattune
