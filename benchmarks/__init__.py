"""Figures kept from runs of ``linkarms bench``, and how they get into the docs."""
