"""Words of the command line that several tests use."""

PAPER = ["--stopping", "paper", "--theta", "-5,15"]


def cluster(path, *more):
    return ["cluster", str(path), "--arm", "zone", "--value", "x", "-k", "2", "--family", "gaussian", *more]


def shown_examples(function):
    """The command lines in the help of a command, each in one line."""
    text = function.__doc__.split("Examples:")[1].replace("\\\n", " ")
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]
