#include "app/model_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>

#include "base/error.h"

namespace crane {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ModelPath : public ::testing::Test {
 protected:
  void SetUp() override {
    root_ = fs::temp_directory_path() / ("crane-model-path-" + std::to_string(getpid()));
    fs::create_directories(root_ / "crane" / "models" / "folder-model");
    std::ofstream(root_ / "crane" / "models" / "small.gguf") << "x";
    std::ofstream(root_ / "crane" / "models" / "note.txt") << "x";
    std::ofstream(root_ / "crane" / "models" / "folder-model" / "config.json") << "{}";
    fs::create_directories(root_ / "hub" / "models--owner--repo" / "snapshots" / "abc");
  }
  void TearDown() override { fs::remove_all(root_); }

  std::string resolve(const std::string& name) { return resolve_model(name, environment()); }
  Environment environment() {
    std::map<std::string, std::string> values = {{"XDG_CACHE_HOME", root_.string()},
                                                 {"HF_HUB_CACHE", (root_ / "hub").string()}};
    return [values](const std::string& name) -> std::optional<std::string> {
      auto found = values.find(name);
      return found == values.end() ? std::nullopt : std::optional(found->second);
    };
  }
  std::string message_of(const std::string& name) {
    try {
      return "found " + resolve(name);
    } catch (const Error& error) {
      return error.what();
    }
  }

  fs::path root_;
};

TEST_F(ModelPath, FindsFilesFoldersNamesAndTheHubsCache) {
  fs::path models = root_ / "crane" / "models";
  EXPECT_EQ(models_folder(environment()), models.string());
  EXPECT_EQ(resolve((models / "small.gguf").string()), (models / "small.gguf").string());
  EXPECT_EQ(resolve("small"), (models / "small.gguf").string());
  EXPECT_EQ(resolve("small.gguf"), (models / "small.gguf").string());
  EXPECT_EQ(resolve("folder-model"), (models / "folder-model").string());
  EXPECT_EQ(resolve("owner/repo"),
            (root_ / "hub" / "models--owner--repo" / "snapshots" / "abc").string());
  EXPECT_THAT(models_in_folder(models.string()), ElementsAre("folder-model", "small"));
}

TEST_F(ModelPath, SaysWhatWasLookedForAndWhere) {
  EXPECT_THAT(message_of(""), HasSubstr("no model given"));
  EXPECT_THAT(message_of("smal"), AllOf(HasSubstr("smal:"), HasSubstr("did you mean small?")));
  EXPECT_THAT(message_of("owner/other"), HasSubstr("not in the hub's cache"));
  EXPECT_THAT(message_of("./gone.gguf"), HasSubstr("no such file or folder"));
  EXPECT_THAT(message_of("hf://owner/repo"), HasSubstr("downloading is not built yet"));
}

}  // namespace
}  // namespace crane
