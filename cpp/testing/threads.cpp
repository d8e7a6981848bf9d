// Trials on threads that share their models, their samples and one saved state: a program to be built with ThreadSanitizer
// (`make threads`). Every thread must find what one thread alone has found, to the last bit.
#include <cstdlib>
#include <iostream>
#include <limits>
#include <random>
#include <string>
#include <thread>

#include "run/engine.hpp"

namespace linkarms {
namespace {

constexpr Index arms = 5, per_arm = 150;
constexpr double level = 2.3;  // log(1/delta) at delta = 0.1

/// What the trials of all threads read.
struct Experiment {
  std::string name;
  std::shared_ptr<const Model> model;
  Task task;
  SamplingRule sampling;
  StoppingRule stopping;
  std::vector<std::vector<double>> samples;

  [[nodiscard]] Engine engine() const {
    const Index d = model->n_features();
    Matrix box(d, 2);
    for (Index i = 0; i < d; ++i) box(i, 0) = -(box(i, 1) = std::numeric_limits<double>::infinity());
    return {model, task, sampling, stopping, std::move(box), std::vector<double>(arms, 1.0 / arms)};
  }
};

/// What one trial has found.
struct Found {
  Ending ending;
  std::vector<std::int64_t> used, labels;
  std::int64_t stopped_at;
  double evidence;
  friend bool operator==(const Found&, const Found&) = default;
};

Found trial(const Experiment& experiment, Engine& engine) {
  Found found{Ending::budget, std::vector<std::int64_t>(arms), std::vector<std::int64_t>(arms, -1), -1, 0.0};
  Trial now;
  now.samples.assign(experiment.samples.begin(), experiment.samples.end());
  now.used = found.used;
  now.levels = {&level, 1};
  now.stopped_at = {&found.stopped_at, 1};
  now.stopped_labels = found.labels;
  found.ending = engine.run(now, 150).ending;
  found.evidence = engine.evidence();
  return found;
}

template <class Draw>
Experiment experiment(std::string name, const Arm& arm, Index d, SamplingRule sampling, StoppingRule stopping, const Task& task,
                      Draw draw, Variances variances = Variances::known) {
  std::mt19937_64 random(7);
  Experiment made{std::move(name),
                  std::make_shared<const Model>(std::vector<Arm>(arms, arm), d, variances),
                  task,
                  sampling,
                  std::move(stopping),
                  std::vector<std::vector<double>>(arms)};
  for (Index m = 0; m < arms; ++m) {
    // two clusters, of three and of two arms
    const double place = m < 3 ? 0.1 * m : 1.0;
    for (Index i = 0; i < per_arm * d; ++i) made.samples[static_cast<std::size_t>(m)].push_back(draw(random, place));
  }
  return made;
}

double normal(std::mt19937_64& random, double place) {
  return std::normal_distribution(3.0 * place, 1.0)(random);
}
double coin(std::mt19937_64& random, double place) {
  return random() % 100 < 10.0 + 80.0 * place ? 1.0 : 0.0;
}
double count(std::mt19937_64& random, double place) {
  return static_cast<double>(std::poisson_distribution(1.0 + 4.0 * place)(random));
}
double waiting(std::mt19937_64& random, double place) {
  return std::exponential_distribution(1.0 / (1.0 + 4.0 * place))(random);
}

std::vector<Experiment> experiments() {
  const Task two{2}, gap{0, std::nullopt, 0.0, true}, apart{0, 1.5};
  const AnytimeStop anytime{{0.5, 1.5, 4.5, 13.5, 40.5}, 1.0, 2}, first{{0.2, 1.0, 5.0, 25.0, 125.0}, 1.0, 1};
  const Arm line({Gaussian{1.0}}), plane({Gaussian{1.0}, Gaussian{1.0}});
  std::vector<Experiment> all;
  all.push_back(experiment("Gaussian, EBC-H, anytime", line, 1, EbcH{}, anytime, two, normal));
  all.push_back(experiment("Gaussian, EBC-H, anytime version 1", line, 1, EbcH{}, first, two, normal));
  all.push_back(experiment("Gaussian, EBC, BOC", line, 1, Ebc{}, BocStop{}, two, normal));
  all.push_back(experiment("Gaussian, ATBOC, BOC", line, 1, Atboc{}, BocStop{}, two, normal));
  all.push_back(experiment("Gaussian, LUCBBOC, BOC", line, 1, Lucbboc{level}, BocStop{}, two, normal));
  all.push_back(experiment("Gaussian, largest gap", line, 1, EbcH{}, anytime, gap, normal));
  all.push_back(experiment("Gaussian, distance threshold", line, 1, EbcH{}, anytime, apart, normal));
  all.push_back(experiment("Gaussian vectors", plane, 2, EbcH{}, anytime, two, normal));
  for (const Variances variances : {Variances::separate, Variances::shared, Variances::coordinate, Variances::full}) {
    all.push_back(experiment("Gaussian vectors, unknown variance", plane, 2, EbcH{}, anytime, two, normal, variances));
  }
  all.push_back(experiment("Bernoulli", Arm({Bernoulli{}}), 1, EbcH{}, anytime, two, coin));
  all.push_back(experiment("bounded", Arm(SampleBounds{0.0, 1.0}), 1, EbcH{}, anytime, two, coin));
  all.push_back(experiment("Poisson", Arm({Poisson{}}), 1, EbcH{}, anytime, two, count));
  all.push_back(experiment("exponential", Arm({GammaMean{1.0}}), 1, EbcH{}, anytime, two, waiting));
  return all;
}

/// The number of trials that differ from the first one.
int compare(const Experiment& experiment, int n_threads) {
  Engine engine = experiment.engine();
  const std::shared_ptr<const RunState> begun = engine.save();
  const Found alone = trial(experiment, engine);
  std::vector<int> differences(static_cast<std::size_t>(n_threads));
  {
    std::vector<std::jthread> threads;
    for (int& differs : differences) {
      threads.emplace_back([&] {
        Engine own = experiment.engine();
        for (int repeat = 0; repeat < 2; ++repeat) {
          own.restore(*begun);  // the same state for all threads
          differs += trial(experiment, own) == alone ? 0 : 1;
        }
      });
    }
  }
  int all = 0;
  for (const int differs : differences) all += differs;
  std::cout << experiment.name << ": " << 2 * n_threads << " trials, stopped at " << alone.stopped_at << ", " << all
            << " differ\n";
  return all;
}

}  // namespace
}  // namespace linkarms

int main() {
  int differ = 0;
  for (const linkarms::Experiment& experiment : linkarms::experiments()) differ += linkarms::compare(experiment, 3);
  return differ == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
