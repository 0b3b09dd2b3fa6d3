#include "text/template_interpreter.h"

#include <new>

#include "base/strings.h"

namespace crane::jinja {

// Makes an environment current while it lives.
class Interpreter::ScopeGuard {
 public:
  ScopeGuard(Interpreter& interpreter, Environment* environment)
      : interpreter_(interpreter), saved_(interpreter.environment_) {
    interpreter_.environment_ = environment;
  }
  ~ScopeGuard() { interpreter_.environment_ = saved_; }
  ScopeGuard(const ScopeGuard&) = delete;
  ScopeGuard& operator=(const ScopeGuard&) = delete;

 private:
  Interpreter& interpreter_;
  Environment* saved_;
};

// Sends output into a text of its own while it lives.
class Interpreter::BufferGuard {
 public:
  BufferGuard(Interpreter& interpreter, std::string& buffer)
      : interpreter_(interpreter), saved_(interpreter.out_) {
    interpreter_.out_ = &buffer;
  }
  ~BufferGuard() { interpreter_.out_ = saved_; }
  BufferGuard(const BufferGuard&) = delete;
  BufferGuard& operator=(const BufferGuard&) = delete;

 private:
  Interpreter& interpreter_;
  std::string* saved_;
};

// The lazy sequence of a for with an `if`: tests each item in the test's own scope.
class Interpreter::LoopFilter : public Iterator {
 public:
  LoopFilter(Interpreter& interpreter, const Statement& node, const Value& source)
      : interpreter_(interpreter), node_(node), source_(iterate(interpreter, source)) {
    environment_.outer = interpreter.environment_;
  }
  bool next(Runtime&, Value& out) override {
    if (!entered_) {
      ScopeGuard scope(interpreter_, &environment_);
      interpreter_.enter(node_.test_scope, environment_);
      entered_ = true;
    }
    Value item;
    while (source_->next(interpreter_, item)) {
      ScopeGuard scope(interpreter_, &environment_);
      interpreter_.assign(node_.test_target, item, false);
      if (!is_true(interpreter_, interpreter_.evaluate(*node_.test))) continue;
      out = interpreter_.read(node_.test_target);
      return true;
    }
    return false;
  }

 private:
  Interpreter& interpreter_;
  const Statement& node_;
  Environment environment_;
  std::unique_ptr<Iterator> source_;
  bool entered_ = false;
};

Interpreter::Interpreter(const Template& tree, const Limits& limits, std::optional<std::tm> now,
                         Variables variables)
    : Runtime(limits, now), tree_(tree), variables_(std::move(variables)) {}

Interpreter::~Interpreter() {
  // Values can refer to each other in circles only through namespaces; emptying them unties all.
  for (const Value& value : namespaces_) {
    auto attributes = std::move(value.as<NamespaceObject>().attributes);
    value.as<NamespaceObject>().attributes.clear();
  }
  for (auto& environment : kept_) environment->slots.clear();
}

std::string Interpreter::render() {
  std::string out;
  out_ = &out;
  try {
    Environment on_stack;
    Environment* environment = make_environment(tree_.scope, on_stack);
    ScopeGuard scope(*this, environment);
    enter(tree_.scope, *environment);
    if (tree_.self_slot >= 0)
      environment->slots[static_cast<size_t>(tree_.self_slot)] =
          make(Kind::block, std::make_unique<BlockObject>());
    run(tree_.body);
  } catch (const Failure& failure) {
    throw RenderError(failure.what(), where_, failure.raised);
  } catch (const std::bad_alloc&) {
    throw RenderError("out of memory", where_, false);
  }
  return out;
}

// --- variables

Value& Interpreter::slot(const Slot& at) const {
  Environment* environment = environment_;
  for (int i = 0; i < at.hops; ++i) environment = environment->outer;
  return environment->slots[static_cast<size_t>(at.index)];
}

// Gives the scope's variables their first values; `environment` must be current.
void Interpreter::enter(const ScopeLayout& layout, Environment& environment) {
  step(1 + layout.loads.size() / 8);
  environment.slots.resize(layout.loads.size());
  for (size_t i = 0; i < layout.loads.size(); ++i) {
    const SlotLoad& load = layout.loads[i];
    switch (load.action) {
      case SlotLoad::Action::parameter:
        break;
      case SlotLoad::Action::undefined:
        environment.slots[i] = Value();
        break;
      case SlotLoad::Action::resolve:
        environment.slots[i] = resolve(load.name);
        break;
      case SlotLoad::Action::alias:
        environment.slots[i] = slot(load.source);
        break;
    }
  }
}

// The environment of a scope around the current one: kept to the end where a macro refers to it.
Environment* Interpreter::make_environment(const ScopeLayout& layout, Environment& on_stack) {
  on_stack.outer = environment_;
  if (!layout.captured) return &on_stack;
  meter_.add(sizeof(Environment) + layout.loads.size() * sizeof(Value));
  kept_.push_back(std::make_unique<Environment>());
  kept_.back()->outer = environment_;
  return kept_.back().get();
}

Value Interpreter::resolve(const std::string& name) {
  if (!block_contexts_.empty()) {
    const Variables& locals = block_contexts_.back().locals;
    if (auto found = locals.find(name); found != locals.end()) return found->second;
  }
  if (auto found = exported_.find(name); found != exported_.end()) return found->second;
  if (auto found = variables_.find(name); found != variables_.end()) return found->second;
  return find_global(*this, name);
}

void Interpreter::assign(const Target& target, const Value& value, bool top_level) {
  switch (target.kind) {
    case Target::Kind::variable:
      slot(target.slot) = value;
      if (top_level && !tree_.blocks.empty()) exported_[target.name] = value;
      return;
    case Target::Kind::attribute: {
      const Value& name_space = slot(target.slot);
      if (target.name[0] == '_')
        fail(
            cat("Chat templates cannot store underscore-prefixed attributes on a namespace, but "
                "got ",
                quote(target.name), ". Please rename the attribute."));
      name_space.as<NamespaceObject>().set(target.name, value);
      return;
    }
    case Target::Kind::tuple:
      break;
  }
  std::unique_ptr<Iterator> items = iterate(*this, value);
  std::vector<Value> values;
  Value item;
  while (values.size() <= target.items.size() && items->next(*this, item)) values.push_back(item);
  if (values.size() > target.items.size())
    fail(cat("too many values to unpack (expected ", target.items.size(), ")"));
  if (values.size() < target.items.size())
    fail(cat("not enough values to unpack (expected ", target.items.size(), ", got ", values.size(),
             ")"));
  for (size_t i = 0; i < values.size(); ++i) assign(target.items[i], values[i], top_level);
}

Value Interpreter::read(const Target& target) const {
  if (target.kind != Target::Kind::tuple) return slot(target.slot);
  std::vector<Value> values;
  for (const Target& item : target.items) values.push_back(read(item));
  return const_cast<Interpreter*>(this)->tuple(std::move(values));
}

void Interpreter::check_namespaces(const Target& target) const {
  if (target.kind == Target::Kind::attribute && !slot(target.slot).is(Kind::name_space))
    fail("cannot assign attribute on non-namespace object");
  for (const Target& item : target.items) check_namespaces(item);
}

// --- statements

Interpreter::Flow Interpreter::run(const Body& body) {
  for (const StatementPtr& statement : body) {
    Flow flow = run(*statement);
    if (flow != Flow::normal) return flow;
  }
  return Flow::normal;
}

Interpreter::Flow Interpreter::run(const Statement& node) {
  step();
  where_ = node.position;
  descend();
  Flow flow = Flow::normal;
  switch (node.kind) {
    case StatementKind::output:
      run_output(node);
      break;
    case StatementKind::if_chain:
      flow = run_if(node);
      break;
    case StatementKind::for_loop:
      flow = run_for(node);
      break;
    case StatementKind::set:
      run_set(node);
      break;
    case StatementKind::set_block:
      flow = run_set_block(node);
      break;
    case StatementKind::macro:
      slot(node.target.slot) = make_macro(*node.macro);
      if (node.top_level && !tree_.blocks.empty()) exported_[node.name] = slot(node.target.slot);
      break;
    case StatementKind::call_block:
      run_call_block(node);
      break;
    case StatementKind::filter_block:
      flow = run_filter_block(node);
      break;
    case StatementKind::with:
      flow = run_with(node);
      break;
    case StatementKind::autoescape:
      flow = run_autoescape(node);
      break;
    case StatementKind::block:
      run_block(node);
      break;
    case StatementKind::break_loop:
      flow = Flow::break_loop;
      break;
    case StatementKind::continue_loop:
      flow = Flow::continue_loop;
      break;
    case StatementKind::unavailable:
      fail(cat("'", node.name, "': no loader for this environment specified"));
  }
  --depth_;
  return flow;
}

bool Interpreter::escapes(Expr::Escape escape) const {
  return escape == Expr::Escape::by_context ? autoescape_ : escape == Expr::Escape::on;
}

void Interpreter::write(const Value& value, Expr::Escape escape) {
  if (escapes(escape)) {
    out_->append(jinja::escape(*this, value).text());
  } else {
    print(*this, value, *out_);
  }
  check_size(out_->size());
}

// The result of a filter or call block, which jinja2 does not convert.
void Interpreter::write_text(const Value& value) {
  if (!value.is_string())
    fail(cat("sequence item 0: expected str instance, ", type_name(value), " found"));
  write(value, Expr::Escape::off);
}

void Interpreter::run_output(const Statement& node) {
  for (const OutputItem& item : node.output) {
    if (item.expression == nullptr) {
      copy_cost(item.data.size());
      out_->append(item.data);
      check_size(out_->size());
      continue;
    }
    constant_output_ = item.expression->constant;
    Value value = evaluate(*item.expression);
    constant_output_ = false;
    where_ = item.expression->position;
    write(value, node.escape);
  }
}

Interpreter::Flow Interpreter::run_if(const Statement& node) {
  for (const Branch& branch : node.branches)
    if (branch.test == nullptr || is_true(*this, evaluate(*branch.test))) return run(branch.body);
  return Flow::normal;
}

Interpreter::Flow Interpreter::run_for(const Statement& node) {
  Value iterable = evaluate(*node.value);
  where_ = node.value->position;
  if (!node.recursive) return run_loop(node, iterable, 0);
  std::string buffer;
  {
    BufferGuard guard(*this, buffer);
    run_loop(node, iterable, 0);
  }
  out_->append(buffer);
  check_size(out_->size());
  return Flow::normal;
}

// Whoever kept a loop object must not keep what it refers to: that could be itself.
class Interpreter::LoopEnd {
 public:
  explicit LoopEnd(const Value& loop) : loop_(loop.as<LoopObject>()) {}
  ~LoopEnd() {
    loop_.finished = true;
    loop_.iterator.reset();
    for (Value* value :
         {&loop_.before, &loop_.current, &loop_.after, &loop_.last_changed, &loop_.iterable})
      *value = Value();
  }
  LoopEnd(const LoopEnd&) = delete;
  LoopEnd& operator=(const LoopEnd&) = delete;

 private:
  LoopObject& loop_;
};

// One loop with its else branch, in the current environment.
Interpreter::Flow Interpreter::run_loop(const Statement& node, const Value& iterable, int depth0) {
  Value source = iterable;
  if (node.test != nullptr)
    source = generator(std::make_unique<LoopFilter>(*this, node, iterable), "<generator object>",
                       1 + nesting_of(iterable));
  auto object = std::make_unique<LoopObject>();
  object->iterable = source;
  object->iterator = iterate(*this, source);
  object->depth0 = depth0;
  object->recursive = node.recursive ? &node : nullptr;
  object->environment = environment_;
  Value loop = make(Kind::loop, std::move(object));
  bool completed = false;
  {
    LoopEnd end(loop);
    run_iterations(node, loop, completed);
  }
  if (completed || node.else_body.empty()) return Flow::normal;
  Environment on_stack;
  Environment* environment = make_environment(node.else_scope, on_stack);
  ScopeGuard scope(*this, environment);
  enter(node.else_scope, *environment);
  return run(node.else_body);
}

// `completed`: one iteration at least came to its end, so that the else branch is not run. (An
// iteration that breaks or continues does not count; jinja2 has it so.)
void Interpreter::run_iterations(const Statement& node, const Value& loop, bool& completed) {
  Environment on_stack;
  Environment* environment = make_environment(node.scope, on_stack);
  ScopeGuard scope(*this, environment);
  environment->slots.resize(node.scope.loads.size());
  size_t loop_slot = 0;
  while (node.scope.loads[loop_slot].name != "loop") ++loop_slot;
  Value item;
  while (advance(loop, item)) {
    environment->slots[loop_slot] = loop;
    where_ = node.position;
    assign(node.target, item, false);
    enter(node.scope, *environment);
    Flow flow = run(node.body);
    if (flow == Flow::break_loop) break;
    if (flow == Flow::normal) completed = true;
  }
  for (Value& value : environment->slots) value = Value();
}

void Interpreter::run_set(const Statement& node) {
  check_namespaces(node.target);
  Value value = evaluate(*node.value);
  where_ = node.position;
  assign(node.target, value, node.top_level);
}

Interpreter::Flow Interpreter::run_set_block(const Statement& node) {
  std::string buffer;
  Environment on_stack;
  Environment* environment = make_environment(node.scope, on_stack);
  Value value;
  {
    ScopeGuard scope(*this, environment);
    enter(node.scope, *environment);
    {
      BufferGuard guard(*this, buffer);
      Flow flow = run(node.body);
      if (flow != Flow::normal) return flow;
    }
    value = text(std::move(buffer), node.filter != nullptr ? escapes(node.escape) : autoescape_);
    if (node.filter != nullptr) {
      const Value* saved = std::exchange(filter_input_, &value);
      Value filtered = evaluate(*node.filter);
      filter_input_ = saved;
      value = filtered;
      if (autoescape_) value = text(to_text(*this, value), true);
    }
  }
  where_ = node.position;
  check_namespaces(node.target);
  assign(node.target, value, node.top_level);
  return Flow::normal;
}

Interpreter::Flow Interpreter::run_filter_block(const Statement& node) {
  std::string buffer;
  Environment on_stack;
  Environment* environment = make_environment(node.scope, on_stack);
  ScopeGuard scope(*this, environment);
  enter(node.scope, *environment);
  {
    BufferGuard guard(*this, buffer);
    Flow flow = run(node.body);
    if (flow != Flow::normal) return flow;
  }
  Value input = text(std::move(buffer), escapes(node.escape));
  const Value* saved = std::exchange(filter_input_, &input);
  Value result = evaluate(*node.filter);
  filter_input_ = saved;
  write_text(result);
  return Flow::normal;
}

void Interpreter::run_call_block(const Statement& node) {
  Value caller = make_macro(*node.macro);
  Value result;
  if (node.generation) {
    result = call_macro(caller, Arguments());
  } else {
    result = evaluate_call(*node.value, &caller);
  }
  write_text(result);
}

Interpreter::Flow Interpreter::run_with(const Statement& node) {
  Environment on_stack;
  Environment* environment = make_environment(node.scope, on_stack);
  environment->slots.resize(node.scope.loads.size());
  {
    ScopeGuard scope(*this, environment);
    enter(node.scope, *environment);
  }
  for (size_t i = 0; i < node.bindings.size(); ++i) {
    Value value = evaluate(*node.bindings[i].second);
    ScopeGuard scope(*this, environment);
    assign(node.with_targets[i], value, false);
  }
  ScopeGuard scope(*this, environment);
  return run(node.body);
}

Interpreter::Flow Interpreter::run_autoescape(const Statement& node) {
  Environment on_stack;
  Environment* environment = make_environment(node.scope, on_stack);
  ScopeGuard scope(*this, environment);
  enter(node.scope, *environment);
  bool saved = autoescape_;
  autoescape_ = is_true(*this, evaluate(*node.value));
  Flow flow = run(node.body);
  autoescape_ = saved;
  return flow;
}

void Interpreter::run_block(const Statement& node) {
  if (node.required) fail(cat("Required block '", node.name, "' not found"));
  BlockContext context;
  for (const auto& [name, at] : node.visible)
    if (const Value& value = slot(at); !value.is_missing()) context.locals[name] = value;
  if (!node.scoped && !block_contexts_.empty()) context = block_contexts_.back();
  block_contexts_.push_back(std::move(context));
  std::string rendered = render_block(node);
  block_contexts_.pop_back();
  out_->append(rendered);
  check_size(out_->size());
}

std::string Interpreter::render_block(const Statement& node) {
  if (calls_ >= limits_.call_depth)
    fail(cat("macros, loops and blocks call each other more than ", limits_.call_depth,
             " levels deep"));
  ++calls_;
  std::string buffer;
  Environment on_stack;
  Environment* saved = std::exchange(environment_, nullptr);
  Environment* environment = make_environment(node.scope, on_stack);
  environment_ = saved;
  ScopeGuard scope(*this, environment);
  BufferGuard guard(*this, buffer);
  environment->slots.resize(node.scope.loads.size());
  for (size_t i = 0; i < node.scope.loads.size(); ++i) {
    const SlotLoad& load = node.scope.loads[i];
    if (load.action != SlotLoad::Action::parameter) continue;
    environment->slots[i] =
        load.name == "self" ? make(Kind::block, std::make_unique<BlockObject>())
                            : undefined(cat("there is no parent block called '", node.name, "'."));
  }
  enter(node.scope, *environment);
  run(node.body);
  --calls_;
  return buffer;
}

}  // namespace crane::jinja
