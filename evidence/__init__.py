"""The long proofs. ``python -m evidence`` runs them all; each is seeded, resumable, and keeps its results here as JSON."""
