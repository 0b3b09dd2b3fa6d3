// Shapes, views and shared storage.
#include "core/tensor.h"

#include <gtest/gtest.h>

#include "core/fake_backend.h"

namespace crane {
namespace {

struct TensorTest : ::testing::Test {
  TensorTest() : device(std::make_unique<testing::FakeBackend>(), 1 << 20) {}
  // Values 0, 1, 2, …
  Tensor counted(const Shape& shape) {
    Tensor tensor = device.empty(shape);
    for (int64_t i = 0; i < shape.elements(); ++i) tensor.data<float>()[i] = static_cast<float>(i);
    return tensor;
  }
  Device device;
};

TEST(Shape, ElementsEqualityAndText) {
  EXPECT_EQ((Shape{2, 3, 4}).elements(), 24);
  EXPECT_EQ(Shape{}.elements(), 1);
  EXPECT_EQ((Shape{2, 0, 4}).elements(), 0);
  EXPECT_EQ((Shape{2, 3}).text(), "[2, 3]");
  EXPECT_EQ(Shape{}.text(), "[]");
  EXPECT_TRUE((Shape{2, 3}) == (Shape{2, 3}));
  EXPECT_FALSE((Shape{2, 3}) == (Shape{3, 2}));
  EXPECT_FALSE((Shape{2}) == (Shape{2, 1}));
  EXPECT_THROW((Shape{1, 1, 1, 1, 1}), Error);
}

TEST_F(TensorTest, UndefinedIsNothing) {
  Tensor tensor;
  EXPECT_FALSE(tensor.defined());
  EXPECT_TRUE(counted({1}).defined());
}

TEST_F(TensorTest, DenseStridesAndSizes) {
  Tensor t = counted({2, 3, 4});
  EXPECT_EQ(t.rank(), 3);
  EXPECT_EQ(t.dim(0), 2);
  EXPECT_EQ(t.dim(-1), 4);
  EXPECT_EQ(t.stride(0), 12);
  EXPECT_EQ(t.stride(-1), 1);
  EXPECT_EQ(t.rows(), 6);
  EXPECT_EQ(t.elements(), 24);
  EXPECT_TRUE(t.is_dense());
  EXPECT_EQ(&t.device(), &device);
  EXPECT_EQ(t.dtype(), DType::f32);
  EXPECT_EQ(counted({0, 4}).rows(), 0);
  EXPECT_EQ(counted({4, 0}).rows(), 0);
}

TEST_F(TensorTest, SliceIsAView) {
  Tensor t = counted({4, 6});
  Tensor rows = t.slice(0, 1, 2);
  EXPECT_EQ(rows.shape(), (Shape{2, 6}));
  EXPECT_EQ(rows.data<float>()[0], 6.0f);
  EXPECT_TRUE(rows.is_dense());
  Tensor columns = t.slice(-1, 2, 3);
  EXPECT_EQ(columns.shape(), (Shape{4, 3}));
  EXPECT_EQ(columns.stride(0), 6);
  EXPECT_FALSE(columns.is_dense());
  EXPECT_EQ(columns.data<float>()[columns.stride(0)], 8.0f);
  EXPECT_EQ(columns.slice(0, 3, 1).data<float>()[0], 20.0f);
  EXPECT_TRUE(columns.slice(0, 3, 1).is_dense());  // one row
  columns.data<float>()[0] = -1.0f;
  EXPECT_EQ(t.data<float>()[2], -1.0f);
  EXPECT_EQ(t.slice(0, 4, 0).elements(), 0);
  EXPECT_THROW(t.slice(0, 3, 2), Error);
  EXPECT_THROW(t.slice(0, -1, 2), Error);
  EXPECT_THROW(t.slice(1, 0, 7), Error);
  EXPECT_THROW(t.slice(0, 0, -1), Error);
}

TEST_F(TensorTest, HeadsAndFlatAreInverse) {
  Tensor t = counted({3, 8});
  Tensor heads = t.heads(4);
  EXPECT_EQ(heads.shape(), (Shape{3, 2, 4}));
  EXPECT_EQ(heads.data<float>()[heads.stride(0) + heads.stride(1)], 12.0f);
  EXPECT_EQ(heads.flat().shape(), (Shape{3, 8}));
  EXPECT_TRUE(heads.flat().is_dense());
  EXPECT_THROW(t.heads(3), Error);
  EXPECT_THROW(t.heads(0), Error);
  EXPECT_THROW(heads.heads(2), Error);
  EXPECT_THROW(t.flat(), Error);
}

// Queries, keys and values side by side: heads of a slice keep the wide rows.
TEST_F(TensorTest, HeadsOfASlice) {
  Tensor joined = counted({2, 12});
  Tensor part = joined.slice(1, 4, 8).heads(4);
  EXPECT_EQ(part.shape(), (Shape{2, 2, 4}));
  EXPECT_EQ(part.stride(0), 12);
  EXPECT_EQ(part.data<float>()[part.stride(0) + part.stride(1)], 20.0f);
  EXPECT_FALSE(part.is_dense());
  EXPECT_EQ(part.flat().stride(0), 12);
}

TEST_F(TensorTest, ViewNeedsDenseMemoryOfTheSameSize) {
  Tensor t = counted({2, 6});
  EXPECT_EQ(t.view({3, 4}).data<float>()[5], 5.0f);
  EXPECT_EQ(t.slice(0, 1, 1).view({2, 3}).data<float>()[0], 6.0f);
  EXPECT_THROW(t.view({5}), Error);
  EXPECT_THROW(t.slice(1, 0, 3).view({6}), Error);
}

TEST_F(TensorTest, PromptRowsFollowTheTokens) {
  Tensor t = counted({4, 8});
  t.set_prompt_rows(3);
  EXPECT_EQ(t.heads(4).prompt_rows(), 3);
  EXPECT_EQ(t.slice(1, 0, 4).prompt_rows(), 3);
  EXPECT_EQ(t.view({4, 2, 4}).prompt_rows(), 3);
  EXPECT_EQ(t.view({8, 4}).prompt_rows(), 0);  // no longer tokens
}

TEST_F(TensorTest, PackedWeightsHaveNoViews) {
  std::byte bytes[8] = {};
  Tensor packed =
      Tensor::packed(device, make_storage(bytes, sizeof bytes, nullptr), DType::f32, {1, 2});
  EXPECT_TRUE(packed.is_packed());
  EXPECT_THROW(packed.slice(0, 0, 1), Error);
  EXPECT_THROW(packed.heads(1), Error);
  EXPECT_THROW(packed.view({2}), Error);
}

TEST_F(TensorTest, ViewsKeepTheirStorage) {
  Tensor view;
  size_t before = device.arena().in_use();
  {
    Tensor t = counted({4, 4});
    view = t.slice(0, 1, 1);
  }
  EXPECT_GT(device.arena().in_use(), before);
  EXPECT_EQ(view.data<float>()[0], 4.0f);
  view = Tensor();
  EXPECT_EQ(device.arena().in_use(), before);
}

}  // namespace
}  // namespace crane
