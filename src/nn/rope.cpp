#include "nn/rope.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/strings.h"
#include "ops/rope.h"

namespace crane::nn {
namespace {

// base^(2i/dim), as the reference computes it in f32.
std::vector<float> wavelengths(float base, int dim) {
  std::vector<float> result;
  for (int i = 0; i < dim; i += 2)
    result.push_back(std::pow(base, static_cast<float>(i) / static_cast<float>(dim)));
  return result;
}

std::vector<float> inverse(const std::vector<float>& values, float factor) {
  std::vector<float> result;
  for (float value : values) result.push_back(1.0f / (factor * value));
  return result;
}

// "YaRN: Efficient Context Window Extension", Peng et al. 2023: low frequencies are interpolated,
// high ones kept, with a linear ramp between.
struct Yarn {
  double factor, original_positions, beta_fast, beta_slow, base;
  bool truncate;
  int dim;

  // The dimension whose wavelength fits `rotations` times into the original context.
  double correction_dim(double rotations) const {
    return dim * std::log(original_positions / (rotations * 2 * std::numbers::pi)) /
           (2 * std::log(base));
  }
  std::vector<float> frequencies() const {
    double low = correction_dim(beta_fast), high = correction_dim(beta_slow);
    if (truncate) low = std::floor(low), high = std::ceil(high);
    low = std::max(low, 0.0);
    high = std::min(high, dim - 1.0);
    if (low == high) high += 0.001;
    std::vector<float> periods = wavelengths(static_cast<float>(base), dim);
    std::vector<float> kept = inverse(periods, 1.0f);
    std::vector<float> interpolated = inverse(periods, static_cast<float>(factor));
    std::vector<float> result;
    for (size_t i = 0; i < periods.size(); ++i) {
      float ramp = static_cast<float>((static_cast<double>(i) - low) / (high - low));
      float keep = 1.0f - std::clamp(ramp, 0.0f, 1.0f);
      result.push_back(interpolated[i] * (1.0f - keep) + kept[i] * keep);
    }
    return result;
  }
};

double yarn_scale(double scale, double mscale) {
  return scale <= 1 ? 1.0 : 0.1 * mscale * std::log(scale) + 1.0;
}

double yarn_magnitude(const Json& parameters, double factor) {
  if (parameters.contains("attention_factor")) return parameters.get<double>("attention_factor");
  double mscale = parameters.get<double>("mscale", 0.0);
  double mscale_all = parameters.get<double>("mscale_all_dim", 0.0);
  if (mscale != 0 && mscale_all != 0)
    return yarn_scale(factor, mscale) / yarn_scale(factor, mscale_all);
  return yarn_scale(factor, 1.0);
}

double positive(const Json& parameters, const char* key, double fallback) {
  double value = parameters.get<double>(key, fallback);
  if (!(value > 0) || !std::isfinite(value))
    throw Error(ErrorCode::invalid_argument,
                cat("config: rope ", key, " is ", value, ", expected a positive number"));
  return value;
}

// Llama 3.1: long wavelengths are divided by `factor`, short ones kept, smooth in between.
std::vector<float> llama3_frequencies(const Json& parameters, double base, int dim) {
  double factor = positive(parameters, "factor", 8);
  double low = positive(parameters, "low_freq_factor", 1);
  double high = positive(parameters, "high_freq_factor", 4);
  double original = positive(parameters, "original_max_position_embeddings", 8192);
  std::vector<float> result = inverse(wavelengths(static_cast<float>(base), dim), 1.0f);
  for (float& frequency : result) {
    double wavelength = 2 * std::numbers::pi / frequency;
    if (wavelength > original / low) {
      frequency = static_cast<float>(frequency / factor);
    } else if (wavelength >= original / high) {
      double smooth = (original / wavelength - low) / (high - low);
      frequency = static_cast<float>((1 - smooth) * frequency / factor + smooth * frequency);
    }
  }
  return result;
}

}  // namespace

Rope::Rope(const Json& parameters, int rotary_dim, int max_positions) {
  if (rotary_dim < 2 || rotary_dim % 2 != 0)
    throw Error(ErrorCode::invalid_argument,
                cat("config: rotary dimension is ", rotary_dim, ", expected an even number"));
  std::string type =
      parameters.get<std::string>("rope_type", parameters.get<std::string>("type", "default"));
  double base = positive(parameters, "rope_theta", 10000.0);
  if (type == "default") {
    frequencies_ = inverse(wavelengths(static_cast<float>(base), rotary_dim), 1.0f);
  } else if (type == "linear") {
    float factor = static_cast<float>(positive(parameters, "factor", 1.0));
    frequencies_ = inverse(wavelengths(static_cast<float>(base), rotary_dim), 1.0f);
    for (float& frequency : frequencies_) frequency /= factor;
  } else if (type == "llama3") {
    frequencies_ = llama3_frequencies(parameters, base, rotary_dim);
  } else if (type == "yarn") {
    double original = positive(parameters, "original_max_position_embeddings",
                               static_cast<double>(max_positions));
    double factor = positive(parameters, "factor", max_positions / original);
    Yarn yarn{factor,
              original,
              positive(parameters, "beta_fast", 32),
              positive(parameters, "beta_slow", 1),
              base,
              parameters.get<bool>("truncate", true),
              rotary_dim};
    frequencies_ = yarn.frequencies();
    magnitude_ = static_cast<float>(yarn_magnitude(parameters, factor));
  } else {
    throw Error(ErrorCode::unsupported, cat("config: rope type ", type,
                                            " is not built; default, linear, llama3 and yarn are"));
  }
}

Tensor Rope::operator()(Device& device, const Batch& batch) const {
  return ops::rope_angles(device, batch.positions, frequencies_, magnitude_);
}

}  // namespace crane::nn
