"""Words of the command line that several tests use."""

PAPER = ["--stopping", "paper", "--theta", "-5,15"]


def cluster(path, *more):
    return ["cluster", str(path), "--arm", "zone", "--value", "x", "-k", "2", "--family", "gaussian", *more]
