#pragma once
// Runs compiled programs. Internal to expr/.

#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "expr/program.hpp"

namespace wattune {

class Machine {
 public:
  explicit Machine(EvaluationFault* details) : details_(details) {}

  /// Registers hold the constants and variables of `code`. Leaves the result in `result`.
  Fault run(const Program::Code& code, Slot* registers, Slot& result);

  /// Lists may hold one list many times over; counts what the result holds when written out in full.
  Fault check_size(const Step& step, const Value::List& list);

 private:
  Fault binary(const Step& step, const Slot& a, const Slot& b, Slot& target);
  Fault arithmetic_operation(const Step& step, const Slot& a, const Slot& b, Slot& target);
  Fault integer_operation(const Step& step, std::int64_t a, std::int64_t b, Slot& target);
  Fault float_operation(const Step& step, double a, double b, Slot& target);
  Fault joined(const Step& step, const Slot& a, const Slot& b, Slot& target);
  Fault comparison(const Step& step, const Slot& a, const Slot& b, Slot& target);
  Fault membership(const Step& step, const Slot& a, const Slot& b, bool& found);
  Fault subscript(const Step& step, const Slot& a, const Slot& b, Slot& target);
  Fault unary(const Step& step, const Slot& a, Slot& target);
  Fault append(const Step& step, const Slot& list, const Slot& element);
  Fault next(const Step& step, Slot* iteration, Slot& target, bool& more);

  // The functions.
  Fault call(const Step& step, const Slot* arguments, Slot& target);
  Fault call_range(const Step& step, const Slot* arguments, Slot& target);
  Fault call_extreme(const Step& step, const Slot* arguments, Slot& target);
  Fault call_sum(const Step& step, const Slot& argument, Slot& target);
  Fault call_round(const Step& step, const Slot* arguments, Slot& target);
  Fault call_log(const Step& step, const Slot* arguments, Slot& target);
  Fault call_conversion(const Step& step, const Slot& argument, Slot& target);
  Fault call_on_number(const Step& step, const Slot& argument, Slot& target);
  Fault require_list(const Step& step, const Slot& argument);

  Fault order(const Step& step, const Slot& a, const Slot& b, std::partial_ordering& result);
  Fault equal(const Step& step, const Slot& a, const Slot& b, bool& result);

  Value::List& new_list(Slot& target);
  const std::string* new_string(std::string text);
  /// Counts `elements` towards the limit on work.
  Fault work(const Step& step, std::size_t elements);

  /// Notes what is wrong; the reason is formatted only where somebody wants to know.
  template <typename... Arguments>
  Fault fail(const Step& step, Fault fault, fmt::format_string<Arguments...> format, Arguments&&... arguments) {
    if (details_ != nullptr)
      *details_ = {fault, step.column, fmt::format(format, std::forward<Arguments>(arguments)...)};
    return fault;
  }
  /// The same for the faults of arithmetic, which need no words of their own. `fault` may be none.
  Fault check(const Step& step, Fault fault);

  /// Lists and strings made on the way. Most expressions make none.
  struct Made {
    std::vector<std::unique_ptr<Value::List>> lists;
    std::vector<std::unique_ptr<std::string>> strings;
  };
  Made& made() {
    if (!made_) made_ = std::make_unique<Made>();
    return *made_;
  }

  EvaluationFault* details_;
  std::unique_ptr<Made> made_;
  std::size_t elements_ = 0;
};

/// Names of a type and a function, for messages.
std::string_view type_name(const Slot& slot);
std::string_view to_string(ast::Function function);

}  // namespace wattune
