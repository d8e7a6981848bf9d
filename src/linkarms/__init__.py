from linkarms._version import __version__
