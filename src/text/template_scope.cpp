// Finds out, for every name of a template, which variable it means. The rules are jinja2's
// (jinja2/idtracking.py and compiler.py): which names a scope stores or loads is decided from the
// text before anything runs, so that a loop's body cannot change the variables around it and a name
// that is set later in the same scope does not reach the caller's variable of that name.
#include <map>
#include <set>

#include "base/error.h"
#include "base/strings.h"
#include "text/template_ast.h"

namespace crane::jinja {
namespace {

using Action = SlotLoad::Action;

// The names of one scope, or the copy of them that one branch of an `if` works on.
class Symbols {
 public:
  Symbols(const Symbols* outer, const Symbols* base) : outer_(outer), base_(base) {}

  bool has(const std::string& name) const {
    for (const Symbols* at = this; at != nullptr; at = at->base_)
      if (at->loads_.count(name) != 0) return true;
    return false;
  }
  bool stores(const std::string& name) const {
    for (const Symbols* at = this; at != nullptr; at = at->base_)
      if (at->stores_.count(name) != 0) return true;
    return false;
  }
  bool outer_has(const std::string& name) const {
    for (const Symbols* at = outer_; at != nullptr; at = at->outer_)
      if (at->has(name)) return true;
    return false;
  }
  void store(const std::string& name) {
    stores_.insert(name);
    if (!has(name)) loads_[name] = outer_has(name) ? Action::alias : Action::undefined;
  }
  void load(const std::string& name) {
    if (!has(name) && !outer_has(name)) loads_[name] = Action::resolve;
  }
  void declare_parameter(const std::string& name) {
    stores_.insert(name);
    loads_[name] = Action::parameter;
  }
  Symbols branch() const { return Symbols(outer_, this); }
  // A name that only some branches set keeps what it was before.
  void merge(const std::vector<Symbols>& branches) {
    std::set<std::string> fresh;
    for (const Symbols& branch : branches)
      for (const std::string& name : branch.stores_)
        if (!stores(name)) fresh.insert(name);
    for (const Symbols& branch : branches) {
      for (const auto& [name, action] : branch.loads_) loads_[name] = action;
      stores_.insert(branch.stores_.begin(), branch.stores_.end());
    }
    for (const std::string& name : fresh)
      loads_[name] = outer_has(name) ? Action::alias : Action::resolve;
  }
  const std::map<std::string, Action>& loads() const { return loads_; }
  const std::set<std::string>& stored() const { return stores_; }

 private:
  const Symbols* outer_;
  const Symbols* base_;
  std::map<std::string, Action> loads_;
  std::set<std::string> stores_;
};

struct Scope {
  explicit Scope(Scope* around)
      : outer(around), symbols(around ? &around->symbols : nullptr, nullptr) {}
  Scope* outer;
  Symbols symbols;
  ScopeLayout* layout = nullptr;
  std::map<std::string, int> indices;
};

// --- which names a scope loads and stores

void visit_expression(Symbols& symbols, const Expr* node, bool store_as_parameter = false) {
  if (node == nullptr) return;
  if (node->kind == ExprKind::name) {
    if (store_as_parameter) {
      symbols.declare_parameter(node->text);
    } else if (node->store && !node->namespace_reference) {
      symbols.store(node->text);
    } else {
      symbols.load(node->text);
    }
  }
  for (const ExprPtr& child : node->children)
    visit_expression(symbols, child.get(), store_as_parameter);
}

void visit_body(Symbols& symbols, const Body& body);

void visit_if(Symbols& symbols, const Statement& node) {
  visit_expression(symbols, node.branches[0].test.get());
  std::vector<Symbols> branches;
  branches.push_back(symbols.branch());
  visit_body(branches.back(), node.branches[0].body);
  Symbols middle = symbols.branch();
  Symbols last = symbols.branch();
  for (size_t i = 1; i < node.branches.size(); ++i) {
    const Branch& branch = node.branches[i];
    if (branch.test == nullptr) {
      visit_body(last, branch.body);
      continue;
    }
    visit_expression(middle, branch.test.get());
    std::vector<Symbols> inner;
    inner.push_back(middle.branch());
    visit_body(inner.back(), branch.body);
    middle.merge(inner);
  }
  branches.push_back(std::move(middle));
  branches.push_back(std::move(last));
  symbols.merge(branches);
}

void visit_statement(Symbols& symbols, const Statement& node) {
  switch (node.kind) {
    case StatementKind::output:
      for (const OutputItem& item : node.output) visit_expression(symbols, item.expression.get());
      break;
    case StatementKind::if_chain:
      visit_if(symbols, node);
      break;
    case StatementKind::for_loop:
    case StatementKind::call_block:
    case StatementKind::unavailable:
      visit_expression(symbols, node.value.get());
      break;
    case StatementKind::set:
      visit_expression(symbols, node.value.get());
      visit_expression(symbols, node.target_expression.get());
      break;
    case StatementKind::set_block:
      visit_expression(symbols, node.target_expression.get());
      break;
    case StatementKind::macro:
      symbols.store(node.name);
      break;
    case StatementKind::filter_block:
      visit_expression(symbols, node.filter.get());
      break;
    case StatementKind::with:
      for (const auto& binding : node.bindings) visit_expression(symbols, binding.second.get());
      break;
    case StatementKind::autoescape:
    case StatementKind::block:
    case StatementKind::break_loop:
    case StatementKind::continue_loop:
      break;
  }
}

void visit_body(Symbols& symbols, const Body& body) {
  for (const StatementPtr& statement : body) visit_statement(symbols, *statement);
}

// --- which of some names are used without being set before

class UndeclaredNames {
 public:
  explicit UndeclaredNames(std::set<std::string> names) : names_(std::move(names)) {}
  std::set<std::string> found;

  void visit(const Expr* node) {
    if (node == nullptr) return;
    if (node->kind == ExprKind::name && !node->namespace_reference) {
      if (!node->store && names_.count(node->text) != 0) {
        found.insert(node->text);
      } else {
        names_.erase(node->text);
      }
    }
    for (const ExprPtr& child : node->children) visit(child.get());
  }
  void visit(const Body& body) {
    for (const StatementPtr& statement : body) visit(*statement);
  }

 private:
  void visit(const MacroNode& macro) {
    for (const Parameter& parameter : macro.parameters) names_.erase(parameter.name);
    for (const Parameter& parameter : macro.parameters) visit(parameter.fallback.get());
    visit(macro.body);
  }
  void visit(const Statement& node) {
    if (node.kind == StatementKind::block) return;
    visit(node.target_expression.get());
    for (const OutputItem& item : node.output) visit(item.expression.get());
    for (const Branch& branch : node.branches) {
      visit(branch.test.get());
      visit(branch.body);
    }
    for (const auto& binding : node.bindings) names_erase_target(binding.first.get());
    for (const auto& binding : node.bindings) visit(binding.second.get());
    visit(node.value.get());
    if (node.macro != nullptr) visit(*node.macro);
    if (node.kind == StatementKind::set_block) visit(node.filter.get());
    visit(node.body);
    if (node.kind == StatementKind::filter_block) visit(node.filter.get());
    visit(node.else_body);
    visit(node.test.get());
  }
  void names_erase_target(const Expr* target) {
    if (target->kind == ExprKind::name) names_.erase(target->text);
    for (const ExprPtr& child : target->children) names_erase_target(child.get());
  }

  std::set<std::string> names_;
};

// --- the walk that gives every name its slot

class Resolver {
 public:
  explicit Resolver(Template& tree) : tree_(tree) {}

  void run() {
    collect_blocks(tree_.body);
    Scope root(nullptr);
    UndeclaredNames undeclared({"self"});
    undeclared.visit(tree_.body);
    bool uses_self = !undeclared.found.empty();
    if (uses_self) root.symbols.declare_parameter("self");
    visit_body(root.symbols, tree_.body);
    finish(root, tree_.scope);
    if (uses_self) tree_.self_slot = root.indices.at("self");
    State state;
    state.top_level = true;
    walk_body(tree_.body, root, state);
    for (Statement* block : tree_.blocks) walk_block(*block);
  }

 private:
  struct State {
    bool top_level = false;
    bool soft = false;     // inside a condition: unknown filters only fail when reached
    bool in_loop = false;  // break and continue have a loop to act on
  };

  [[noreturn]] static void error(const std::string& message, Position at) {
    throw SyntaxError(message, at);
  }

  void collect_blocks(Body& body) {
    for (StatementPtr& node : body) {
      if (node->kind == StatementKind::block) {
        for (Statement* other : tree_.blocks)
          if (other->name == node->name)
            error(cat("block '", node->name, "' defined twice"), node->position);
        tree_.blocks.push_back(node.get());
      }
      collect_blocks(node->body);
      collect_blocks(node->else_body);
      for (Branch& branch : node->branches) collect_blocks(branch.body);
      if (node->macro != nullptr) collect_blocks(node->macro->body);
    }
  }

  // Numbers the scope's variables once its names are known.
  static void finish(Scope& scope, ScopeLayout& layout) {
    scope.layout = &layout;
    for (const auto& [name, action] : scope.symbols.loads()) {
      scope.indices[name] = static_cast<int>(layout.loads.size());
      SlotLoad load;
      load.action = action;
      load.name = name;
      if (action == Action::alias) {
        load.source = find(*scope.outer, name);
        ++load.source.hops;
      }
      layout.loads.push_back(std::move(load));
    }
  }

  static Slot find(const Scope& scope, const std::string& name) {
    Slot slot;
    for (const Scope* at = &scope; at != nullptr; at = at->outer, ++slot.hops) {
      auto found = at->indices.find(name);
      if (found == at->indices.end()) continue;
      slot.index = found->second;
      return slot;
    }
    throw Error(ErrorCode::internal, cat("chat template: no slot for '", name, "'"));
  }

  static void capture(Scope& scope) {
    for (Scope* at = &scope; at != nullptr; at = at->outer) at->layout->captured = true;
  }

  // --- expressions
  void walk(Expr* node, Scope& scope, State state) {
    if (node == nullptr) return;
    switch (node->kind) {
      case ExprKind::name:
        node->slot = find(scope, node->text);
        break;
      case ExprKind::conditional:
        state.soft = true;
        break;
      case ExprKind::concat:
        node->escape = escape_;
        break;
      case ExprKind::filter:
      case ExprKind::test:
        bind_function(*node, state.soft);
        break;
      default:
        break;
    }
    for (ExprPtr& child : node->children) walk(child.get(), scope, state);
  }

  static void bind_function(Expr& node, bool soft) {
    bool is_filter = node.kind == ExprKind::filter;
    if (const char* reason = is_filter ? unsupported_filter(node.text) : nullptr)
      error(cat("the filter '", node.text, "' is not supported: ", reason), node.position);
    node.function = is_filter ? find_filter(node.text) : find_test(node.text);
    if (node.function == nullptr && !soft)
      error(cat("No ", is_filter ? "filter" : "test", " named '", node.text, "'."), node.position);
  }

  Target make_target(const Expr& node, Scope& scope) {
    Target target;
    if (node.kind == ExprKind::tuple) {
      target.kind = Target::Kind::tuple;
      for (const ExprPtr& child : node.children) target.items.push_back(make_target(*child, scope));
      return target;
    }
    if (for_depth_ > 0 && node.text == "loop" && !node.namespace_reference)
      error("Can't assign to special loop variable in for-loop target", node.position);
    target.kind = node.namespace_reference ? Target::Kind::attribute : Target::Kind::variable;
    target.name = node.namespace_reference ? node.attribute : node.text;
    target.slot = find(scope, node.text);
    return target;
  }

  // --- statements
  void walk_body(Body& body, Scope& scope, State state) {
    for (StatementPtr& node : body) walk_statement(*node, scope, state);
  }

  void walk_statement(Statement& node, Scope& scope, State state) {
    node.escape = escape_;
    node.top_level = state.top_level;
    switch (node.kind) {
      case StatementKind::output:
        for (OutputItem& item : node.output) walk(item.expression.get(), scope, state);
        break;
      case StatementKind::if_chain:
        state.soft = true;
        for (Branch& branch : node.branches) {
          walk(branch.test.get(), scope, state);
          walk_body(branch.body, scope, state);
        }
        break;
      case StatementKind::for_loop:
        walk_for(node, scope, state);
        break;
      case StatementKind::set:
        walk(node.value.get(), scope, state);
        node.target = make_target(*node.target_expression, scope);
        break;
      case StatementKind::set_block:
      case StatementKind::filter_block:
        walk_buffered(node, scope, state);
        break;
      case StatementKind::macro:
        node.target.slot = find(scope, node.name);
        walk_macro(*node.macro, scope, node.position);
        break;
      case StatementKind::call_block:
        walk_macro(*node.macro, scope, node.position);
        walk(node.value.get(), scope, state);
        break;
      case StatementKind::with:
        walk_with(node, scope, state);
        break;
      case StatementKind::autoescape:
        walk_autoescape(node, scope, state);
        break;
      case StatementKind::block:
        if (node.scoped) list_visible(node, scope);
        break;
      case StatementKind::break_loop:
      case StatementKind::continue_loop:
        if (!state.in_loop)
          error(node.kind == StatementKind::break_loop ? "'break' outside loop"
                                                       : "'continue' not properly in loop",
                node.position);
        break;
      case StatementKind::unavailable:
        walk(node.value.get(), scope, state);
        break;
    }
  }

  void walk_for(Statement& node, Scope& scope, State outer_state) {
    walk(node.value.get(), scope, outer_state);
    ++for_depth_;
    Scope body(&scope);
    body.symbols.declare_parameter("loop");
    visit_expression(body.symbols, node.target_expression.get(), true);
    visit_body(body.symbols, node.body);
    finish(body, node.scope);
    node.target = make_target(*node.target_expression, body);
    State state;
    if (node.test != nullptr) {
      Scope test(&scope);
      visit_expression(test.symbols, node.target_expression.get(), true);
      visit_expression(test.symbols, node.test.get());
      finish(test, node.test_scope);
      node.test_target = make_target(*node.target_expression, test);
      walk(node.test.get(), test, state);
    }
    state.in_loop = true;
    walk_body(node.body, body, state);
    Scope otherwise(&scope);
    visit_body(otherwise.symbols, node.else_body);
    finish(otherwise, node.else_scope);
    state.in_loop = outer_state.in_loop && !node.recursive;
    walk_body(node.else_body, otherwise, state);
    --for_depth_;
    if (node.recursive) capture(scope);
  }

  // {% set %} … {% endset %} and {% filter %}
  void walk_buffered(Statement& node, Scope& scope, State outer_state) {
    Scope inner(&scope);
    visit_body(inner.symbols, node.body);
    visit_expression(inner.symbols, node.filter.get());
    finish(inner, node.scope);
    State state;
    state.in_loop = outer_state.in_loop;
    walk_body(node.body, inner, state);
    walk(node.filter.get(), inner, state);
    if (node.kind == StatementKind::set_block)
      node.target = make_target(*node.target_expression, scope);
  }

  void walk_macro(MacroNode& macro, Scope& outer, Position at) {
    Scope scope(&outer);
    for (const Parameter& parameter : macro.parameters) {
      scope.symbols.declare_parameter(parameter.name);
      macro.explicit_caller = macro.explicit_caller || parameter.name == "caller";
      if (parameter.name == "caller" && parameter.fallback == nullptr && uses_caller(macro))
        error(
            "When defining macros or call blocks the special \"caller\" argument must be omitted "
            "or be given a default.",
            at);
    }
    for (const Parameter& parameter : macro.parameters)
      visit_expression(scope.symbols, parameter.fallback.get());
    visit_body(scope.symbols, macro.body);
    UndeclaredNames undeclared({"caller", "kwargs", "varargs"});
    undeclared.visit(macro.body);
    bool is_parameter[3] = {false, false, false};
    const char* const names[3] = {"caller", "kwargs", "varargs"};
    int* const slots[3] = {&macro.caller_slot, &macro.kwargs_slot, &macro.varargs_slot};
    for (int i = 0; i < 3; ++i)
      for (const Parameter& parameter : macro.parameters)
        is_parameter[i] = is_parameter[i] || parameter.name == names[i];
    for (int i = 0; i < 3; ++i)
      if (undeclared.found.count(names[i]) != 0 && !is_parameter[i])
        scope.symbols.declare_parameter(names[i]);
    finish(scope, macro.scope);
    for (int i = 0; i < 3; ++i)
      if (undeclared.found.count(names[i]) != 0 && !is_parameter[i])
        *slots[i] = scope.indices.at(names[i]);
    if (macro.explicit_caller && undeclared.found.count("caller") != 0)
      macro.caller_slot = scope.indices.at("caller");
    State state;
    for (Parameter& parameter : macro.parameters) {
      parameter.slot = find(scope, parameter.name);
      walk(parameter.fallback.get(), scope, state);
    }
    walk_body(macro.body, scope, state);
    capture(outer);
  }

  static bool uses_caller(const MacroNode& macro) {
    UndeclaredNames undeclared({"caller"});
    undeclared.visit(macro.body);
    return !undeclared.found.empty();
  }

  void walk_with(Statement& node, Scope& outer, State outer_state) {
    Scope scope(&outer);
    for (const auto& binding : node.bindings)
      visit_expression(scope.symbols, binding.first.get(), true);
    visit_body(scope.symbols, node.body);
    finish(scope, node.scope);
    int depth = std::exchange(for_depth_, 0);  // a with target may be named loop
    for (auto& binding : node.bindings) {
      node.with_targets.push_back(make_target(*binding.first, scope));
      walk(binding.second.get(), outer, outer_state);
    }
    for_depth_ = depth;
    State state;
    state.in_loop = outer_state.in_loop;
    walk_body(node.body, scope, state);
  }

  void walk_autoescape(Statement& node, Scope& outer, State outer_state) {
    Scope scope(&outer);
    visit_expression(scope.symbols, node.value.get());
    visit_body(scope.symbols, node.body);
    finish(scope, node.scope);
    State state;
    state.in_loop = outer_state.in_loop;
    walk(node.value.get(), scope, state);
    Expr::Escape saved = escape_;
    escape_ = Expr::Escape::by_context;
    const Value& flag = node.value->value;
    if (node.value->kind == ExprKind::constant && flag.is(Kind::boolean))
      escape_ = flag.as_boolean() ? Expr::Escape::on : Expr::Escape::off;
    walk_body(node.body, scope, state);
    escape_ = saved;
  }

  void walk_block(Statement& node) {
    Scope scope(nullptr);
    UndeclaredNames undeclared({"self", "super"});
    undeclared.visit(node.body);
    for (const std::string& name : undeclared.found) scope.symbols.declare_parameter(name);
    visit_body(scope.symbols, node.body);
    finish(scope, node.scope);
    escape_ = Expr::Escape::off;
    walk_body(node.body, scope, State());
  }

  static void list_visible(Statement& node, const Scope& scope) {
    std::set<std::string> seen;
    for (const Scope* at = &scope; at != nullptr; at = at->outer)
      for (const std::string& name : at->symbols.stored())
        if (seen.insert(name).second) node.visible.emplace_back(name, find(scope, name));
  }

  Template& tree_;
  Expr::Escape escape_ = Expr::Escape::off;
  int for_depth_ = 0;
};

}  // namespace

void resolve_names(Template& tree) { Resolver(tree).run(); }

}  // namespace crane::jinja
