#include "family/samples.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <stdexcept>

#include "math/special.hpp"

namespace linkarms {

namespace {

/// Log density of the next sample at squared distance `distance2` from the mean of n, when `squares` has
/// `degrees` degrees of freedom: Student's t in d dimensions with scale (squares / degrees) (1 + 1/n), what a
/// flat prior on the mean and on the logarithm of the variance predicts.
double log_student(double distance2, double degrees, double squares, double n, double d) {
  const double spread = squares * (1.0 + 1.0 / n);
  return log_gamma(0.5 * (degrees + d)) - log_gamma(0.5 * degrees) - 0.5 * d * std::log(std::numbers::pi * spread) -
         0.5 * (degrees + d) * std::log1p(distance2 / spread);
}

/// How many numbers `Moments::scatter` has.
std::size_t scatter_size(const Model& model) {
  const auto d = static_cast<std::size_t>(model.n_features());
  if (model.variances() == Variances::coordinate) return d;
  return model.variances() == Variances::full ? d * (d + 1) / 2 : 0;
}

double degrees_of(Index d, Index count) {
  return static_cast<double>(d) * std::max(count - 1, 0);
}

}  // namespace

Samples::Samples(const Model& model, Matrix box, SampleUse use)
    : model_(&model),
      box_(std::move(box)),
      counts_(static_cast<std::size_t>(model.n_arms())),
      means_(model.n_arms(), model.n_features()),
      estimates_(model.n_arms(), model.n_features()),
      scratch_(2, model.n_features()),
      precision_(static_cast<std::size_t>(model.n_arms()), 1.0),
      without_(model.n_arms()),
      caution_(use.caution) {
  if (box_.rows() != model.n_features() || box_.cols() != 2) {
    throw std::invalid_argument("the box has another shape than (n_features, 2); give low and high for each feature");
  }
  if (use.knots && model.has_range()) knots_.resize(counts_.size());
  if (model.variances() != Variances::known) {
    Moments none;
    none.mean.assign(static_cast<std::size_t>(model.n_features()), 0.0);
    none.scatter.assign(scatter_size(model), 0.0);
    moments_.assign(static_cast<std::size_t>(model.n_arms()), none);
  }
}

void Samples::add(Index m, View statistic) {
  const auto at = static_cast<std::size_t>(m);
  const Index n = counts_[at] + 1;
  // A user's estimate may throw: find it before anything is changed.
  const MutView mean = scratch_.row(0), theta = scratch_.row(1);
  for (std::size_t i = 0; i < mean.size(); ++i) mean[i] = means_.row(m)[i] + (statistic[i] - means_.row(m)[i]) / n;
  model_->arm(m).estimate(mean, box_, theta);
  if (has_knots(m)) knots_[at].add(*model_->arm(m).range(), statistic[0]);
  if (!moments_.empty()) {
    add_scatter(m, statistic);
    predict(m, statistic);
  }
  std::ranges::copy(mean, means_.row(m).begin());
  std::ranges::copy(theta, estimates_.row(m).begin());
  if (n == 1) --without_;
  counts_[at] = n;
  ++total_;
  precision_[at] = find_precision(m);
}

void Samples::set(std::vector<Index> counts, Matrix means, std::vector<Moments> moments, std::vector<std::vector<Knot>> knots) {
  const auto n_arms = static_cast<std::size_t>(this->n_arms());
  if (counts.size() != n_arms || means.rows() != means_.rows() || means.cols() != means_.cols() ||
      moments.size() != moments_.size()) {
    throw std::invalid_argument("counts, means or moments have another shape than the model; give one row per arm");
  }
  for (const Moments& own : moments) {
    if (own.mean.size() != static_cast<std::size_t>(means.cols()) || own.scatter.size() != scatter_size(*model_)) {
      throw std::invalid_argument("the moments of an arm have another length than the model's; they are damaged");
    }
  }
  if (knots.size() != knots_.size()) {
    throw std::invalid_argument("the samples of bounded arms are missing, or told where none are kept; the dump is damaged");
  }
  Samples next(*model_, box_, SampleUse{!knots_.empty(), caution_});
  next.counts_ = std::move(counts);
  next.means_ = std::move(means);
  next.moments_ = std::move(moments);
  for (Index m = 0; m < next.n_arms(); ++m) {
    const auto at = static_cast<std::size_t>(m);
    const bool bets = next.has_knots(m) && next.count(m) > 0;
    if (!bets && !knots.empty() && !knots[at].empty()) {
      throw std::invalid_argument("there are knots of an arm without bounded samples; the dump is damaged");
    }
    if (next.count(m) == 0) continue;
    model_->arm(m).estimate(next.mean(m), box_, next.estimates_.row(m));
    if (bets) next.knots_[at].set(std::move(knots[at]), *model_->arm(m).range(), next.count(m), next.mean(m)[0]);
    next.precision_[at] = next.find_precision(m);
    next.total_ += next.count(m);
    --next.without_;
  }
  *this = std::move(next);
}

// One more sample x: S grows by (n / (n + 1)) (x - mean) (x - mean)', n and the mean those before it.
void Samples::add_scatter(Index m, View sample) {
  Moments& own = moments_[static_cast<std::size_t>(m)];
  const double n = count(m), share = n / (n + 1.0);
  auto entry = own.scatter.begin();
  const View mean = this->mean(m);
  for (std::size_t i = 0; entry != own.scatter.end(); ++i) {
    const double step = share * (sample[i] - mean[i]);
    if (model_->variances() == Variances::coordinate) {
      *entry++ += step * (sample[i] - mean[i]);
    } else {
      for (std::size_t j = 0; j <= i; ++j) *entry++ += step * (sample[j] - mean[j]);
    }
  }
}

void Samples::predict(Index m, View sample) {
  Moments& own = moments_[static_cast<std::size_t>(m)];
  const Index d = model_->n_features(), n = count(m);
  double squares = own.all_squares, degrees = degrees_of(d, n);
  if (model_->variances() == Variances::shared) {
    squares = degrees = 0.0;
    for (Index j = 0; j < n_arms(); ++j) {
      squares += moments(j).all_squares;
      degrees += degrees_of(d, count(j));
    }
  }
  double distance2 = 0.0;
  for (std::size_t i = 0; i < sample.size(); ++i) distance2 += (sample[i] - mean(m)[i]) * (sample[i] - mean(m)[i]);
  const bool isotropic = own.scatter.empty();
  if (isotropic && n >= 1 && degrees >= 1.0 && squares > 0.0) {
    own.log_predictive += log_student(distance2, degrees, squares, n, d);
    own.predicted += 1.0;
    for (std::size_t i = 0; i < sample.size(); ++i) {
      const double step = sample[i] - own.mean[i];
      own.mean[i] += step / own.predicted;
      own.squares += step * (sample[i] - own.mean[i]);
    }
  }
  if (n >= 1) own.all_squares += distance2 * n / (n + 1.0);
}

double Samples::find_precision(Index m) const {
  if (model_->variances() == Variances::known || model_->variances() == Variances::shared) return 1.0;
  const double degrees = degrees_of(model_->n_features(), count(m)), squares = moments(m).all_squares;
  if (degrees < 1.0 || squares <= 0.0) return 1.0;
  return degrees / (squares * std::exp(caution_ * std::sqrt(2.0 / degrees)));
}

}  // namespace linkarms
