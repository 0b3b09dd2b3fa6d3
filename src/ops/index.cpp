#include "ops/index.h"

#include <algorithm>

#include "ops/checks.h"

namespace crane::ops {

Tensor embed(const Tensor& table, const Batch& batch) {
  for (int32_t id : batch.tokens)
    check(id >= 0 && id < table.dim(0), "embed: token id outside the table");
  Tensor y = table.device().empty({batch.size(), table.dim(1)});
  y.set_prompt_rows(batch.prompt_tokens);
  table.device().backend().embed(y, table, batch.tokens);
  return y;
}

Tensor rows(const Tensor& x, std::span<const int32_t> rows) {
  check(x.rank() == 2 && std::is_sorted(rows.begin(), rows.end()), "rows: indices do not ascend");
  check(rows.empty() || (rows.front() >= 0 && rows.back() < x.dim(0)), "rows: index outside x");
  Tensor y = x.device().empty({static_cast<int64_t>(rows.size()), x.dim(1)});
  y.set_prompt_rows(std::lower_bound(rows.begin(), rows.end(), x.prompt_rows()) - rows.begin());
  x.device().backend().select_rows(y, x, rows);
  return y;
}

}  // namespace crane::ops
