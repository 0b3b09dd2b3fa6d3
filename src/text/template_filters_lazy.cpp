// Filters that give generators: nothing is computed until an item is asked for, as in jinja2.
#include "base/strings.h"
#include "text/template_filters.h"

namespace crane::jinja {
namespace {

Value lazy(Runtime& runtime, std::unique_ptr<Iterator> iterator, std::string_view name,
           const Value& input, const Arguments& arguments) {
  int nesting = nesting_of(input);
  for (const Value& value : arguments.positional) nesting = std::max(nesting, nesting_of(value));
  for (const auto& [key, value] : arguments.keyword) nesting = std::max(nesting, nesting_of(value));
  return runtime.generator(std::move(iterator), cat("<generator object ", name, ">"), 1 + nesting);
}

class MapIterator : public Iterator {
 public:
  MapIterator(const Value& input, const Arguments& arguments)
      : input_(input), arguments_(arguments) {}

  bool next(Runtime& runtime, Value& out) override {
    if (!started_) start(runtime);
    Value item;
    if (items_ == nullptr || !items_->next(runtime, item)) return false;
    runtime.step();
    if (getter_ != nullptr) {
      out = getter_->get(runtime, item);
      return true;
    }
    Filter filter = find_filter(name_);
    if (filter == nullptr) fail(cat("No filter named ", quote(name_), "."));
    out = filter(runtime, item, arguments_);
    return true;
  }

 private:
  void start(Runtime& runtime) {
    started_ = true;
    if (!is_true(runtime, input_)) return;
    if (arguments_.positional.empty()) {
      Value attribute;
      Value fallback;
      for (const auto& [key, value] : arguments_.keyword)
        (key == "attribute" ? attribute : fallback) = value;
      if (attribute.is_missing()) fail("map requires a filter argument");
      for (const auto& [key, value] : arguments_.keyword)
        if (key != "attribute" && key != "default")
          fail(cat("Unexpected keyword argument ", quote(key)));
      getter_ = std::make_unique<AttributeGetter>(attribute, fallback);
    } else {
      if (!arguments_.positional[0].is_string())
        fail(cat("No filter named ", to_repr(runtime, arguments_.positional[0]), "."));
      name_ = arguments_.positional[0].text();
      arguments_.positional.erase(arguments_.positional.begin());
    }
    items_ = iterate(runtime, input_);
  }

  Value input_;
  Arguments arguments_;
  bool started_ = false;
  std::string name_;
  std::unique_ptr<AttributeGetter> getter_;
  std::unique_ptr<Iterator> items_;
};

// select, reject, selectattr and rejectattr.
class SelectIterator : public Iterator {
 public:
  SelectIterator(const Value& input, const Arguments& arguments, bool by_attribute, bool wanted)
      : input_(input), arguments_(arguments), by_attribute_(by_attribute), wanted_(wanted) {}

  bool next(Runtime& runtime, Value& out) override {
    if (!started_) start(runtime);
    if (items_ == nullptr) return false;
    while (items_->next(runtime, out)) {
      runtime.step();
      Value value = getter_ != nullptr ? getter_->get(runtime, out) : out;
      Value verdict = has_test_ ? run_test(runtime, value) : value;
      if (is_true(runtime, verdict) == wanted_) return true;
    }
    return false;
  }

 private:
  void start(Runtime& runtime) {
    started_ = true;
    if (!is_true(runtime, input_)) return;
    auto& positional = arguments_.positional;
    if (by_attribute_) {
      if (positional.empty()) fail("Missing parameter for attribute name");
      getter_ = std::make_unique<AttributeGetter>(positional[0]);
      positional.erase(positional.begin());
    }
    if (!positional.empty()) {
      has_test_ = true;
      name_ = to_text(runtime, positional[0]);
      positional.erase(positional.begin());
    }
    items_ = iterate(runtime, input_);
  }

  Value run_test(Runtime& runtime, const Value& value) const {
    Filter test = find_test(name_);
    if (test == nullptr) fail(cat("No test named ", quote(name_), "."));
    return test(runtime, value, arguments_);
  }

  Value input_;
  Arguments arguments_;
  bool by_attribute_;
  bool wanted_;
  bool started_ = false;
  bool has_test_ = false;
  std::string name_;
  std::unique_ptr<AttributeGetter> getter_;
  std::unique_ptr<Iterator> items_;
};

class UniqueIterator : public Iterator {
 public:
  UniqueIterator(const Value& input, bool sensitive, const Value& attribute)
      : input_(input), sensitive_(sensitive), getter_(attribute) {}

  bool next(Runtime& runtime, Value& out) override {
    if (items_ == nullptr) items_ = iterate(runtime, input_);
    while (items_->next(runtime, out)) {
      runtime.step();
      Value key = getter_.get(runtime, out);
      if (!sensitive_) key = ignore_case(runtime, key);
      if (seen_.find(runtime, key) != nullptr) continue;
      seen_.append_new(key, Value::none());
      return true;
    }
    return false;
  }

 private:
  Value input_;
  bool sensitive_;
  AttributeGetter getter_;
  DictObject seen_;
  std::unique_ptr<Iterator> items_;
};

class BatchIterator : public Iterator {
 public:
  BatchIterator(const Value& input, const Value& size, const Value& fill)
      : input_(input), size_(size), fill_(fill) {}

  bool next(Runtime& runtime, Value& out) override {
    if (items_ == nullptr) items_ = iterate(runtime, input_);
    std::vector<Value> batch;
    Value item;
    if (!pending_.is_missing()) batch.push_back(std::exchange(pending_, Value()));
    while (items_->next(runtime, item)) {
      runtime.step();
      if (equals(runtime, Value::integer(static_cast<int64_t>(batch.size())), size_)) {
        pending_ = item;
        out = runtime.list(std::move(batch));
        return true;
      }
      batch.push_back(item);
    }
    if (batch.empty()) return false;
    if (!fill_.is_missing() && !fill_.is_none()) {
      int64_t size = index_argument(size_);
      runtime.check_range(size);
      while (static_cast<int64_t>(batch.size()) < size) batch.push_back(fill_);
    }
    out = runtime.list(std::move(batch));
    return true;
  }

 private:
  Value input_;
  Value size_;
  Value fill_;
  Value pending_;
  std::unique_ptr<Iterator> items_;
};

class SliceIterator : public Iterator {
 public:
  SliceIterator(const Value& input, const Value& slices, const Value& fill)
      : input_(input), slices_value_(slices), fill_(fill) {}

  bool next(Runtime& runtime, Value& out) override {
    if (!started_) {
      started_ = true;
      sequence_ = runtime.list(to_items(runtime, input_));
      slices_ = index_argument(slices_value_);
      if (slices_ == 0) fail("integer division or modulo by zero");
    }
    if (number_ >= slices_) return false;
    runtime.step();
    const std::vector<Value>& items = sequence_.items();
    auto length = static_cast<int64_t>(items.size());
    int64_t each = length / slices_;
    int64_t extra = length % slices_;
    int64_t begin = number_ * each + std::min(number_, extra);
    int64_t end = begin + each + (number_ < extra ? 1 : 0);
    std::vector<Value> part(items.begin() + begin, items.begin() + end);
    if (!fill_.is_missing() && !fill_.is_none() && number_ >= extra) part.push_back(fill_);
    ++number_;
    out = runtime.list(std::move(part));
    return true;
  }

 private:
  Value input_;
  Value slices_value_;
  Value fill_;
  Value sequence_;
  bool started_ = false;
  int64_t slices_ = 0;
  int64_t number_ = 0;
};

class PairIterator : public Iterator {
 public:
  explicit PairIterator(const Value& input) : input_(input) {}
  bool next(Runtime& runtime, Value& out) override {
    if (input_.is_undefined()) return false;
    if (!input_.is_dict()) fail("Can only get item pairs from a mapping.");
    const auto& items = input_.dict().items;
    if (at_ >= items.size()) return false;
    const auto& [key, value] = items[at_++];
    out = runtime.tuple({key, value});
    return true;
  }

 private:
  Value input_;
  size_t at_ = 0;
};

Value filter_map(Runtime& runtime, const Value& input, const Arguments& arguments) {
  return lazy(runtime, std::make_unique<MapIterator>(input, arguments), "sync_do_map", input,
              arguments);
}

template <bool ByAttribute, bool Wanted>
Value filter_select(Runtime& runtime, const Value& input, const Arguments& arguments) {
  return lazy(runtime, std::make_unique<SelectIterator>(input, arguments, ByAttribute, Wanted),
              "select_or_reject", input, arguments);
}

Value filter_unique(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("sync_do_unique", "case_sensitive? attribute?", arguments);
  return lazy(runtime,
              std::make_unique<UniqueIterator>(input, flag(runtime, bound[0], false), bound[1]),
              "sync_do_unique", input, arguments);
}

Value filter_batch(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("do_batch", "linecount fill_with?", arguments);
  return lazy(runtime, std::make_unique<BatchIterator>(input, bound[0], bound[1]), "do_batch",
              input, arguments);
}

Value filter_slice(Runtime& runtime, const Value& input, const Arguments& arguments) {
  auto bound = bind("sync_do_slice", "slices fill_with?", arguments);
  return lazy(runtime, std::make_unique<SliceIterator>(input, bound[0], bound[1]), "sync_do_slice",
              input, arguments);
}

Value filter_items(Runtime& runtime, const Value& input, const Arguments& arguments) {
  static_cast<void>(bind("do_items", "", arguments));
  return lazy(runtime, std::make_unique<PairIterator>(input), "do_items", input, arguments);
}

}  // namespace

std::span<const NamedFilter> lazy_filters() {
  static constexpr NamedFilter kFilters[] = {
      {"batch", filter_batch},
      {"items", filter_items},
      {"map", filter_map},
      {"reject", filter_select<false, false>},
      {"rejectattr", filter_select<true, false>},
      {"select", filter_select<false, true>},
      {"selectattr", filter_select<true, true>},
      {"slice", filter_slice},
      {"unique", filter_unique},
  };
  return kFilters;
}

}  // namespace crane::jinja
