// Filters that read whole sequences and mappings.
#include <algorithm>

#include "base/strings.h"
#include "text/template_filters.h"
#include "text/template_methods.h"
#include "text/template_unicode.h"

namespace crane::jinja {
namespace {

struct Keyed {
  Value key;
  Value item;
};

// Python's sorted(): stable, by `<` alone, also when reversed.
void sort_keyed(Runtime& runtime, std::vector<Keyed>& items, bool reverse) {
  std::stable_sort(items.begin(), items.end(), [&](const Keyed& a, const Keyed& b) {
    return reverse ? compare(runtime, Comparison::less, b.key, a.key)
                   : compare(runtime, Comparison::less, a.key, b.key);
  });
}

std::vector<Value> items_of(std::vector<Keyed>& keyed) {
  std::vector<Value> items;
  items.reserve(keyed.size());
  for (Keyed& entry : keyed) items.push_back(std::move(entry.item));
  return items;
}

Value filter_length(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("len", "", arguments));
  return Value::integer(length_of(runtime, input));
}

Value filter_default(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_default", "default_value? boolean?", arguments);
  bool replace =
      input.is_undefined() || (flag(runtime, bound[1], false) && !is_true(runtime, input));
  if (!replace) return input;
  return bound[0].is_missing() ? runtime.text("") : bound[0];
}

Value filter_list(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("do_list", "", arguments));
  return runtime.list(to_items(runtime, input));
}

Value filter_first(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("do_first", "", arguments));
  Value item;
  if (iterate(runtime, input)->next(runtime, item)) return item;
  return runtime.undefined("No first item, sequence was empty.");
}

bool is_reversible(const Value& value) {
  return is_iterable(value) && !value.is(Kind::generator) && !value.is(Kind::loop);
}

Value filter_last(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("do_last", "", arguments));
  if (!is_reversible(input)) fail(cat("'", type_name(input), "' object is not reversible"));
  if (input.is_dict() || input.is(Kind::view)) {
    std::vector<Value> items = to_items(runtime, input);
    if (!items.empty()) return items.back();
  } else if (!input.is_undefined()) {
    Value item = item_at(runtime, input, -1);
    if (!item.is_missing()) return item;
  }
  return runtime.undefined("No last item, sequence was empty.");
}

Value filter_join(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("sync_do_join", "d? attribute?", arguments);
  AttributeGetter getter(bound[1]);
  Value separator = bound[0].is_missing() ? runtime.text("") : soft_text(runtime, bound[0]);
  bool escaping = runtime.autoescape();
  std::vector<Value> items = to_items(runtime, input);
  bool markup = separator.is_markup();
  for (Value& item : items) {
    item = getter.get(runtime, item);
    markup = markup || item.is_markup();
  }
  if (escaping && markup) return join_items(runtime, escape(runtime, separator), items);
  std::string out;
  bool first = true;
  for (const Value& item : items) {
    if (!first) out += separator.text();
    first = false;
    print(runtime, item, out);
    runtime.step();
    runtime.check_size(out.size());
  }
  return runtime.text(std::move(out));
}

Value filter_dictsort(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_dictsort", "case_sensitive? by? reverse?", arguments);
  std::string by = bound[1].is_missing() ? "key" : to_text(runtime, bound[1]);
  if (by != "key" && by != "value") fail("You can only sort by either \"key\" or \"value\"");
  if (input.is_undefined()) fail_undefined(input);
  if (!input.is_dict()) fail(cat("'", type_name(input), "' object has no attribute 'items'"));
  bool sensitive = flag(runtime, bound[0], false);
  std::vector<Keyed> keyed;
  for (const auto& [key, value] : input.dict().items) {
    const Value& chosen = by == "key" ? key : value;
    keyed.push_back(
        {sensitive ? chosen : ignore_case(runtime, chosen), runtime.tuple({key, value})});
  }
  sort_keyed(runtime, keyed, flag(runtime, bound[2], false));
  return runtime.list(items_of(keyed));
}

Value filter_sort(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_sort", "reverse? case_sensitive? attribute?", arguments);
  bool sensitive = flag(runtime, bound[1], false);
  std::vector<AttributeGetter> getters;
  if (bound[2].is_string()) {
    for (std::string_view part : split(bound[2].text(), ','))
      getters.emplace_back(runtime.text(std::string(part)));
  } else {
    getters.emplace_back(bound[2]);
  }
  std::vector<Keyed> keyed;
  for (const Value& item : to_items(runtime, input)) {
    std::vector<Value> keys;
    for (const AttributeGetter& getter : getters) {
      Value key = getter.get(runtime, item);
      keys.push_back(sensitive ? key : ignore_case(runtime, key));
    }
    keyed.push_back({runtime.list(std::move(keys)), item});
  }
  sort_keyed(runtime, keyed, flag(runtime, bound[0], false));
  return runtime.list(items_of(keyed));
}

Value filter_groupby(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("sync_do_groupby", "attribute default? case_sensitive?", arguments);
  AttributeGetter getter(bound[0], bound[1]);
  bool sensitive = flag(runtime, bound[2], false);
  std::vector<Keyed> keyed;
  for (const Value& item : to_items(runtime, input)) {
    Value key = getter.get(runtime, item);
    keyed.push_back({sensitive ? key : ignore_case(runtime, key), item});
  }
  sort_keyed(runtime, keyed, false);
  std::vector<Value> groups;
  for (size_t i = 0; i < keyed.size();) {
    std::vector<Value> items;
    size_t begin = i;
    for (; i < keyed.size() && equals(runtime, keyed[i].key, keyed[begin].key); ++i)
      items.push_back(keyed[i].item);
    if (i == begin) items.push_back(keyed[i++].item);  // a key that is not equal to itself
    Value key = sensitive ? keyed[begin].key : getter.get(runtime, items[0]);
    Value group = runtime.tuple({key, runtime.list(std::move(items))});
    group.as<ListObject>().group = true;
    groups.push_back(group);
  }
  return runtime.list(std::move(groups));
}

Value extreme(Runtime& runtime, const Value& input, const Arguments& arguments, bool largest) {
  auto bound = bind(largest ? "do_max" : "do_min", "case_sensitive? attribute?", arguments);
  bool sensitive = flag(runtime, bound[0], false);
  AttributeGetter getter(bound[1]);
  std::unique_ptr<Iterator> items = iterate(runtime, input);
  Keyed best;
  Value item;
  while (items->next(runtime, item)) {
    runtime.step();
    Value key = getter.get(runtime, item);
    if (!sensitive) key = ignore_case(runtime, key);
    if (best.key.is_missing() ||
        compare(runtime, largest ? Comparison::greater : Comparison::less, key, best.key))
      best = {key, item};
  }
  if (best.key.is_missing()) return runtime.undefined("No aggregated item, sequence was empty.");
  return best.item;
}

Value filter_min(Runtime& runtime, const Value& input, const Arguments& arguments) {
  return extreme(runtime, input, arguments, false);
}

Value filter_max(Runtime& runtime, const Value& input, const Arguments& arguments) {
  return extreme(runtime, input, arguments, true);
}

Value filter_sum(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("sync_do_sum", "attribute? start?", arguments);
  AttributeGetter getter(bound[0]);
  Value total = bound[1].is_missing() ? Value::integer(0) : bound[1];
  if (total.is_string()) fail("sum() can't sum strings [use ''.join(seq) instead]");
  std::unique_ptr<Iterator> items = iterate(runtime, input);
  Value item;
  while (items->next(runtime, item))
    total = apply(runtime, Operator::add, total, getter.get(runtime, item));
  return total;
}

class FixedItems : public Iterator {
 public:
  explicit FixedItems(std::vector<Value> items) : items_(std::move(items)) {}
  bool next(Runtime&, Value& out) override {
    if (at_ >= items_.size()) return false;
    out = items_[at_++];
    return true;
  }

 private:
  std::vector<Value> items_;
  size_t at_ = 0;
};

Value filter_reverse(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("do_reverse", "", arguments));
  if (input.is_string()) {
    Value bounds[3] = {Value(), Value(), Value::integer(-1)};
    return get_slice(runtime, input, bounds);
  }
  if (!is_iterable(input)) fail("argument must be iterable");
  std::vector<Value> items = to_items(runtime, input);
  std::reverse(items.begin(), items.end());
  if (input.is(Kind::generator)) return runtime.list(std::move(items));
  Value kept = runtime.list(items);  // counts the memory while the reversed items live
  return runtime.generator(std::make_unique<FixedItems>(std::move(items)),
                           cat("<", type_name(input), "_reverseiterator object>"),
                           nesting_of(kept));
}

Value filter_attr(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_attr", "name", arguments);
  if (!bound[0].is_string()) fail("attribute name must be string");
  const std::string& name = bound[0].text();
  if (input.is_dict() || input.is(Kind::block)) {
    // Unlike a dot, this does not fall back to the items.
    if (is_unsafe_method(input, name) || name.substr(0, 2) == "__")
      return get_attribute(runtime, input, bound[0]);
    Value method = find_method(runtime, input, name);
    return method.is_missing() ? runtime.undefined_attribute(input, bound[0]) : method;
  }
  return get_attribute(runtime, input, bound[0]);
}

}  // namespace

std::span<const NamedFilter> sequence_filters() {
  static constexpr NamedFilter kFilters[] = {
      {"attr", filter_attr},       {"count", filter_length},      {"d", filter_default},
      {"default", filter_default}, {"dictsort", filter_dictsort}, {"first", filter_first},
      {"groupby", filter_groupby}, {"join", filter_join},         {"last", filter_last},
      {"length", filter_length},   {"list", filter_list},         {"max", filter_max},
      {"min", filter_min},         {"reverse", filter_reverse},   {"sort", filter_sort},
      {"sum", filter_sum},
  };
  return kFilters;
}

}  // namespace crane::jinja
