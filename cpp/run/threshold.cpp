#include "run/threshold.hpp"

#include <cmath>
#include <numbers>

namespace linkarms {

// 1 - 2 Q(x) = erf(x / sqrt 2) is precise where it is small, log1p(-erfc) where it is close to one.
double log_inner_mass(double x) {
  const double z = x / std::sqrt(2.0);
  return z < 1.0 ? std::log(std::erf(z)) : std::log1p(-std::erfc(z));
}

double paper_penalty(const Model& model, Index m, View theta, double n, const PaperStop& rule) {
  const double d = model.chart_dimension();
  const double information = n * model.arm(m).fisher(theta);
  return 0.5 * d * std::log(information) - d * log_inner_mass(rule.epsilon * std::sqrt(information)) + rule.log_volume -
         0.5 * d * std::log(2.0 * std::numbers::pi) + n * model.arm(m).shift_kl(theta, rule.epsilon);
}

double boc_penalty(double n, Index n_features) {
  return n_features * std::log(n + 1.0);
}

namespace {

/// What the union has to cover: the rule's own question, unless the task says more.
Question question_of(const AnytimeStop& rule, const Task& task) {
  const Promise clusters = task.largest_gap ? Promise::every_cut : rule.question.promise;
  return {task.distance ? Promise::threshold : clusters, rule.question.tolerant || task.tolerance > 0.0};
}

}  // namespace

AnytimeBase::AnytimeBase(const AnytimeStop& rule, const AnytimeEvidence& evidence, Index n_arms, const Task& task)
    : events_(rule.version >= 2 ? UnionBound(question_of(rule, task), n_arms, task.n_clusters, evidence.unit())
                                : UnionBound(count_sets(n_arms))),
      grid_price_(evidence.grid_price()),
      discount_(rule.discount) {}

}  // namespace linkarms
