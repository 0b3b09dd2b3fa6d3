// Runs a parsed template: a walk over its tree, with one environment of variables per scope.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "text/template_ast.h"
#include "text/template_runtime.h"

namespace crane::jinja {

// The variables of one scope while it runs.
struct Environment {
  Environment* outer = nullptr;
  std::vector<Value> slots;
};

// The renderer's error, with the place in the template.
struct RenderError : std::runtime_error {
  RenderError(const std::string& message, Position at, bool was_raised)
      : std::runtime_error(message), position(at), raised(was_raised) {}
  Position position;
  bool raised;
};

class Interpreter : public Runtime {
 public:
  using Variables = std::map<std::string, Value, std::less<>>;

  Interpreter(const Template& tree, const Limits& limits, std::optional<std::tm> now,
              Variables variables);
  ~Interpreter() override;
  std::string render();  // throws RenderError

  Value call(const Value& function, Arguments arguments) override;
  Value object_attribute(const Value& object, std::string_view name) override;
  int64_t loop_length(const Value& loop) override;
  std::string describe(const Value& value) override;
  Value make_namespace(std::vector<std::pair<std::string, Value>> attributes) override;

 private:
  enum class Flow { normal, break_loop, continue_loop };
  class ScopeGuard;
  class BufferGuard;
  class DepthGuard;
  class LoopFilter;
  class LoopEnd;
  struct BlockContext {
    Variables locals;  // of a scoped block
    bool scoped = false;
  };

  // --- statements (template_interpreter.cpp)
  Flow run(const Body& body);
  Flow run(const Statement& node);
  void run_output(const Statement& node);
  Flow run_if(const Statement& node);
  Flow run_for(const Statement& node);
  Flow run_loop(const Statement& node, const Value& iterable, int depth0);
  void run_iterations(const Statement& node, const Value& loop, bool& completed);
  void run_set(const Statement& node);
  Flow run_set_block(const Statement& node);
  Flow run_filter_block(const Statement& node);
  void run_call_block(const Statement& node);
  Flow run_with(const Statement& node);
  Flow run_autoescape(const Statement& node);
  void run_block(const Statement& node);
  std::string render_block(const Statement& node);
  void write(const Value& value, Expr::Escape escape);
  void write_text(const Value& value);
  bool escapes(Expr::Escape escape) const;

  // --- variables
  Value& slot(const Slot& at) const;
  void enter(const ScopeLayout& layout, Environment& environment);
  Environment* make_environment(const ScopeLayout& layout, Environment& on_stack);
  Value resolve(const std::string& name);
  void assign(const Target& target, const Value& value, bool top_level);
  Value read(const Target& target) const;
  void check_namespaces(const Target& target) const;

  // --- expressions (template_expressions.cpp)
  Value evaluate(const Expr& node);
  Value evaluate_kind(const Expr& node);
  Value evaluate_name(const Expr& node);
  Value evaluate_sequence(const Expr& node);
  Value evaluate_dict(const Expr& node);
  Value evaluate_binary(const Expr& node);
  Value evaluate_unary(const Expr& node);
  Value evaluate_logical(const Expr& node);
  Value evaluate_compare(const Expr& node);
  Value evaluate_concat(const Expr& node);
  Value evaluate_conditional(const Expr& node);
  Value evaluate_attribute(const Expr& node);
  Value evaluate_item(const Expr& node);
  Value evaluate_slice(const Expr& node);
  Value evaluate_call(const Expr& node, const Value* caller);
  Value evaluate_filter(const Expr& node);
  Value evaluate_test(const Expr& node);
  Arguments evaluate_arguments(const Expr& node);
  void add_star(const Value& value, Arguments& arguments);
  void add_double_star(const Value& value, Arguments& arguments);

  // --- macros and loops (template_calls.cpp)
  Value make_macro(const MacroNode& node);
  Value call_macro(const Value& macro, Arguments arguments);
  void bind_macro(const Value& macro, Arguments& arguments, Environment& environment);
  Value call_loop(const Value& loop, const Arguments& arguments);
  Value peek_next(const Value& loop);
  bool advance(const Value& loop, Value& item);
  static Value loop_cycle(Runtime& runtime, const Value& self, const Arguments& arguments);
  static Value loop_changed(Runtime& runtime, const Value& self, const Arguments& arguments);

  const Template& tree_;
  Variables variables_;  // of the caller
  Variables exported_;   // set at the top level, as blocks see them
  std::vector<BlockContext> block_contexts_;
  Environment* environment_ = nullptr;
  std::string* out_ = nullptr;
  Position where_;
  int calls_ = 0;
  bool constant_output_ = false;                    // inside an output that depends on no variable
  const Value* filter_input_ = nullptr;             // the text of a set or filter block
  std::vector<std::unique_ptr<Environment>> kept_;  // what macros may still refer to
  std::vector<Value> namespaces_;                   // to untie cycles in the end
};

struct MacroObject : Object {
  const MacroNode* node = nullptr;
  Environment* environment = nullptr;  // around the definition; lives as long as the render
};

struct LoopObject : Object {
  Value iterable;
  std::unique_ptr<Iterator> iterator;
  int64_t index0 = -1;
  int64_t length = -1;  // -1: not counted yet
  int depth0 = 0;
  Value before, current, after, last_changed;  // missing at first
  const Statement* recursive = nullptr;
  Environment* environment = nullptr;
  bool finished = false;
};

struct BlockObject : Object {
  const Statement* node = nullptr;  // null: `self`, which finds blocks by name
};

}  // namespace crane::jinja
