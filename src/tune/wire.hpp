#pragma once
// What coordinator, workers and compile processes say to one another, as JSON values.

#include <nlohmann/json_fwd.hpp>

#include "backend/backend.hpp"
#include "problem/problem.hpp"
#include "result/outcome.hpp"

namespace wattune {

nlohmann::json to_json(const DeviceInfo& device);
DeviceInfo device_from_json(const nlohmann::json& json);

nlohmann::json to_json(const CompileRequest& request);
CompileRequest compile_request_from_json(const nlohmann::json& json);

nlohmann::json to_json(const CompileResult& result);
CompileResult compile_result_from_json(const nlohmann::json& json);

nlohmann::json to_json(const Failure& failure);
Failure failure_from_json(const nlohmann::json& json);

/// A configuration, as a list.
nlohmann::json to_json(const std::vector<Value>& configuration);

}  // namespace wattune
