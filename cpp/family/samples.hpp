// What has been told of all arms: counts, means, estimates, and the moments of arms with unknown variance.
#pragma once

#include <vector>

#include "family/model.hpp"
#include "math/matrix.hpp"

namespace linkarms {

/// What is kept of one arm's samples where the variance is unknown: what universal inference needs (section 5 of
/// math.md; of one variance per arm or for all), and the squares about the mean. All zero before the first sample.
struct Moments {
  double predicted = 0.0;       ///< samples predicted from those before them
  double squares = 0.0;         ///< their squares about their mean
  double log_predictive = 0.0;  ///< sum of their log predictive densities
  double all_squares = 0.0;     ///< squares of all samples about their mean
  std::vector<double> mean;     ///< mean of the predicted samples
  /// The same squares by coordinate (d of them), or products of two coordinates (the lower triangle, row by row);
  /// empty where one variance serves all directions.
  std::vector<double> scatter;
};

/// What the stopping rule asks of the samples.
struct SampleUse {
  bool knots = false;    ///< keep the samples of arms with known bounds, for bets
  double caution = 2.0;  ///< see Samples::precision
};

/// The sufficient statistics of M arms and the estimates that follow from them.
/// Invariant: estimates are those of counts and means, clipped to the box, for every arm with a sample.
class Samples {
 public:
  /// `box` has d rows of low and high, infinite where estimates are not clipped.
  Samples(const Model& model, Matrix box, SampleUse use = {});

  /// Take in the sufficient statistic of one sample of arm m.
  void add(Index m, View statistic);
  /// Set everything told so far, from a dump; estimates follow.
  void set(std::vector<Index> counts, Matrix means, std::vector<Moments> moments, std::vector<std::vector<Knot>> knots = {});

  [[nodiscard]] const Model& model() const { return *model_; }
  [[nodiscard]] Index n_arms() const { return model_->n_arms(); }
  [[nodiscard]] long long total() const { return total_; }
  [[nodiscard]] bool every_arm_has_one() const { return without_ == 0; }
  [[nodiscard]] Index count(Index m) const { return counts_[static_cast<std::size_t>(m)]; }
  [[nodiscard]] std::span<const Index> counts() const { return counts_; }
  [[nodiscard]] View mean(Index m) const { return means_.row(m); }
  [[nodiscard]] const Matrix& means() const { return means_; }
  [[nodiscard]] const Matrix& estimates() const { return estimates_; }
  [[nodiscard]] const Moments& moments(Index m) const { return moments_[static_cast<std::size_t>(m)]; }
  /// Whether the samples of arm m are kept for bets, and the samples of all arms (of none where they are not).
  [[nodiscard]] bool has_knots(Index m) const { return !knots_.empty() && model_->arm(m).range().has_value(); }
  [[nodiscard]] const std::vector<Knots>& knots() const { return knots_; }
  /// One over arm m's variance as far as its samples tell (of several, their mean), for choosing arms only; 1
  /// where it is known or shared. The variance is taken `caution` standard deviations of its logarithm above its
  /// estimate: an arm whose first samples happen to agree must not pass for a certain one, and the evidence of an arm
  /// with few samples says little.
  [[nodiscard]] double precision(Index m) const { return precision_[static_cast<std::size_t>(m)]; }

 private:
  void add_scatter(Index m, View sample);
  /// Predict a sample of arm m from those before it, and take it into the arm's moments. A sample is
  /// predicted as soon as the ones before it allow (an arm's third, or its second where arms share one
  /// variance and any has repeated); whether it is, is known before it is drawn.
  void predict(Index m, View sample);
  [[nodiscard]] double find_precision(Index m) const;

  const Model* model_;
  Matrix box_;
  std::vector<Index> counts_;
  Matrix means_, estimates_;
  Matrix scratch_;                ///< the mean and the estimate that a sample is about to give
  std::vector<Moments> moments_;  ///< empty where variances are known
  std::vector<Knots> knots_;      ///< empty where there are no bets
  std::vector<double> precision_;
  long long total_ = 0;
  Index without_;  ///< arms without a sample
  double caution_;
};

}  // namespace linkarms
