"""What objects look like in a notebook: plain HTML with inline SVG, without scripts, readable on light and dark pages."""

from linkarms.notebook._tables import audit_html, plan_html, simulation_html
from linkarms.notebook._views import clusterer_html, result_html

__all__ = ["audit_html", "clusterer_html", "plan_html", "result_html", "simulation_html"]
