"""The one place where the oracles' plain dicts become families of the library."""

import linkarms as la


def to_library(families):
    """A family object for a dict, a list of them for a list with one per arm."""
    if isinstance(families, list):
        return [to_library(spec) for spec in families]
    name = families["name"]
    if name == "gaussian":
        return la.families.Gaussian(families.get("covariance"))
    if name == "exponential":
        return la.families.Exponential(parameter=families["parameter"])
    if name == "gamma":
        return la.families.Gamma(families["shape"], parameter=families["parameter"])
    if name == "categorical":
        return la.families.Categorical(families["n_categories"])
    if name == "product":
        return la.families.Product([to_library(part) for part in families["of"]])
    return {"bernoulli": la.families.Bernoulli, "poisson": la.families.Poisson}[name]()
