"""Ranks of one job: every rank may verify, and together they make one row."""

from __future__ import annotations

import datetime
import hashlib
import os
from collections.abc import Callable, Mapping

from kbtool.model import Outcome

RANK_VARIABLES = ("RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK")
"""Any of these set means: one of several processes of a job."""

JOB_VARIABLES = (
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "TORCHELASTIC_RUN_ID",
    "TORCHELASTIC_RESTART_COUNT",
    "MASTER_ADDR",
    "MASTER_PORT",
    "PMIX_NAMESPACE",
    "OMPI_MCA_ess_base_jobid",
    "WORLD_SIZE",
)
"""What the ranks of a job have in common and, together with the time, other jobs do not."""

WINDOW = datetime.timedelta(minutes=60)
"""Launchers reuse names and ports: a row older than this belongs to an earlier job."""

WHEN = "%Y-%m-%d %H:%MZ"
"""How a row writes its time."""


def job_mark(environment: Mapping[str, str] | None = None) -> str | None:
    """``job 3fa2c1`` for a rank of a job, the same in all its ranks; None outside a job."""
    environment = os.environ if environment is None else environment
    if not any(environment.get(name) for name in RANK_VARIABLES):
        return None
    common = "\0".join(f"{name}={environment.get(name, '')}" for name in JOB_VARIABLES)
    return f"job {hashlib.sha256(common.encode()).hexdigest()[:6]}"


def same_job(mark: str, outcome: Outcome) -> Callable[[Outcome], bool]:
    """A test for rows that another rank of the job `mark` wrote for the same check and verdict."""

    def matches(row: Outcome) -> bool:
        return row.check == outcome.check and row.verdict is outcome.verdict and row.note.endswith(f"({mark})") and _is_recent(row, outcome)

    return matches


def _is_recent(row: Outcome, outcome: Outcome) -> bool:
    try:
        age = datetime.datetime.strptime(outcome.when, WHEN) - datetime.datetime.strptime(row.when, WHEN)
    except ValueError:
        return False
    return abs(age) <= WINDOW
