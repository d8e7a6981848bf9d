// Small symmetric matrices: eigenvalues, Cholesky factors, inverses. Up to a few dozen rows, where simple and
// precise is also fast.
#pragma once

#include <vector>

#include "math/matrix.hpp"

namespace linkarms {

/// The spectral decomposition a = vectors diag(values) vectors'; values in increasing order, vectors in
/// columns.
struct Eigen {
  std::vector<double> values;
  Matrix vectors;
};

/// Jacobi's method. Small eigenvalues of a positive definite matrix are found to nearly full relative
/// precision. Only the upper triangle is read. Throws std::invalid_argument if an entry is not finite.
[[nodiscard]] Eigen symmetric_eigen(Matrix a);

/// Overwrite a with its lower Cholesky factor L, a = L L', and zeros above. False, with a half done, unless a
/// is positive definite: every pivot is above `least_pivot` times its diagonal entry. Only the lower triangle is read.
[[nodiscard]] bool cholesky(Matrix& a, double least_pivot = 0.0);

/// Overwrite x with L^-1 x, and with L'^-1 x, for a lower triangular L.
void solve_lower(const Matrix& lower, MutView x);
void solve_lower_transposed(const Matrix& lower, MutView x);

/// (L L')^-1 for a lower triangular L, up to rounding symmetric.
[[nodiscard]] Matrix inverse_of_factor(const Matrix& lower);
/// The inverse of a positive definite matrix. Throws std::invalid_argument for any other.
[[nodiscard]] Matrix inverse(Matrix a);

}  // namespace linkarms
