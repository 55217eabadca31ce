#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "expr/nearest_name.hpp"
#include "expr/program.hpp"

namespace wattune {

namespace {

using ast::Kind;
using ast::Node;
using ast::Operation;

Instruction instruction_of(Operation operation) {
  switch (operation) {
    case Operation::add:
      return Instruction::add;
    case Operation::subtract:
      return Instruction::subtract;
    case Operation::multiply:
      return Instruction::multiply;
    case Operation::divide:
      return Instruction::divide;
    case Operation::floor_divide:
      return Instruction::floor_divide;
    case Operation::modulo:
      return Instruction::modulo;
    case Operation::power:
      return Instruction::power;
    case Operation::plus:
      return Instruction::plus;
    case Operation::negate:
      return Instruction::negate;
    case Operation::logical_not:
      return Instruction::logical_not;
    case Operation::equal:
      return Instruction::equal;
    case Operation::not_equal:
      return Instruction::not_equal;
    case Operation::less:
      return Instruction::less;
    case Operation::less_equal:
      return Instruction::less_equal;
    case Operation::greater:
      return Instruction::greater;
    case Operation::greater_equal:
      return Instruction::greater_equal;
    case Operation::in:
      return Instruction::in;
    case Operation::not_in:
      return Instruction::not_in;
  }
  return Instruction::finish;
}

class Compiler {
 public:
  Compiler(const std::string& text, int locals, std::span<const std::string> names) : names_(names) {
    code_.text = text;
    locals_ = static_cast<std::uint32_t>(locals);
  }

  Program::Code run(const Node& root) {
    const std::uint32_t result = compile(root);
    emit({Instruction::finish, {}, root.column, 0, result, 0});
    layout();
    return std::move(code_);
  }

 private:
  // While steps are emitted the number of constants and variables is not known yet, so registers are numbered in
  // three ranges, which layout() moves together.
  static constexpr std::uint32_t variable_base = 1U << 30;
  static constexpr std::uint32_t temporary_base = 2U << 30;

  std::uint32_t emit(Step step) {
    code_.steps.push_back(step);
    return static_cast<std::uint32_t>(code_.steps.size() - 1);
  }
  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(code_.steps.size()); }
  void land(std::uint32_t jump) { code_.steps[jump].b = here(); }

  std::uint32_t temporary() {
    const std::uint32_t result = temporary_base + locals_ + temporaries_++;
    most_temporaries_ = std::max(most_temporaries_, temporaries_);
    return result;
  }

  std::uint32_t constant(const Value& value) {
    for (std::size_t i = 0; i < code_.constants.size() && i < 64; ++i) {
      const Value& known = code_.constants[i];
      if (known.type() == value.type() && !value.is_list() && !value.is_float() && known == value) {
        return static_cast<std::uint32_t>(i);
      }
    }
    code_.constants.push_back(value);
    return static_cast<std::uint32_t>(code_.constants.size() - 1);
  }

  std::uint32_t variable(const Node& node) {
    const auto found = std::ranges::find(names_, node.name);
    if (found == names_.end()) {
      throw ExpressionError(code_.text, node.column,
                            fmt::format("unknown name '{}'{}", node.name, did_you_mean(node.name, names_)),
                            Fault::name);
    }
    const auto position = static_cast<std::uint32_t>(found - names_.begin());
    const auto known = std::ranges::find(code_.variables, position);
    if (known == code_.variables.end()) {
      code_.variables.push_back(position);
      return variable_base + static_cast<std::uint32_t>(code_.variables.size() - 1);
    }
    return variable_base + static_cast<std::uint32_t>(known - code_.variables.begin());
  }

  /// Emits the steps that compute `node` and returns the register it is in. Temporaries that were taken on the way
  /// are given back, but for the result.
  std::uint32_t compile(const Node& node) {
    if (node.kind == Kind::literal) return constant(node.value);
    if (node.kind == Kind::name) return node.local == ast::free_name ? variable(node) : local(node.local);
    if (node.constant && !folding_) {
      if (const auto folded = fold(node)) return *folded;
    }
    const std::uint32_t before = temporaries_;
    const std::uint32_t target = temporary();
    compile_into(node, target);
    temporaries_ = before + 1;
    return target;
  }

  /// A constant subtree is evaluated once; one that fails stays, to fail when (and if) it is evaluated.
  std::optional<std::uint32_t> fold(const Node& node) {
    Compiler inner(code_.text, static_cast<int>(locals_), {});
    inner.folding_ = true;
    Value value;
    if (run_program(inner.run(node), {}, &value, nullptr, nullptr) != Fault::none) return std::nullopt;
    return constant(value);
  }

  [[nodiscard]] static std::uint32_t local(int number) { return temporary_base + static_cast<std::uint32_t>(number); }

  void compile_into(const Node& node, std::uint32_t target) {
    switch (node.kind) {
      case Kind::unary: {
        const std::uint32_t operand = compile(node.children[0]);
        emit({instruction_of(node.operation), {}, node.column, target, operand, 0});
        break;
      }
      case Kind::binary: {
        const std::uint32_t a = compile(node.children[0]);
        const std::uint32_t b = compile(node.children[1]);
        emit({instruction_of(node.operation), {}, node.column, target, a, b});
        break;
      }
      case Kind::subscript: {
        const std::uint32_t a = compile(node.children[0]);
        const std::uint32_t b = compile(node.children[1]);
        emit({Instruction::subscript, {}, node.column, target, a, b});
        break;
      }
      case Kind::comparison:
        compile_comparison(node, target);
        break;
      case Kind::logical_and:
        compile_logical(node, Instruction::jump_if_false, target);
        break;
      case Kind::logical_or:
        compile_logical(node, Instruction::jump_if_true, target);
        break;
      case Kind::conditional:
        compile_conditional(node, target);
        break;
      case Kind::list:
        compile_list(node, target);
        break;
      case Kind::call:
        compile_call(node, target);
        break;
      case Kind::comprehension:
        compile_comprehension(node, target);
        break;
      case Kind::literal:
      case Kind::name:
        break;  // never here: compile() returns their registers
    }
  }

  /// Emits the steps that leave the value of `node` in `target`.
  void compile_to(const Node& node, std::uint32_t target) {
    const std::uint32_t before = temporaries_;
    const bool is_leaf = node.kind == Kind::literal || node.kind == Kind::name;
    if (is_leaf || (node.constant && !folding_)) {
      const std::uint32_t from = compile(node);
      emit({Instruction::move, {}, node.column, target, from, 0});
    } else {
      compile_into(node, target);
    }
    temporaries_ = before;
  }

  /// a < b < c: each operand is evaluated at most once, and those after the first false comparison not at all.
  void compile_comparison(const Node& node, std::uint32_t target) {
    std::vector<std::uint32_t> exits;
    std::uint32_t left = compile(node.children[0]);
    for (std::size_t i = 0; i < node.comparisons.size(); ++i) {
      const std::uint32_t right = compile(node.children[i + 1]);
      emit({instruction_of(node.comparisons[i]), {}, node.column, target, left, right});
      if (i + 1 < node.comparisons.size()) {
        exits.push_back(emit({Instruction::jump_if_false, {}, node.column, 0, target, 0}));
      }
      left = right;
    }
    for (const std::uint32_t exit : exits) land(exit);
  }

  void compile_logical(const Node& node, Instruction exit_jump, std::uint32_t target) {
    std::vector<std::uint32_t> exits;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      compile_to(node.children[i], target);
      if (i + 1 < node.children.size()) exits.push_back(emit({exit_jump, {}, node.column, 0, target, 0}));
    }
    for (const std::uint32_t exit : exits) land(exit);
  }

  void compile_conditional(const Node& node, std::uint32_t target) {
    const std::uint32_t condition = compile(node.children[0]);
    const std::uint32_t to_else = emit({Instruction::jump_if_false, {}, node.column, 0, condition, 0});
    compile_to(node.children[1], target);
    const std::uint32_t to_end = emit({Instruction::jump, {}, node.column, 0, 0, 0});
    land(to_else);
    compile_to(node.children[2], target);
    land(to_end);
  }

  void compile_list(const Node& node, std::uint32_t target) {
    emit({Instruction::new_list, {}, node.column, target, 0, 0});
    for (const Node& child : node.children) {
      const std::uint32_t before = temporaries_;
      const std::uint32_t element = compile(child);
      emit({Instruction::append, {}, child.column, target, element, 0});
      temporaries_ = before;
    }
  }

  void compile_call(const Node& node, std::uint32_t target) {
    const auto count = static_cast<std::uint32_t>(node.children.size());
    std::vector<std::uint32_t> arguments(count);
    for (std::uint32_t& argument : arguments) argument = temporary();
    for (std::size_t i = 0; i < arguments.size(); ++i) compile_to(node.children[i], arguments[i]);
    emit({Instruction::call, node.function, node.column, target, count == 0 ? target : arguments[0], count});
  }

  void compile_comprehension(const Node& node, std::uint32_t target) {
    emit({Instruction::new_list, {}, node.column, target, 0, 0});
    compile_clause(node, 0, target);
  }

  void compile_clause(const Node& node, std::size_t clause, std::uint32_t target) {
    if (clause == node.clauses.size()) {
      const std::uint32_t element = compile(node.children[0]);
      emit({Instruction::append, {}, node.children[0].column, target, element, 0});
      return;
    }
    const std::uint32_t before = temporaries_;
    const Node& source = node.children[clause + 1];
    if (node.clauses[clause] == ast::condition_clause) {
      const std::uint32_t condition = compile(source);
      const std::uint32_t skip = emit({Instruction::jump_if_false, {}, source.column, 0, condition, 0});
      compile_clause(node, clause + 1, target);
      land(skip);
    } else {
      const std::uint32_t iteration = temporary();
      temporary();  // its position
      const std::uint32_t list = compile(source);
      emit({Instruction::begin_iteration, {}, source.column, iteration, list, 0});
      const std::uint32_t next =
          emit({Instruction::next_iteration, {}, source.column, local(node.clauses[clause]), iteration, 0});
      compile_clause(node, clause + 1, target);
      emit({Instruction::jump, {}, source.column, 0, 0, next});
      land(next);
    }
    temporaries_ = before;
  }

  void layout() {
    const auto constants = static_cast<std::uint32_t>(code_.constants.size());
    const auto variables = static_cast<std::uint32_t>(code_.variables.size());
    const auto place = [&](std::uint32_t& reg) {
      if (reg >= temporary_base) {
        reg = reg - temporary_base + constants + variables;
      } else if (reg >= variable_base) {
        reg = reg - variable_base + constants;
      }
    };
    for (Step& step : code_.steps) {
      place(step.target);
      place(step.a);
      if (step.instruction <= Instruction::subscript) place(step.b);  // elsewhere it is a count or a step
    }
    code_.registers = constants + variables + locals_ + most_temporaries_;
    for (const Value& value : code_.constants) code_.constant_slots.push_back(to_slot(value));
  }

  std::span<const std::string> names_;
  Program::Code code_;
  std::uint32_t locals_ = 0;
  std::uint32_t temporaries_ = 0;
  std::uint32_t most_temporaries_ = 0;
  bool folding_ = false;
};

}  // namespace

Program::Code compile_program(const std::string& text, const ast::Node& root, int locals,
                              std::span<const std::string> names) {
  return Compiler(text, locals, names).run(root);
}

}  // namespace wattune
