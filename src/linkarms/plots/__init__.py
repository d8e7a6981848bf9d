"""Pictures of a result: for each an info builder (plain data, no matplotlib) and a drawing.

The drawings need matplotlib (``pip install 'linkarms[plots]'``) and no display. They return the axes they
drew on; without ``ax`` they create a figure, which is ``axes.figure``.
"""

from linkarms.plots._arms import ArmsInfo, arms_info, plot_arms
from linkarms.plots._dendrogram import DendrogramInfo, dendrogram_info, plot_dendrogram
from linkarms.plots._error_curve import (
    ErrorCurve,
    ErrorCurveInfo,
    error_curve_info,
    plot_error_curve,
)
from linkarms.plots._evidence import History, HistoryRecorder, plot_evidence
from linkarms.plots._fit import FitInfo, fit_info, plot_fit
from linkarms.plots._fit_categories import CategoryFitInfo
from linkarms.plots._fit_ranges import RangeFitInfo, RangeRow
from linkarms.plots._linkage_steps import LinkageStepsInfo, linkage_steps_info, plot_linkage_steps
from linkarms.plots._pulls import PullsInfo, plot_pulls, pulls_info
from linkarms.plots._report import write_report
from linkarms.plots._run_times import RunTimesInfo, plot_run_times, run_times_info
from linkarms.plots._stopping_times import (
    SlopesInfo,
    StoppingCurve,
    StoppingTimesInfo,
    plot_slopes,
    plot_stopping_times,
    slopes_info,
    stopping_times_info,
)
from linkarms.plots._style import cluster_color
from linkarms.plots._summary import summary

__all__ = [
    "ArmsInfo",
    "CategoryFitInfo",
    "DendrogramInfo",
    "ErrorCurve",
    "ErrorCurveInfo",
    "FitInfo",
    "History",
    "HistoryRecorder",
    "LinkageStepsInfo",
    "PullsInfo",
    "RangeFitInfo",
    "RangeRow",
    "RunTimesInfo",
    "SlopesInfo",
    "StoppingCurve",
    "StoppingTimesInfo",
    "arms_info",
    "cluster_color",
    "dendrogram_info",
    "error_curve_info",
    "fit_info",
    "linkage_steps_info",
    "plot_arms",
    "plot_dendrogram",
    "plot_error_curve",
    "plot_evidence",
    "plot_fit",
    "plot_linkage_steps",
    "plot_pulls",
    "plot_run_times",
    "plot_slopes",
    "plot_stopping_times",
    "pulls_info",
    "run_times_info",
    "slopes_info",
    "stopping_times_info",
    "summary",
    "write_report",
]
