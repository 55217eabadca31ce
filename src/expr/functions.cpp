// The functions of the language.

#include <algorithm>
#include <charconv>
#include <string>

#include "expr/machine.hpp"

namespace wattune {

namespace {

using ast::Function;

std::size_t characters(const std::string& text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view spaces = " \t\n\r";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

}  // namespace

std::string_view to_string(Function function) {
  constexpr std::array<std::string_view, 17> names = {"range", "len",  "min",  "max",   "sum",   "abs",
                                                      "all",   "any",  "int",  "float", "round", "ceil",
                                                      "floor", "sqrt", "log2", "log",   "list"};
  return names[static_cast<std::size_t>(function)];
}

Fault Machine::require_list(const Step& step, const Slot& argument) {
  if (argument.type == Value::Type::list) return Fault::none;
  return fail(step, Fault::type, "a list is needed here, not {}", type_name(argument));
}

Fault Machine::call_range(const Step& step, const Slot* arguments, Slot& target) {
  for (std::uint32_t i = 0; i < step.b; ++i) {
    if (!arguments[i].is_integral())
      return fail(step, Fault::type, "range() takes integers, not {}", type_name(arguments[i]));
  }
  const std::int64_t first = step.b == 1 ? 0 : arguments[0].as_int();
  const std::int64_t end = arguments[step.b == 1 ? 0 : 1].as_int();
  const std::int64_t stride = step.b == 3 ? arguments[2].as_int() : 1;
  if (stride == 0) return fail(step, Fault::domain, "the step of range() is 0");
  using Wide = __int128;
  const Wide distance = stride > 0 ? Wide{end} - first : Wide{first} - end;
  const Wide width = stride > 0 ? Wide{stride} : -Wide{stride};
  const Wide count = distance <= 0 ? 0 : (distance + width - 1) / width;
  if (count > Wide{longest_list}) return fail(step, Fault::work, "a range of more than {} elements", longest_list);
  if (const Fault fault = work(step, static_cast<std::size_t>(count)); fault != Fault::none) return fault;
  Value::List& list = new_list(target);
  list.reserve(static_cast<std::size_t>(count));
  for (Wide i = 0; i < count; ++i) list.emplace_back(static_cast<std::int64_t>(Wide{first} + i * stride));
  return Fault::none;
}

Fault Machine::call_extreme(const Step& step, const Slot* arguments, Slot& target) {
  const bool wants_more = step.function == Function::max;
  // The first of equal ones wins, as in Python.
  const auto consider = [&](const Slot& candidate, Slot& best) {
    auto ordering = std::partial_ordering::unordered;
    const Fault fault = order(step, candidate, best, ordering);
    if (fault == Fault::none && (wants_more ? ordering > 0 : ordering < 0)) best = candidate;
    return fault;
  };
  if (step.b > 1) {
    Slot best = arguments[0];
    for (std::uint32_t i = 1; i < step.b; ++i) {
      if (const Fault fault = consider(arguments[i], best); fault != Fault::none) return fault;
    }
    target = best;
    return Fault::none;
  }
  if (const Fault fault = require_list(step, arguments[0]); fault != Fault::none) return fault;
  const Value::List& list = *arguments[0].list;
  if (list.empty()) return fail(step, Fault::domain, "{}() of an empty list", to_string(step.function));
  if (const Fault fault = work(step, list.size()); fault != Fault::none) return fault;
  Slot best = to_slot(list[0]);
  for (std::size_t i = 1; i < list.size(); ++i) {
    if (const Fault fault = consider(to_slot(list[i]), best); fault != Fault::none) return fault;
  }
  target = best;
  return Fault::none;
}

Fault Machine::call_sum(const Step& step, const Slot& argument, Slot& target) {
  if (const Fault fault = require_list(step, argument); fault != Fault::none) return fault;
  if (const Fault fault = work(step, argument.list->size()); fault != Fault::none) return fault;
  Step addition = step;
  addition.instruction = Instruction::add;
  Slot total(std::int64_t{0});
  for (const Value& element : *argument.list) {
    if (!element.is_number()) {
      return fail(step, Fault::type, "sum() takes numbers, not {}", element.type_name());
    }
    if (const Fault fault = arithmetic_operation(addition, total, to_slot(element), total); fault != Fault::none) {
      return fault;
    }
  }
  target = total;
  return Fault::none;
}

Fault Machine::call_round(const Step& step, const Slot* arguments, Slot& target) {
  const Slot& number = arguments[0];
  if (!number.is_number()) return fail(step, Fault::type, "round() takes a number, not {}", type_name(number));
  if (step.b == 1) {
    if (number.is_integral()) {
      target = Slot(number.as_int());
      return Fault::none;
    }
    std::int64_t result = 0;
    const Fault fault = arithmetic::round(number.floating, result);
    target = Slot(result);
    return check(step, fault);
  }
  if (!arguments[1].is_integral()) {
    return fail(step, Fault::type, "the digits of round() are an integer, not {}", type_name(arguments[1]));
  }
  const std::int64_t digits = arguments[1].as_int();
  if (digits < 0) return fail(step, Fault::domain, "round() takes no negative number of digits");
  if (number.is_integral()) {
    target = Slot(number.as_int());
    return Fault::none;
  }
  // A double has no more than 1074 digits after the point. Printing rounds its exact value, halves to even.
  constexpr std::int64_t most_digits = 1100;
  const double value = number.floating;
  if (digits > most_digits || !std::isfinite(value)) {
    target = Slot(value);
    return Fault::none;
  }
  const std::string text = fmt::format("{:.{}f}", value, static_cast<int>(digits));
  target = Slot(std::strtod(text.c_str(), nullptr));
  return Fault::none;
}

Fault Machine::call_log(const Step& step, const Slot* arguments, Slot& target) {
  double results[2] = {0, 1};
  for (std::uint32_t i = 0; i < step.b; ++i) {
    if (!arguments[i].is_number())
      return fail(step, Fault::type, "log() takes a number, not {}", type_name(arguments[i]));
    const double argument = arguments[i].as_double();
    if (arithmetic::log(argument, results[i]) != Fault::none) {
      return fail(step, Fault::domain, "log() of {}", to_value(arguments[i]).str());
    }
  }
  if (step.b == 1) {
    target = Slot(results[0]);
    return Fault::none;
  }
  double quotient = 0;
  const Fault fault = arithmetic::divide(results[0], results[1], quotient);
  target = Slot(quotient);
  return check(step, fault);
}

Fault Machine::call_conversion(const Step& step, const Slot& argument, Slot& target) {
  const bool to_integer = step.function == Function::int_;
  if (argument.is_number()) {
    if (!to_integer) {
      target = Slot(argument.as_double());
      return Fault::none;
    }
    std::int64_t result = 0;
    const Fault fault = argument.is_integral() ? (result = argument.as_int(), Fault::none)
                                               : arithmetic::truncate(argument.floating, result);
    target = Slot(result);
    return check(step, fault);
  }
  if (argument.type != Value::Type::string) {
    return fail(step, Fault::type, "{}() takes a number or a string, not {}", to_string(step.function),
                type_name(argument));
  }
  std::string_view text = trimmed(*argument.string);
  if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
  const char* const end = text.data() + text.size();
  std::int64_t integer = 0;
  double floating = 0;
  const auto read =
      to_integer ? std::from_chars(text.data(), end, integer) : std::from_chars(text.data(), end, floating);
  if (read.ec != std::errc() || read.ptr != end) {
    return fail(step, Fault::domain, "{}() of '{}', which is no number of that kind", to_string(step.function),
                argument.string->substr(0, 40));
  }
  target = to_integer ? Slot(integer) : Slot(floating);
  return Fault::none;
}

Fault Machine::call_on_number(const Step& step, const Slot& argument, Slot& target) {
  if (!argument.is_number()) {
    return fail(step, Fault::type, "{}() takes a number, not {}", to_string(step.function), type_name(argument));
  }
  std::int64_t integer = argument.is_integral() ? argument.as_int() : 0;
  double floating = argument.as_double();
  Fault fault = Fault::none;
  switch (step.function) {
    case Function::abs:
      if (argument.is_integral()) {
        fault = arithmetic::absolute(integer, integer);
        target = Slot(integer);
      } else {
        target = Slot(std::fabs(floating));
      }
      return check(step, fault);
    case Function::ceil:
    case Function::floor:
      if (!argument.is_integral()) {
        fault = step.function == Function::ceil ? arithmetic::ceil(floating, integer)
                                                : arithmetic::floor(floating, integer);
      }
      target = Slot(integer);
      return check(step, fault);
    case Function::sqrt:
      fault = arithmetic::square_root(floating, floating);
      break;
    default:
      fault = arithmetic::log2(floating, floating);
      break;
  }
  target = Slot(floating);
  if (fault == Fault::none) return fault;
  return fail(step, fault, "{}() of {}", to_string(step.function), to_value(argument).str());
}

Fault Machine::call(const Step& step, const Slot* arguments, Slot& target) {
  switch (step.function) {
    case Function::range:
      return call_range(step, arguments, target);
    case Function::min:
    case Function::max:
      return call_extreme(step, arguments, target);
    case Function::sum:
      return call_sum(step, arguments[0], target);
    case Function::round:
      return call_round(step, arguments, target);
    case Function::log:
      return call_log(step, arguments, target);
    case Function::int_:
    case Function::float_:
      return call_conversion(step, arguments[0], target);
    case Function::len:
      if (arguments[0].type == Value::Type::string) {
        target = Slot(static_cast<std::int64_t>(characters(*arguments[0].string)));
        return Fault::none;
      }
      if (const Fault fault = require_list(step, arguments[0]); fault != Fault::none) return fault;
      target = Slot(static_cast<std::int64_t>(arguments[0].list->size()));
      return Fault::none;
    case Function::all:
    case Function::any: {
      if (const Fault fault = require_list(step, arguments[0]); fault != Fault::none) return fault;
      if (const Fault fault = work(step, arguments[0].list->size()); fault != Fault::none) return fault;
      const auto is_true = [](const Value& element) { return element.truthy(); };
      target = Slot(step.function == Function::all ? std::ranges::all_of(*arguments[0].list, is_true)
                                                   : std::ranges::any_of(*arguments[0].list, is_true));
      return Fault::none;
    }
    case Function::list:
      if (step.b == 0) {
        new_list(target);
        return Fault::none;
      }
      if (const Fault fault = require_list(step, arguments[0]); fault != Fault::none) return fault;
      target = arguments[0];
      return Fault::none;
    default:
      return call_on_number(step, arguments[0], target);
  }
}

}  // namespace wattune
