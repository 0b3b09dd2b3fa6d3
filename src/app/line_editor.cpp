// The only file that knows libedit.
#include "app/line_editor.h"

#include <histedit.h>
#include <unistd.h>

#include <clocale>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace crane {

struct LineEditor::Impl {
  EditLine* editor = nullptr;
  History* history = nullptr;
  std::string history_path, prompt;
  bool interrupted = false;
};

namespace {

// libedit's callbacks find the object in its client data.
template <class T>
T* client(EditLine* editor) {
  void* data = nullptr;
  el_get(editor, EL_CLIENTDATA, &data);
  return static_cast<T*>(data);
}

}  // namespace

LineEditor::LineEditor(std::string history_path) : impl_(std::make_unique<Impl>()) {
  // libedit decodes the terminal by the locale; text here is UTF-8 whatever LANG says.
  const char* locale = std::setlocale(LC_CTYPE, "");
  if (!locale || std::string(locale) == "C") std::setlocale(LC_CTYPE, "C.UTF-8");
  impl_->history_path = std::move(history_path);
  impl_->history = history_init();
  HistEvent event;
  history(impl_->history, &event, H_SETSIZE, 1000);
  history(impl_->history, &event, H_SETUNIQUE, 1);
  if (!impl_->history_path.empty())
    history(impl_->history, &event, H_LOAD, impl_->history_path.c_str());

  // Prompt and echo go to stderr: stdout carries answers only.
  impl_->editor = el_init("crane", stdin, stderr, stderr);
  EditLine* editor = impl_->editor;
  el_set(editor, EL_CLIENTDATA, impl_.get());
  el_set(
      editor, EL_PROMPT,
      +[](EditLine* line) { return client<LineEditor::Impl>(line)->prompt.data(); });
  el_set(editor, EL_HIST, ::history, impl_->history);
  el_set(editor, EL_EDITOR, "emacs");
  el_set(editor, EL_SIGNAL, 1);  // the terminal's mode is restored when a signal ends the program
  // Ctrl-C is a key here: it drops the line.
  el_set(editor, EL_SETTY, "-d", "-isig", nullptr);
  el_set(
      editor, EL_ADDFN, "crane-interrupt", "drop the line",
      +[](EditLine* line, int) -> unsigned char {
        client<LineEditor::Impl>(line)->interrupted = true;
        return CC_NEWLINE;
      });
  el_set(editor, EL_BIND, "^C", "crane-interrupt", nullptr);
  el_set(editor, EL_BIND, "^R", "em-inc-search-prev", nullptr);
  el_source(editor, nullptr);  // the user's ~/.editrc
}

LineEditor::~LineEditor() {
  HistEvent event;
  if (!impl_->history_path.empty()) {
    std::error_code ignored;
    std::filesystem::path path = impl_->history_path;
    std::filesystem::create_directories(path.parent_path(), ignored);
    history(impl_->history, &event, H_SAVE, impl_->history_path.c_str());
  }
  el_end(impl_->editor);
  history_end(impl_->history);
}

LineEditor::Result LineEditor::read(const std::string& prompt, std::string& line) {
  impl_->prompt = prompt;
  impl_->interrupted = false;
  int length = 0;
  el_set(impl_->editor, EL_PREP_TERM, 1);  // libedit does it after the prompt: too late for Ctrl-C
  const char* text = el_gets(impl_->editor, &length);
  line = text && length > 0 ? std::string(text, static_cast<size_t>(length)) : "";
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
  if (impl_->interrupted) {
    std::fputc('\n', stderr);
    return Result::interrupted;
  }
  return text && length > 0 ? Result::line : Result::end;
}

void LineEditor::remember(const std::string& line) {
  HistEvent event;
  history(impl_->history, &event, H_ENTER, line.c_str());
}

}  // namespace crane
