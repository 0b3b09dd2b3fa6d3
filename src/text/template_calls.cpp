// Calls of macros, recursive loops and blocks, and the attributes of such objects.
#include "base/strings.h"
#include "text/template_interpreter.h"

namespace crane::jinja {

Value Interpreter::call(const Value& function, Arguments arguments) {
  switch (function.kind()) {
    case Kind::undefined:
      fail_undefined(function);
    case Kind::function: {
      const auto& builtin = function.as<FunctionObject>();
      return builtin.function(*this, builtin.self, arguments);
    }
    case Kind::macro:
      return call_macro(function, std::move(arguments));
    case Kind::loop:
      return call_loop(function, arguments);
    case Kind::joiner: {
      auto& joiner = function.as<JoinerObject>();
      bool first = !std::exchange(joiner.used, true);
      return first ? text("") : joiner.separator;
    }
    case Kind::block:
      if (const Statement* node = function.as<BlockObject>().node) {
        if (!arguments.empty()) fail("a block takes no arguments");
        return text(render_block(*node), autoescape_);
      }
      break;
    default:
      break;
  }
  fail(cat("'", type_name(function), "' object is not callable"));
}

// --- macros

Value Interpreter::make_macro(const MacroNode& node) {
  auto object = std::make_unique<MacroObject>();
  object->node = &node;
  object->environment = environment_;
  return make(Kind::macro, std::move(object));
}

Value Interpreter::call_macro(const Value& macro, Arguments arguments) {
  const MacroObject& object = macro.as<MacroObject>();
  if (calls_ >= limits_.call_depth)
    fail(cat("macros, loops and blocks call each other more than ", limits_.call_depth,
             " levels deep"));
  ++calls_;
  step(8);
  Position called_at = where_;
  std::string buffer;
  {
    Environment* caller_environment = std::exchange(environment_, object.environment);
    Environment on_stack;
    Environment* environment = make_environment(object.node->scope, on_stack);
    environment->slots.resize(object.node->scope.loads.size());
    environment_ = environment;
    std::string* saved_out = std::exchange(out_, &buffer);
    // An exception ends the render, so that nothing has to be put back on the way out.
    bind_macro(macro, arguments, *environment);
    run(object.node->body);
    out_ = saved_out;
    environment_ = caller_environment;
  }
  --calls_;
  where_ = called_at;
  return text(std::move(buffer), autoescape_);
}

// Lays the arguments out as jinja2.runtime.Macro.__call__ does.
void Interpreter::bind_macro(const Value& macro, Arguments& arguments, Environment& environment) {
  const MacroNode& node = *macro.as<MacroObject>().node;
  std::string name = node.name.empty() ? "None" : quote(node.name);
  auto& keyword = arguments.keyword;
  auto take = [&](std::string_view wanted) {
    for (size_t i = 0; i < keyword.size(); ++i) {
      if (keyword[i].first != wanted) continue;
      Value value = std::move(keyword[i].second);
      keyword.erase(keyword.begin() + static_cast<std::ptrdiff_t>(i));
      return value;
    }
    return Value();
  };
  auto set = [&](const Slot& at, Value value) {
    environment.slots[static_cast<size_t>(at.index)] = std::move(value);
  };
  enter(node.scope, environment);
  size_t given = std::min(arguments.positional.size(), node.parameters.size());
  bool found_caller = given == node.parameters.size() && node.explicit_caller;
  for (size_t i = 0; i < node.parameters.size(); ++i) {
    const Parameter& parameter = node.parameters[i];
    if (i >= given && parameter.name == "caller") found_caller = true;
    set(parameter.slot, i < given ? arguments.positional[i] : take(parameter.name));
  }
  if (node.caller_slot >= 0 && !found_caller) {
    Value caller = take("caller");
    if (caller.is_missing()) caller = undefined("No caller defined");
    environment.slots[static_cast<size_t>(node.caller_slot)] = caller;
  }
  if (node.kwargs_slot >= 0) {
    auto rest = std::make_unique<DictObject>();
    for (auto& [key, value] : keyword) rest->append_string(key, value);
    environment.slots[static_cast<size_t>(node.kwargs_slot)] = dict(std::move(rest));
  } else if (!keyword.empty()) {
    for (const auto& argument : keyword)
      if (argument.first == "caller")
        fail(cat("macro ", name,
                 " was invoked with two values for the special caller argument. This is most "
                 "likely a bug."));
    fail(cat("macro ", name, " takes no keyword argument ", quote(keyword[0].first)));
  }
  if (node.varargs_slot >= 0) {
    std::vector<Value> rest(arguments.positional.begin() + static_cast<std::ptrdiff_t>(given),
                            arguments.positional.end());
    environment.slots[static_cast<size_t>(node.varargs_slot)] = tuple(std::move(rest));
  } else if (arguments.positional.size() > node.parameters.size()) {
    fail(cat("macro ", name, " takes not more than ", node.parameters.size(), " argument(s)"));
  }
  for (const Parameter& parameter : node.parameters) {
    if (!slot(parameter.slot).is_missing()) continue;
    if (parameter.fallback != nullptr) {
      Value value = evaluate(*parameter.fallback);
      set(parameter.slot, std::move(value));
    } else {
      set(parameter.slot, undefined(cat("parameter ", quote(parameter.name), " was not provided")));
    }
  }
}

// --- loops

Value Interpreter::call_loop(const Value& loop, const Arguments& arguments) {
  LoopObject& object = loop.as<LoopObject>();
  if (object.recursive == nullptr)
    fail("The loop must have the 'recursive' marker to be called recursively.");
  Value iterable = bind("loop", "iterable", arguments)[0];
  if (calls_ >= limits_.call_depth)
    fail(cat("macros, loops and blocks call each other more than ", limits_.call_depth,
             " levels deep"));
  ++calls_;
  Position called_at = where_;
  Environment* caller_environment = std::exchange(environment_, object.environment);
  std::string buffer;
  std::string* saved_out = std::exchange(out_, &buffer);
  run_loop(*object.recursive, iterable, object.depth0 + 1);
  out_ = saved_out;
  environment_ = caller_environment;
  --calls_;
  where_ = called_at;
  return text(std::move(buffer), autoescape_);
}

bool Interpreter::advance(const Value& loop, Value& item) {
  LoopObject& object = loop.as<LoopObject>();
  step();
  if (!object.after.is_missing()) {
    item = std::move(object.after);
    object.after = Value();
  } else if (object.iterator == nullptr || !object.iterator->next(*this, item)) {
    return false;
  }
  ++object.index0;
  object.before = std::move(object.current);
  object.current = item;
  return true;
}

Value Interpreter::peek_next(const Value& loop) {
  LoopObject& object = loop.as<LoopObject>();
  if (object.after.is_missing() && object.iterator != nullptr) {
    Value item;
    if (object.iterator->next(*this, item)) object.after = item;
  }
  return object.after;
}

namespace {

class ItemsIterator : public Iterator {
 public:
  explicit ItemsIterator(std::vector<Value> items) : items_(std::move(items)) {}
  bool next(Runtime&, Value& out) override {
    if (at_ >= items_.size()) return false;
    out = items_[at_++];
    return true;
  }

 private:
  std::vector<Value> items_;
  size_t at_ = 0;
};

}  // namespace

int64_t Interpreter::loop_length(const Value& loop) {
  LoopObject& object = loop.as<LoopObject>();
  if (object.length >= 0) return object.length;
  if (auto known = known_length(*this, object.iterable)) return object.length = *known;
  std::vector<Value> rest;
  Value item;
  while (object.iterator != nullptr && object.iterator->next(*this, item)) {
    step();
    rest.push_back(item);
  }
  meter_.add(rest.size() * sizeof(Value));  // given back with the render only
  object.length =
      static_cast<int64_t>(rest.size()) + object.index0 + 1 + (object.after.is_missing() ? 0 : 1);
  object.iterator = std::make_unique<ItemsIterator>(std::move(rest));
  return object.length;
}

Value Interpreter::loop_cycle(Runtime&, const Value& self, const Arguments& arguments) {
  if (arguments.positional.empty()) fail("no items for cycling given");
  if (!arguments.keyword.empty()) fail("cycle() got an unexpected keyword argument");
  auto at = static_cast<size_t>(self.as<LoopObject>().index0);
  return arguments.positional[at % arguments.positional.size()];
}

Value Interpreter::loop_changed(Runtime& runtime, const Value& self, const Arguments& arguments) {
  if (!arguments.keyword.empty()) fail("changed() got an unexpected keyword argument");
  LoopObject& object = self.as<LoopObject>();
  Value values = runtime.tuple(arguments.positional);
  if (!object.last_changed.is_missing() && equals(runtime, object.last_changed, values))
    return Value::boolean(false);
  if (!object.finished) object.last_changed = values;
  return Value::boolean(true);
}

Value Interpreter::object_attribute(const Value& object, std::string_view name) {
  if (object.is(Kind::block)) {
    if (object.as<BlockObject>().node != nullptr) return Value();
    for (const Statement* node : tree_.blocks) {
      if (node->name != name) continue;
      auto reference = std::make_unique<BlockObject>();
      reference->node = node;
      return make(Kind::block, std::move(reference));
    }
    return Value();
  }
  if (object.is(Kind::macro)) {
    const MacroNode& node = *object.as<MacroObject>().node;
    if (name == "name") return node.name.empty() ? Value::none() : text(node.name);
    if (name == "catch_kwargs") return Value::boolean(node.kwargs_slot >= 0);
    if (name == "catch_varargs") return Value::boolean(node.varargs_slot >= 0);
    if (name == "caller") return Value::boolean(node.caller_slot >= 0);
    if (name == "explicit_caller") return Value::boolean(node.explicit_caller);
    if (name != "arguments") return Value();
    std::vector<Value> names;
    for (const Parameter& parameter : node.parameters) names.push_back(text(parameter.name));
    return tuple(std::move(names));
  }
  const LoopObject& loop = object.as<LoopObject>();
  if (name == "index") return Value::integer(loop.index0 + 1);
  if (name == "index0") return Value::integer(loop.index0);
  if (name == "first") return Value::boolean(loop.index0 == 0);
  if (name == "last") return Value::boolean(peek_next(object).is_missing());
  if (name == "length") return Value::integer(loop_length(object));
  if (name == "revindex") return Value::integer(loop_length(object) - loop.index0);
  if (name == "revindex0") return Value::integer(loop_length(object) - loop.index0 - 1);
  if (name == "depth") return Value::integer(loop.depth0 + 1);
  if (name == "depth0") return Value::integer(loop.depth0);
  if (name == "cycle") return bound("cycle", loop_cycle, object);
  if (name == "changed") return bound("changed", loop_changed, object);
  if (name == "previtem")
    return loop.index0 == 0 || loop.before.is_missing() ? undefined("there is no previous item")
                                                        : loop.before;
  if (name != "nextitem") return Value();
  Value next = peek_next(object);
  return next.is_missing() ? undefined("there is no next item") : next;
}

std::string Interpreter::describe(const Value& value) {
  if (value.is(Kind::macro)) {
    const std::string& name = value.as<MacroObject>().node->name;
    return cat("<Macro ", name.empty() ? "anonymous" : quote(name), ">");
  }
  if (value.is(Kind::loop))
    return cat("<LoopContext ", value.as<LoopObject>().index0 + 1, "/", loop_length(value), ">");
  if (value.is(Kind::block) && value.as<BlockObject>().node == nullptr)
    return "<TemplateReference None>";
  return cat("<", object_type_repr(value), ">");
}

Value Interpreter::make_namespace(std::vector<std::pair<std::string, Value>> attributes) {
  auto object = std::make_unique<NamespaceObject>();
  object->attributes = std::move(attributes);
  Value value = make(Kind::name_space, std::move(object), 256);
  namespaces_.push_back(value);
  return value;
}

}  // namespace crane::jinja
