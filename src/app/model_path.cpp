#include "app/model_path.h"

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/strings.h"

namespace crane {
namespace {

namespace fs = std::filesystem;

std::string from_home(const Environment& environment, const std::string& below) {
  return (fs::path(environment("HOME").value_or(".")) / below).string();
}

// A folder of the shared hub cache that holds this repository's files, or empty.
std::string find_in_hub_cache(const std::string& repo, const Environment& environment) {
  fs::path home = environment("HF_HOME").value_or(from_home(environment, ".cache/huggingface"));
  fs::path hub = environment("HF_HUB_CACHE").value_or((home / "hub").string());
  std::string folder = "models--" + repo;
  folder.replace(folder.find('/'), 1, "--");
  std::error_code ignored;
  std::string newest;
  fs::file_time_type newest_time;
  for (const auto& entry : fs::directory_iterator(hub / folder / "snapshots", ignored)) {
    if (!entry.is_directory(ignored)) continue;
    auto time = entry.last_write_time(ignored);
    if (newest.empty() || time > newest_time) {
      newest = entry.path().string();
      newest_time = time;
    }
  }
  return newest;
}

bool is_hub_name(const std::string& name) {
  size_t slash = name.find('/');
  return slash != std::string::npos && slash > 0 &&
         name.find('/', slash + 1) == std::string::npos && name[0] != '.' &&
         slash + 1 < name.size();
}

}  // namespace

std::string models_folder(const Environment& environment) {
  std::optional<std::string> cache = environment("XDG_CACHE_HOME");
  std::string base = cache && !cache->empty() ? *cache : from_home(environment, ".cache");
  return (fs::path(base) / "crane" / "models").string();
}

std::vector<std::string> models_in_folder(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    bool model = entry.path().extension() == ".gguf" ||
                 (entry.is_directory(ignored) && fs::exists(entry.path() / "config.json", ignored));
    if (model)
      names.push_back(entry.is_directory(ignored) ? entry.path().filename().string()
                                                  : entry.path().stem().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string resolve_model(const std::string& name, const Environment& environment) {
  if (name.empty())
    throw Error(ErrorCode::invalid_argument,
                "no model given: name a .gguf file, a folder, or a model of --list-models");
  std::error_code ignored;
  if (fs::exists(name, ignored)) return name;
  if (name.find("://") != std::string::npos)
    throw Error(ErrorCode::unsupported,
                cat(name, ": downloading is not built yet; fetch the file and give its path"));
  std::string folder = models_folder(environment);
  if (name.find('/') == std::string::npos) {
    for (const std::string& file : {name, name + ".gguf"})
      if (fs::exists(fs::path(folder) / file, ignored)) return (fs::path(folder) / file).string();
    std::string nearest = nearest_match(name, models_in_folder(folder));
    throw Error(ErrorCode::not_found,
                cat(name, ": no such file or folder, and no such name in ", folder,
                    nearest.empty() ? "" : cat("; did you mean ", nearest, "?")));
  }
  if (is_hub_name(name)) {
    std::string found = find_in_hub_cache(name.substr(0, name.find(':')), environment);
    if (!found.empty() && name.find(':') == std::string::npos) return found;
    throw Error(ErrorCode::not_found,
                cat(name,
                    ": no such file or folder, and it is not in the hub's cache; downloading "
                    "by name is not built yet"));
  }
  throw Error(ErrorCode::not_found, cat(name, ": no such file or folder"));
}

}  // namespace crane
