// The nearest alternative at some weights, and the search that keeps finding it.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "psi/search.hpp"

namespace linkarms {

/// A pointer to something polymorphic with `clone`, copied by value.
template <class T>
class Cloned {
 public:
  Cloned() = default;
  explicit Cloned(std::unique_ptr<T> p) : p_(std::move(p)) {}
  Cloned(const Cloned& other) : p_(other.p_ ? other.p_->clone() : nullptr) {}
  Cloned(Cloned&&) noexcept = default;
  Cloned& operator=(Cloned other) noexcept {
    p_ = std::move(other.p_);
    return *this;
  }
  ~Cloned() = default;
  T* operator->() const { return p_.get(); }
  T& operator*() const { return *p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  std::unique_ptr<T> p_;
};

/// psi at weights of its own, with lambda* and the divergences.
/// Invariant: outside the rows of the witness `lam` holds the estimates and `kl` is zero.
class NearestAlternative {
 public:
  NearestAlternative(const Model& model, const Task& task);

  [[nodiscard]] double psi() const { return answer_.value; }
  [[nodiscard]] const Witness& witness() const { return answer_.witness; }
  [[nodiscard]] const Matrix& lam() const { return lam_; }
  [[nodiscard]] View kl() const { return kl_; }
  [[nodiscard]] View weights() const { return weights_; }
  MutView weights() { return weights_; }
  [[nodiscard]] Search& search() const { return *search_; }

  /// Arm m's estimate has moved: its row of lam becomes that.
  void follow(const Matrix& theta, Index m);
  /// Take nothing that was kept for granted; every row of lam becomes the estimate.
  void forget(const Matrix& theta);
  /// psi at `weights()`. `moved`: the only arm whose weight or estimate has changed since the last call, if
  /// there is just one.
  void find(const ClusteredArms& now, std::optional<Index> moved);

 private:
  Cloned<Search> search_;
  Matrix lam_;
  std::vector<double> kl_, weights_;
  PsiAnswer answer_;
};

}  // namespace linkarms
