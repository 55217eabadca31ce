#include "expr/machine.hpp"

#include <algorithm>
#include <array>

namespace wattune {

namespace {

std::string_view operator_text(Instruction instruction) {
  constexpr std::array<std::string_view, 15> texts = {
      "+", "-", "*", "/", "//", "%", "**", "==", "!=", "<", "<=", ">", ">=", "in", "not in"};
  return texts[static_cast<std::size_t>(instruction)];
}

bool holds(Instruction comparison, std::partial_ordering order) {
  switch (comparison) {
    case Instruction::equal:
      return order == 0;
    case Instruction::not_equal:
      return order != 0;
    case Instruction::less:
      return order < 0;
    case Instruction::less_equal:
      return order <= 0;
    case Instruction::greater:
      return order > 0;
    default:
      return order >= 0;
  }
}

bool integers_compare(Instruction comparison, std::int64_t a, std::int64_t b) {
  switch (comparison) {
    case Instruction::equal:
      return a == b;
    case Instruction::not_equal:
      return a != b;
    case Instruction::less:
      return a < b;
    case Instruction::less_equal:
      return a <= b;
    case Instruction::greater:
      return a > b;
    default:
      return a >= b;
  }
}

/// Length of the UTF-8 character that starts with this byte; 1 for bytes that start none.
std::size_t character_length(char first) {
  const auto byte = static_cast<unsigned char>(first);
  return byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
}

}  // namespace

std::string_view type_name(const Slot& slot) {
  constexpr std::array<std::string_view, 5> names = {"bool", "int", "float", "str", "list"};
  return names[static_cast<std::size_t>(slot.type)];
}

bool Slot::truthy() const {
  switch (type) {
    case Value::Type::boolean:
      return boolean;
    case Value::Type::integer:
      return integer != 0;
    case Value::Type::floating:
      return floating != 0;
    case Value::Type::string:
      return !string->empty();
    case Value::Type::list:
      return !list->empty();
  }
  return false;
}

Slot to_slot(const Value& value) {
  switch (value.type()) {
    case Value::Type::boolean:
      return Slot(value.as_bool());
    case Value::Type::integer:
      return Slot(value.as_int());
    case Value::Type::floating:
      return Slot(value.as_double());
    case Value::Type::string:
      return Slot(&value.as_string());
    case Value::Type::list:
      return Slot(&value.as_list());
  }
  return {};
}

Value to_value(const Slot& slot) {
  switch (slot.type) {
    case Value::Type::boolean:
      return slot.boolean;
    case Value::Type::integer:
      return slot.integer;
    case Value::Type::floating:
      return slot.floating;
    case Value::Type::string:
      return *slot.string;
    case Value::Type::list:
      return *slot.list;
  }
  return {};
}

Fault Machine::check(const Step& step, Fault fault) {
  switch (fault) {
    case Fault::none:
      return fault;
    case Fault::division_by_zero:
      return fail(step, fault, "division by zero");
    case Fault::overflow:
      return fail(step, fault, "the result is too large for a 64-bit number");
    default:
      return fail(step, fault, "the result is not a real number");
  }
}

Fault Machine::work(const Step& step, std::size_t elements) {
  elements_ += elements;
  if (elements_ <= most_elements) return Fault::none;
  return fail(step, Fault::work, "more than {} list elements and steps of iterations", most_elements);
}

Value::List& Machine::new_list(Slot& target) {
  auto& lists = made().lists;
  lists.push_back(std::make_unique<Value::List>());
  target = Slot(static_cast<const Value::List*>(lists.back().get()));
  return *lists.back();
}

const std::string* Machine::new_string(std::string text) {
  auto& strings = made().strings;
  strings.push_back(std::make_unique<std::string>(std::move(text)));
  return strings.back().get();
}

Fault Machine::integer_operation(const Step& step, std::int64_t a, std::int64_t b, Slot& target) {
  std::int64_t integer = 0;
  double floating = 0;
  Fault fault = Fault::none;
  switch (step.instruction) {
    case Instruction::add:
      fault = arithmetic::add(a, b, integer);
      break;
    case Instruction::subtract:
      fault = arithmetic::subtract(a, b, integer);
      break;
    case Instruction::multiply:
      fault = arithmetic::multiply(a, b, integer);
      break;
    case Instruction::floor_divide:
      fault = arithmetic::floor_divide(a, b, integer);
      break;
    case Instruction::modulo:
      fault = arithmetic::modulo(a, b, integer);
      break;
    case Instruction::divide:
      fault = arithmetic::divide(a, b, floating);
      target = Slot(floating);
      return fault == Fault::none ? fault : check(step, fault);
    default:  // power
      if (b < 0) {
        fault = arithmetic::power(static_cast<double>(a), static_cast<double>(b), floating);
        target = Slot(floating);
        return check(step, fault);
      }
      fault = arithmetic::power(a, b, integer);
  }
  target = Slot(integer);
  return fault == Fault::none ? fault : check(step, fault);
}

Fault Machine::float_operation(const Step& step, double a, double b, Slot& target) {
  double result = 0;
  Fault fault = Fault::none;
  switch (step.instruction) {
    case Instruction::add:
      result = a + b;
      break;
    case Instruction::subtract:
      result = a - b;
      break;
    case Instruction::multiply:
      result = a * b;
      break;
    case Instruction::divide:
      fault = arithmetic::divide(a, b, result);
      break;
    case Instruction::floor_divide:
      fault = arithmetic::floor_divide(a, b, result);
      break;
    case Instruction::modulo:
      fault = arithmetic::modulo(a, b, result);
      break;
    default:
      fault = arithmetic::power(a, b, result);
      break;
  }
  target = Slot(result);
  return check(step, fault);
}

Fault Machine::joined(const Step& step, const Slot& a, const Slot& b, Slot& target) {
  if (a.type == Value::Type::string) {
    if (const Fault fault = work(step, (a.string->size() + b.string->size()) / sizeof(Value)); fault != Fault::none) {
      return fault;
    }
    target = Slot(new_string(*a.string + *b.string));
    return Fault::none;
  }
  const Value::List& first = *a.list;
  const Value::List& second = *b.list;
  const std::size_t size = first.size() + second.size();
  if (size > longest_list) return fail(step, Fault::work, "a list of more than {} elements", longest_list);
  if (const Fault fault = work(step, size); fault != Fault::none) return fault;
  Value::List& list = new_list(target);
  list.reserve(size);
  list.insert(list.end(), first.begin(), first.end());
  list.insert(list.end(), second.begin(), second.end());
  return Fault::none;
}

Fault Machine::arithmetic_operation(const Step& step, const Slot& a, const Slot& b, Slot& target) {
  if (a.is_integral() && b.is_integral()) return integer_operation(step, a.as_int(), b.as_int(), target);
  if (a.is_number() && b.is_number()) return float_operation(step, a.as_double(), b.as_double(), target);
  if (step.instruction == Instruction::add && a.type == b.type) return joined(step, a, b, target);
  return fail(step, Fault::type, "{} has no meaning for {} and {}", operator_text(step.instruction), type_name(a),
              type_name(b));
}

Fault Machine::equal(const Step& step, const Slot& a, const Slot& b, bool& result) {
  if (a.is_number() && b.is_number()) {
    auto ordering = std::partial_ordering::unordered;
    const Fault fault = order(step, a, b, ordering);
    result = ordering == 0;
    return fault;
  }
  result = a.type == b.type;
  if (!result) return Fault::none;
  if (a.type == Value::Type::string) {
    result = *a.string == *b.string;
    return Fault::none;
  }
  const Value::List& first = *a.list;
  const Value::List& second = *b.list;
  result = first.size() == second.size();
  if (!result) return Fault::none;
  if (const Fault fault = work(step, first.size()); fault != Fault::none) return fault;
  for (std::size_t i = 0; i < first.size() && result; ++i) {
    if (const Fault fault = equal(step, to_slot(first[i]), to_slot(second[i]), result); fault != Fault::none)
      return fault;
  }
  return Fault::none;
}

Fault Machine::order(const Step& step, const Slot& a, const Slot& b, std::partial_ordering& result) {
  if (a.is_number() && b.is_number()) {
    if (a.is_integral() && b.is_integral()) {
      result = a.as_int() <=> b.as_int();
    } else if (a.is_integral()) {
      result = arithmetic::compare(a.as_int(), b.floating);
    } else if (b.is_integral()) {
      result = 0 <=> arithmetic::compare(b.as_int(), a.floating);
    } else {
      result = a.floating <=> b.floating;
    }
    return Fault::none;
  }
  if (a.type != b.type) {
    const std::string_view what =
        step.instruction == Instruction::call ? to_string(step.function) : operator_text(step.instruction);
    return fail(step, Fault::type, "{} has no meaning for {} and {}", what, type_name(a), type_name(b));
  }
  if (a.type == Value::Type::string) {
    result = a.string->compare(*b.string) <=> 0;
    return Fault::none;
  }
  const Value::List& first = *a.list;
  const Value::List& second = *b.list;
  const std::size_t common = std::min(first.size(), second.size());
  if (const Fault fault = work(step, common); fault != Fault::none) return fault;
  for (std::size_t i = 0; i < common; ++i) {
    bool is_equal = false;
    if (const Fault fault = equal(step, to_slot(first[i]), to_slot(second[i]), is_equal); fault != Fault::none) {
      return fault;
    }
    if (is_equal) continue;
    return order(step, to_slot(first[i]), to_slot(second[i]), result);
  }
  result = first.size() <=> second.size();
  return Fault::none;
}

Fault Machine::membership(const Step& step, const Slot& a, const Slot& b, bool& found) {
  if (b.type == Value::Type::list) {
    if (const Fault fault = work(step, b.list->size()); fault != Fault::none) return fault;
    found = false;
    for (std::size_t i = 0; i < b.list->size() && !found; ++i) {
      if (const Fault fault = equal(step, a, to_slot((*b.list)[i]), found); fault != Fault::none) return fault;
    }
    return Fault::none;
  }
  if (b.type == Value::Type::string && a.type == Value::Type::string) {
    found = b.string->find(*a.string) != std::string::npos;
    return Fault::none;
  }
  return fail(step, Fault::type, "'in' has no meaning for {} and {}", type_name(a), type_name(b));
}

Fault Machine::comparison(const Step& step, const Slot& a, const Slot& b, Slot& target) {
  if (a.is_integral() && b.is_integral() && step.instruction <= Instruction::greater_equal) {
    target = Slot(integers_compare(step.instruction, a.as_int(), b.as_int()));
    return Fault::none;
  }
  bool result = false;
  switch (step.instruction) {
    case Instruction::equal:
    case Instruction::not_equal: {
      if (const Fault fault = equal(step, a, b, result); fault != Fault::none) return fault;
      if (step.instruction == Instruction::not_equal) result = !result;
      break;
    }
    case Instruction::in:
    case Instruction::not_in: {
      if (const Fault fault = membership(step, a, b, result); fault != Fault::none) return fault;
      if (step.instruction == Instruction::not_in) result = !result;
      break;
    }
    default: {
      auto ordering = std::partial_ordering::unordered;
      if (const Fault fault = order(step, a, b, ordering); fault != Fault::none) return fault;
      result = holds(step.instruction, ordering);
    }
  }
  target = Slot(result);
  return Fault::none;
}

Fault Machine::subscript(const Step& step, const Slot& a, const Slot& b, Slot& target) {
  if (a.type < Value::Type::string || !b.is_integral()) {
    return fail(step, Fault::type, "{} cannot be indexed with {}", type_name(a), type_name(b));
  }
  std::int64_t index = b.as_int();
  if (a.type == Value::Type::list) {
    const auto size = static_cast<std::int64_t>(a.list->size());
    if (index < 0) index += size;
    if (index < 0 || index >= size) {
      return fail(step, Fault::domain, "index {} is outside a list of {}", b.as_int(), size);
    }
    target = to_slot((*a.list)[static_cast<std::size_t>(index)]);
    return Fault::none;
  }
  std::vector<std::size_t> starts;  // of the characters
  for (std::size_t i = 0; i < a.string->size(); i += character_length((*a.string)[i])) starts.push_back(i);
  const auto size = static_cast<std::int64_t>(starts.size());
  if (index < 0) index += size;
  if (index < 0 || index >= size) {
    return fail(step, Fault::domain, "index {} is outside a string of {}", b.as_int(), size);
  }
  const std::size_t start = starts[static_cast<std::size_t>(index)];
  target = Slot(new_string(a.string->substr(start, character_length((*a.string)[start]))));
  return Fault::none;
}

Fault Machine::unary(const Step& step, const Slot& a, Slot& target) {
  if (step.instruction == Instruction::logical_not) {
    target = Slot(!a.truthy());
    return Fault::none;
  }
  if (!a.is_number()) {
    return fail(step, Fault::type, "{} has no meaning for {}", step.instruction == Instruction::negate ? "-" : "+",
                type_name(a));
  }
  if (!a.is_integral()) {
    target = Slot(step.instruction == Instruction::negate ? -a.floating : a.floating);
    return Fault::none;
  }
  std::int64_t result = a.as_int();
  const Fault fault = step.instruction == Instruction::negate ? arithmetic::negate(a.as_int(), result) : Fault::none;
  target = Slot(result);
  return check(step, fault);
}

Fault Machine::append(const Step& step, const Slot& list, const Slot& element) {
  // Compiled code appends only to lists that new_list() made, and nobody else has seen yet.
  auto& elements = const_cast<Value::List&>(*list.list);
  if (elements.size() == longest_list) return fail(step, Fault::work, "a list of more than {} elements", longest_list);
  elements.push_back(to_value(element));
  return work(step, element.type == Value::Type::list ? 1 + element.list->size() : 1);
}

Fault Machine::check_size(const Step& step, const Value::List& list) {
  if (const Fault fault = work(step, list.size()); fault != Fault::none) return fault;
  for (const Value& element : list) {
    if (!element.is_list()) continue;
    if (const Fault fault = check_size(step, element.as_list()); fault != Fault::none) return fault;
  }
  return Fault::none;
}

Fault Machine::next(const Step& step, Slot* iteration, Slot& target, bool& more) {
  const Value::List& list = *iteration[0].list;
  const auto position = static_cast<std::size_t>(iteration[1].integer++);
  more = position < list.size();
  if (!more) return Fault::none;
  target = to_slot(list[position]);
  return work(step, 1);
}

Fault Machine::binary(const Step& step, const Slot& a, const Slot& b, Slot& target) {
  if (step.instruction <= Instruction::power) return arithmetic_operation(step, a, b, target);
  if (step.instruction <= Instruction::not_in) return comparison(step, a, b, target);
  return subscript(step, a, b, target);
}

namespace {

/// The usual case, which most of the time is spent in: two integers whose result fits. False for all others.
inline bool quick(Instruction instruction, const Slot& a, const Slot& b, Slot& target) {
  if (a.type != Value::Type::integer || b.type != Value::Type::integer) return false;
  const std::int64_t x = a.integer;
  const std::int64_t y = b.integer;
  std::int64_t result = 0;
  switch (instruction) {
    case Instruction::add:
      if (arithmetic::add(x, y, result) != Fault::none) return false;
      break;
    case Instruction::subtract:
      if (arithmetic::subtract(x, y, result) != Fault::none) return false;
      break;
    case Instruction::multiply:
      if (arithmetic::multiply(x, y, result) != Fault::none) return false;
      break;
    case Instruction::modulo:
      if (arithmetic::modulo(x, y, result) != Fault::none) return false;
      break;
    case Instruction::equal:
      target = Slot(x == y);
      return true;
    case Instruction::not_equal:
      target = Slot(x != y);
      return true;
    case Instruction::less:
      target = Slot(x < y);
      return true;
    case Instruction::less_equal:
      target = Slot(x <= y);
      return true;
    case Instruction::greater:
      target = Slot(x > y);
      return true;
    case Instruction::greater_equal:
      target = Slot(x >= y);
      return true;
    default:
      return false;
  }
  target = Slot(result);
  return true;
}

}  // namespace

Fault Machine::run(const Program::Code& code, Slot* registers, Slot& result) {
  const Step* const steps = code.steps.data();
  for (const Step* step = steps;; ++step) {
    const Slot& a = registers[step->a];
    Slot& target = registers[step->target];
    Fault fault = Fault::none;
    switch (step->instruction) {
      case Instruction::finish:
        result = a;
        return Fault::none;
      case Instruction::jump:
        step = steps + step->b - 1;
        continue;
      case Instruction::jump_if_false:
        if (!a.truthy()) step = steps + step->b - 1;
        continue;
      case Instruction::jump_if_true:
        if (a.truthy()) step = steps + step->b - 1;
        continue;
      case Instruction::move:
        target = a;
        continue;
      case Instruction::plus:
      case Instruction::negate:
      case Instruction::logical_not:
        fault = unary(*step, a, target);
        break;
      case Instruction::call:
        fault = call(*step, &a, target);
        break;
      case Instruction::new_list:
        new_list(target);
        continue;
      case Instruction::append:
        fault = append(*step, target, a);
        break;
      case Instruction::begin_iteration:
        fault = require_list(*step, a);
        target = a;
        registers[step->target + 1] = Slot(std::int64_t{0});
        break;
      case Instruction::next_iteration: {
        bool more = false;
        fault = next(*step, &registers[step->a], target, more);
        if (!more) step = steps + step->b - 1;
        break;
      }
      default: {
        const Slot& b = registers[step->b];
        if (quick(step->instruction, a, b, target)) continue;
        fault = binary(*step, a, b, target);
      }
    }
    if (fault != Fault::none) return fault;
  }
}

namespace {

template <typename ValueAt>
Fault run_on(const Program::Code& code, ValueAt value_at, Value* value, bool* truth, EvaluationFault* details) {
  constexpr std::size_t usual_registers = 48;
  std::array<Slot, usual_registers> few;
  std::vector<Slot> many;
  Slot* registers = few.data();
  if (code.registers > usual_registers) {
    many.resize(code.registers);
    registers = many.data();
  }
  std::ranges::copy(code.constant_slots, registers);
  Slot* variable = registers + code.constant_slots.size();
  for (const std::uint32_t position : code.variables) *variable++ = to_slot(value_at(position));

  Machine machine(details);
  Slot result;
  Fault fault = machine.run(code, registers, result);
  if (fault == Fault::none && result.type == Value::Type::list) {
    fault = machine.check_size(code.steps.back(), *result.list);
  }
  if (fault != Fault::none) return fault;
  if (value != nullptr) *value = to_value(result);
  if (truth != nullptr) *truth = result.truthy();
  return Fault::none;
}

}  // namespace

Fault run_program(const Program::Code& code, std::span<const Value> values, Value* value, bool* truth,
                  EvaluationFault* details) {
  return run_on(
      code, [values](std::uint32_t i) -> const Value& { return values[i]; }, value, truth, details);
}

Fault test_program(const Program::Code& code, std::span<const Value* const> values, bool& truth) {
  return run_on(
      code, [values](std::uint32_t i) -> const Value& { return *values[i]; }, nullptr, &truth, nullptr);
}

}  // namespace wattune
