// Candidates while weights grow and nothing else changes, as they do while pulls are added to those that are pending.
//
// Costs are sums of weights times divergences, so no V_k(a,b) falls when a weight grows. Once all candidates up to a level are
// listed, every later psi up to that level is the least of the list, and a value that was found earlier bounds the present
// one from below: only those that are below the best are evaluated again.
#pragma once

#include <algorithm>
#include <tuple>
#include <utility>
#include <vector>

#include "math/matrix.hpp"
#include "psi/bounds.hpp"
#include "psi/candidate.hpp"

namespace linkarms::psi {

/// Invariant where it exists: every candidate whose V_k(a,b) is at most `level` is listed, with a lower bound of its value.
class GrowingWeightList {
 public:
  explicit GrowingWeightList(Index n_arms) : most_(64 + 8 * static_cast<std::size_t>(n_arms)), looks_(20.0 * n_arms) {}

  [[nodiscard]] bool exists() const { return exists_; }
  [[nodiscard]] double level() const { return level_; }
  void drop() { exists_ = open_ = false; }

  /// The costs that one search evaluated without a list, and one with it. A search without one also looks at all arms: as
  /// much work as some costs per arm. Where the list does not save any, it is given up.
  void note_search(long long evaluated) { searched_ += (static_cast<double>(evaluated) - searched_) / 8.0; }
  void note_use(long long evaluated) {
    spent_ += static_cast<double>(evaluated);
    ++uses_;
    if (uses_ % 16 == 0 && spent_ > uses_ * (searched_ + looks_)) {
      uses_ = 0;
      drop();
    }
  }
  /// Whether it is time to make a list. Where there was none, or one that did not last, that takes longer each time.
  [[nodiscard]] bool is_due() {
    if (!paused_) {
      narrow_ = narrow_ ? uses_ >= long_enough : too_many_;
      pause_ = uses_ >= long_enough ? 0 : std::min(4 * pause_ + 8, longest_pause);
      waited_ = 0;
      paused_ = true;
    }
    return ++waited_ > pause_;
  }
  /// How far above psi the level of the next list is. A wide list serves longer; where many candidates are nearly tied it has
  /// too many, and the next one is narrow, until one of those does not last.
  [[nodiscard]] double width() const { return narrow_ ? 1.01 : 1.05; }
  /// List candidates up to a level from now on.
  void open(double level) {
    paused_ = false;
    uses_ = 0;
    spent_ = 0.0;
    level_ = level;
    listed_.clear();
    exists_ = false;
    open_ = true;
  }
  /// Whether candidates are being listed; not any more where they are too many.
  [[nodiscard]] bool is_open() const { return open_; }
  void add(const EdgeCost& found, Index k, Index x, Index y) {
    if (!open_ || !(found.value <= level_)) return;
    listed_.push_back({{found.value, k, std::min(x, y), std::max(x, y), found.edge}, false});
    if (listed_.size() > most_) open_ = false;
  }
  /// All have been added, some of them more than once.
  void close() {
    exists_ = std::exchange(open_, false);
    too_many_ = !exists_;
    const auto key = [](const Listed& x) { return std::tuple(x.candidate.a, x.candidate.b, x.candidate.k); };
    std::ranges::sort(listed_, {}, key);
    const auto rest = std::ranges::unique(listed_, {}, key);
    listed_.erase(rest.begin(), rest.end());
  }

  /// The least of the list, some weights having grown; none where that is above the level. `evaluate(candidate, level)` is its
  /// V_k(a,b) if that is at most `level`, else any value above it.
  template <class Evaluate>
  Candidate least(Evaluate evaluate) {
    constexpr double ahead = 1.01;  // what is above this times the best is not looked at again soon
    Candidate best;
    for (Listed& entry : listed_) entry.known = false;
    while (true) {
      Listed* next = nullptr;
      for (Listed& entry : listed_) {
        if (!entry.known && (!next || entry.candidate.value < next->candidate.value)) next = &entry;
      }
      if (!next || next->candidate.value > best.value * room) break;
      const double level = std::min(ahead * best.value, level_);
      const EdgeCost found = evaluate(next->candidate, level);
      next->known = true;
      if (found.value <= level) {
        next->candidate.value = found.value;
        best.take_smaller(found, next->candidate.k, next->candidate.a, next->candidate.b);
      } else if (level == level_) {  // it will never be as low again
        *next = listed_.back();
        listed_.pop_back();
      } else {
        next->candidate.value = level;
      }
    }
    return best;
  }

  [[nodiscard]] std::size_t bytes() const { return listed_.capacity() * sizeof(Listed); }

 private:
  struct Listed {
    Candidate candidate;
    bool known;  ///< its value is that at the present weights
  };

  /// A list that served so often was worth while.
  static constexpr int long_enough = 32, longest_pause = 4096;

  std::size_t most_;
  double looks_;
  double searched_ = 0.0, spent_ = 0.0;
  int pause_ = 0, waited_ = 0, uses_ = long_enough;
  bool paused_ = false;  ///< the pause after the last list has been set
  double level_ = -1.0;
  std::vector<Listed> listed_;
  bool exists_ = false, open_ = false;
  bool too_many_ = false;  ///< the last list was given up while it was made
  bool narrow_ = false;    ///< the next list is
};

}  // namespace linkarms::psi
