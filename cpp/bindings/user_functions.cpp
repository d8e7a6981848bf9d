#include "bindings/user_functions.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <variant>

namespace nb = nanobind;

namespace linkarms::bindings {

namespace {

/// A Python object that may be let go of from any thread.
class Reference {
 public:
  explicit Reference(nb::object object) : object_(std::move(object)) {}
  Reference(Reference&&) = default;
  Reference& operator=(Reference&&) = delete;
  ~Reference() {
    if (!object_.is_valid()) return;
    const nb::gil_scoped_acquire gil;
    object_.reset();
  }
  [[nodiscard]] const nb::object& get() const { return object_; }

 private:
  nb::object object_;
};

/// A function of numbers: of C, of Python, or none.
template <class... Numbers>
class Function {
 public:
  /// A callable, an address, or None where the function may be left out.
  Function(nb::object given, const char* name, bool optional) : call_(read(std::move(given), name, optional)) {}

  [[nodiscard]] bool exists() const { return !std::holds_alternative<std::monostate>(call_); }
  [[nodiscard]] double operator()(Numbers... x) const {
    if (const auto* native = std::get_if<Native>(&call_)) return (*native)(x...);
    const nb::gil_scoped_acquire gil;
    const nb::object result = std::get<Reference>(call_).get()(x...);
    const double value = PyFloat_AsDouble(result.ptr());
    if (value == -1.0 && PyErr_Occurred() != nullptr) throw nb::python_error();
    return value;
  }

 private:
  using Native = double (*)(Numbers...);
  using Call = std::variant<std::monostate, Native, Reference>;

  static Call read(nb::object given, const char* name, bool optional) {
    if (given.is_none() && optional) return Call();
    if (nb::isinstance<nb::int_>(given)) {
      const auto address = nb::cast<std::uintptr_t>(given);
      if (address == 0) throw std::invalid_argument(std::string("the address of ") + name + " is 0; give that of a C function");
      return Call(std::in_place_type<Native>, reinterpret_cast<Native>(address));
    }
    if (PyCallable_Check(given.ptr()) == 0) {
      throw std::invalid_argument(std::string("the function ") + name +
                                  " of a family is neither callable nor an address; give one of them");
    }
    return Call(std::in_place_type<Reference>, std::move(given));
  }

  Call call_;
};

class GivenFunctions final : public UserFunctions {
 public:
  GivenFunctions(nb::object kl, nb::object step, nb::object fisher, nb::object estimate, nb::object slope_limit,
                 nb::object inflection, nb::object owner)
      : kl_(std::move(kl), "kl", false),
        step_(std::move(step), "step", false),
        fisher_(std::move(fisher), "fisher", false),
        estimate_(std::move(estimate), "estimate", true),
        slope_limit_(std::move(slope_limit), "slope_limit", true),
        inflection_(std::move(inflection), "inflection", true),
        owner_(std::move(owner)) {}

  [[nodiscard]] double kl(double theta, double lam) const override { return kl_(theta, lam); }
  [[nodiscard]] double step(double theta, double slope) const override { return step_(theta, slope); }
  [[nodiscard]] double fisher(double theta) const override { return fisher_(theta); }
  [[nodiscard]] double estimate(double mean) const override { return estimate_.exists() ? estimate_(mean) : mean; }
  [[nodiscard]] double slope_limit(double theta) const override { return slope_limit_.exists() ? slope_limit_(theta) : inf; }
  [[nodiscard]] double inflection(double theta) const override { return inflection_.exists() ? inflection_(theta) : inf; }

 private:
  Function<double, double> kl_, step_;
  Function<double> fisher_, estimate_, slope_limit_, inflection_;
  Reference owner_;
};

}  // namespace

UserFamily make_user_family(nb::object kl, nb::object step, nb::object fisher, nb::object estimate, nb::object slope_limit,
                            nb::object inflection, Domain domain, nb::object owner) {
  return {std::make_shared<GivenFunctions>(std::move(kl), std::move(step), std::move(fisher), std::move(estimate),
                                           std::move(slope_limit), std::move(inflection), std::move(owner)),
          domain};
}

}  // namespace linkarms::bindings
