#include "store/journal_line.hpp"

#include <fmt/format.h>
#include <simdjson.h>
#include <xxhash.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

namespace wattune {

namespace {

namespace dom = simdjson::dom;

[[noreturn]] void damaged(std::string_view key, std::string_view reason) {
  throw DamagedLine{fmt::format("key '{}' {}", key, reason)};
}

template <typename Type>
Type get(dom::element element, std::string_view key, std::string_view expected) {
  Type value;
  if (element.get(value) != simdjson::SUCCESS) damaged(key, fmt::format("is not {}", expected));
  return value;
}

std::string text_of(dom::element element, std::string_view key) {
  return std::string(get<std::string_view>(element, key, "a string"));
}
std::int64_t integer_of(dom::element element, std::string_view key) {
  return get<std::int64_t>(element, key, "an integer");
}
double number_of(dom::element element, std::string_view key) {
  if (element.is_null()) return std::numeric_limits<double>::quiet_NaN();
  return get<double>(element, key, "a number");
}
dom::object object_of(dom::element element, std::string_view key) {
  return get<dom::object>(element, key, "an object");
}

Value value_of(dom::element element, std::string_view key) {
  switch (element.type()) {
    case dom::element_type::BOOL:
      return get<bool>(element, key, "a boolean");
    case dom::element_type::INT64:
      return get<std::int64_t>(element, key, "an integer");
    case dom::element_type::DOUBLE:
      return get<double>(element, key, "a number");
    case dom::element_type::STRING:
      return text_of(element, key);
    case dom::element_type::ARRAY: {
      Value::List list;
      for (const dom::element item : get<dom::array>(element, key, "a list")) list.push_back(value_of(item, key));
      return list;
    }
    default:
      damaged(key, "is no value of a parameter");
  }
}

Quantity quantity_of(dom::element element, std::string_view name) {
  Quantity quantity;
  bool has_value = false;
  for (const auto field : object_of(element, name)) {
    if (field.key == "value") {
      quantity.value = number_of(field.value, name);
      has_value = true;
    } else if (field.key == "unit") {
      quantity.unit = text_of(field.value, name);
    } else if (field.key == "stderr") {
      quantity.stderr_value = number_of(field.value, name);
    } else if (field.key == "n") {
      quantity.n = integer_of(field.value, name);
    } else if (field.key == "flags") {
      for (const dom::element flag : get<dom::array>(field.value, name, "a quantity with a list of flags")) {
        quantity.flags.push_back(text_of(flag, name));
      }
    } else if (field.key == "samples") {
      const auto samples = get<dom::array>(field.value, name, "a quantity with a list of samples");
      quantity.samples.reserve(samples.size());
      for (const dom::element sample : samples) quantity.samples.push_back(number_of(sample, name));
    }
  }
  if (!has_value) damaged(name, "has no value");
  return quantity;
}

/// The member that ends a line: `,"check":"0123abcd"}`.
constexpr std::string_view check_key = "check";
constexpr std::string_view check_begin = R"(,"check":")";
constexpr std::string_view check_end = R"("})";
constexpr std::size_t check_digits = 8;
constexpr std::size_t check_length = check_begin.size() + check_digits + check_end.size();

using Digits = std::array<char, check_digits>;
Digits checksum(std::string_view text) {
  const auto hash = static_cast<std::uint32_t>(XXH3_64bits(text.data(), text.size()));
  Digits digits;
  for (std::size_t i = 0; i < check_digits; ++i) {
    digits[i] = "0123456789abcdef"[(hash >> (4 * (check_digits - 1 - i))) & 15U];
  }
  return digits;
}

enum class Check { none, good, bad };
Check check(std::string_view line) {
  if (line.size() < check_length) return Check::none;
  const std::string_view before = line.substr(0, line.size() - check_length);
  const std::string_view member = line.substr(before.size());
  if (!member.starts_with(check_begin) || !member.ends_with(check_end)) return Check::none;
  const Digits digits = checksum(before);
  const bool good = member.substr(check_begin.size(), check_digits) == std::string_view(digits.data(), digits.size());
  return good ? Check::good : Check::bad;
}

[[noreturn]] void changed() {
  throw DamagedLine{"its checksum does not match: the line was changed after it was written"};
}

}  // namespace

std::string evaluation_line(const Evaluation& evaluation, const std::vector<std::string>& parameter_names) {
  std::string line =
      to_json(evaluation, parameter_names).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  line.pop_back();
  const Digits digits = checksum(line);
  line.append(check_begin).append(digits.data(), digits.size()).append(check_end).append(1, '\n');
  return line;
}

struct LineReader::Impl {
  explicit Impl(const std::vector<std::string>& parameter_names) : names_(parameter_names) {
    for (std::size_t i = 0; i < names_.size(); ++i) by_name_.push_back(i);
    std::sort(by_name_.begin(), by_name_.end(), [&](std::size_t a, std::size_t b) { return names_[a] < names_[b]; });
  }

  Evaluation read(std::string_view line) {
    dom::element root;
    const auto error = parser_.parse(line.data(), line.size(), false).get(root);
    if (error != simdjson::SUCCESS) throw DamagedLine{simdjson::error_message(error)};
    const Check checked = check(line);
    Evaluation evaluation;
    bool has_configuration = false;
    bool has_outcome = false;
    for (const auto field : object_of(root, "line")) {
      if (field.key == "configuration") {
        evaluation.configuration = configuration_of(field.value);
        has_configuration = true;
      } else if (field.key == "outcome") {
        const auto outcome = outcome_from(get<std::string_view>(field.value, field.key, "a string"));
        if (!outcome) damaged(field.key, "is no known outcome");
        evaluation.outcome = *outcome;
        has_outcome = true;
      } else if (field.key == check_key) {
        // Written anew by another program, so that nobody can say what is still as it was.
        if (checked == Check::none) changed();
      } else {
        read_field(evaluation, field.key, field.value);
      }
    }
    if (!has_configuration) damaged("configuration", "is missing");
    if (!has_outcome) damaged("outcome", "is missing");
    if (checked == Check::bad) changed();
    return evaluation;
  }

  /// Keys that this version does not know are left to those that do.
  static void read_field(Evaluation& evaluation, std::string_view key, dom::element value) {
    if (key == "quantities") {
      for (const auto field : object_of(value, key)) {
        evaluation.quantities.insert_or_assign(evaluation.quantities.end(), std::string(field.key),
                                               quantity_of(field.value, field.key));
      }
    } else if (key == "phases") {
      for (const auto field : object_of(value, key)) {
        evaluation.phases.insert_or_assign(evaluation.phases.end(), std::string(field.key),
                                           number_of(field.value, key));
      }
    } else if (key == "resources") {
      for (const auto field : object_of(value, key)) {
        evaluation.resources.insert_or_assign(evaluation.resources.end(), std::string(field.key),
                                              integer_of(field.value, key));
      }
    } else if (key == "message") {
      evaluation.message = text_of(value, key);
    } else if (key == "tier") {
      evaluation.tier = text_of(value, key);
    } else if (key == "trial") {
      evaluation.trial = integer_of(value, key);
    } else if (key == "verification") {
      evaluation.verification = text_of(value, key);
    } else if (key == "energy_estimator") {
      evaluation.energy_estimator = text_of(value, key);
    } else if (key == "board") {
      evaluation.board = text_of(value, key);
    } else if (key == "timestamp") {
      evaluation.timestamp = text_of(value, key);
    } else if (key == "proposal") {
      evaluation.proposal = integer_of(value, key);
    } else if (key == "told") {
      evaluation.told = integer_of(value, key);
    } else if (key == "asked") {
      evaluation.asked = integer_of(value, key);
    } else if (key == "declined") {
      evaluation.declined = integer_of(value, key);
    } else if (key == "run") {
      evaluation.run = text_of(value, key);
    }
  }

  std::vector<Value> configuration_of(dom::element element) {
    std::vector<Value> values(names_.size());
    seen_.assign(names_.size(), false);
    std::size_t found = 0;
    for (const auto field : object_of(element, "configuration")) {
      // Lines of ours have the names sorted, so the next one is nearly always the one that is due.
      std::size_t place = found;
      if (place >= by_name_.size() || names_[by_name_[place]] != field.key) {
        const auto match =
            std::lower_bound(by_name_.begin(), by_name_.end(), field.key,
                             [&](std::size_t index, std::string_view key) { return names_[index] < key; });
        if (match == by_name_.end() || names_[*match] != field.key) damaged(field.key, "is no parameter");
        place = static_cast<std::size_t>(match - by_name_.begin());
      }
      if (seen_[place]) damaged(field.key, "stands twice");
      seen_[place] = true;
      values[by_name_[place]] = value_of(field.value, field.key);
      ++found;
    }
    if (found != names_.size()) damaged("configuration", "does not have every parameter");
    return values;
  }

  const std::vector<std::string>& names_;
  std::vector<std::size_t> by_name_;  ///< indices of the names, sorted by name
  std::vector<bool> seen_;            ///< by place in by_name_, of the configuration being read
  dom::parser parser_;
};

const std::size_t LineReader::padding = simdjson::SIMDJSON_PADDING;

LineReader::LineReader(const std::vector<std::string>& parameter_names)
    : impl_(std::make_unique<Impl>(parameter_names)) {}
LineReader::~LineReader() = default;

Evaluation LineReader::read(std::string_view line) {
  return impl_->read(line);
}

}  // namespace wattune
