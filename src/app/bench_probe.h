// What this machine can do, measured in-process: read bandwidth and the rate of int8
// multiply-adds. Both vary with neighbours, so they are taken beside every measurement.
#pragma once

namespace crane {

struct MachinePeaks {
  double bandwidth_gb_s = 0;  // reading, all threads together, huge pages
  double int8_gmac_s = 0;     // all threads together; 0: no probe for this processor
};

// Best of a few short runs, about half a second.
MachinePeaks measure_peaks(int threads);

// The larger of both, field by field: a probe can only be too low.
MachinePeaks best_of(const MachinePeaks& a, const MachinePeaks& b);

}  // namespace crane
