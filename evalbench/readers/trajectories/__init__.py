"""Trajectories of agents: the steps of their runs, out of logs and result files of many forms, known by their content."""

from __future__ import annotations

from evalbench.readers.trajectories.columns import columns_read
from evalbench.readers.trajectories.frames import Trajectories, read_trajectories
from evalbench.readers.trajectories.kinds import kind_of, speaker_of
from evalbench.readers.trajectories.known import FORMS, is_own, recognised, sha256_of_runs, stream_trajectories
from evalbench.readers.trajectories.listed_tools import SCHEMAS, tool_of
from evalbench.readers.trajectories.shape import Step, Trajectory

__all__ = [
    "FORMS",
    "SCHEMAS",
    "Step",
    "Trajectories",
    "Trajectory",
    "columns_read",
    "is_own",
    "kind_of",
    "read_trajectories",
    "recognised",
    "sha256_of_runs",
    "speaker_of",
    "stream_trajectories",
    "tool_of",
]
