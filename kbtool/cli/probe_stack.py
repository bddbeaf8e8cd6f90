"""`kb probe stack PID`, printed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from kbtool.cli.probe_text import end_progress, need_linux, progress_words, write_svg
from kbtool.cli.render import print_json, safe_line, styled
from kbtool.cli.stalls import MEANINGS, stall_lines
from kbtool.errors import ExitStatus
from kbtool.quantities import size
from kbtool.supervision.flame import Share, flame_svg, shares, text_tree, tree_of
from kbtool.supervision.sampling import Profile, sample_profile
from kbtool.supervision.standing import STATES, Picture, Standing, look_at_job

COMMAND_WIDTH = 100
SHOWN_SHARES = 8

HEADINGS = {"alive": "it moves; whether fast enough, `--for 30s` shows by where the time goes"}
"""Classes that mean something else for a job that is only looked at for a moment."""

_IN_TREE = re.compile(r"PID \d+ \([^)]*\)(?: waits for|:)")
"""Sentences about waits: the tree above has said them already, with more."""


def show_stacks(pid: int, seconds: float | None, *, svg: Path | None, as_json: bool) -> ExitStatus:
    """Look where a job stands, sample it for `seconds` where given, and print; NEGATIVE when no Python stack could be had."""
    need_linux()
    say = progress_words()
    try:
        picture = look_at_job(pid, progress=say)
        if say is not None and seconds is not None:
            say(f"sampling for {seconds:g} s")
        profile = sample_profile(pid, seconds) if seconds is not None else None
    finally:
        end_progress()
    if svg is not None and profile is not None and profile.stacks:
        write_svg(svg, flame_svg(tree_of(profile.stacks), f"PID {pid}, {profile.seconds:g} s"))
    if as_json:
        print_json({**picture.to_json(), "profile": _profile_json(profile)})
    else:
        _print(picture, profile)
    return ExitStatus.OK if picture.stall.groups or (profile and profile.stacks) else ExitStatus.NEGATIVE


def _print(picture: Picture, profile: Profile | None) -> None:
    for line in _tree(picture):
        print(line)
    print()
    print(styled(f"{picture.stall.kind.value}: {HEADINGS.get(picture.stall.kind.value) or MEANINGS[picture.stall.kind.value]}", "bold"))
    told = tuple(sentence for sentence in picture.stall.evidence if not _IN_TREE.match(sentence))
    for line in stall_lines(replace(picture.stall, evidence=told), None, stacks=True)[1:]:
        print(line)
    if profile is not None:
        _print_profile(profile)


def _tree(picture: Picture) -> Iterator[str]:
    """Every process below its parent: state, CPU, memory, and what it waits for."""
    depths = {picture.pid: 0}
    for one in picture.processes:
        depth = depths.setdefault(one.seen.pid, depths.get(one.seen.parent, 0) + 1)
        yield from _process(one, "  " * depth)


def _process(one: Standing, indent: str) -> Iterator[str]:
    seen = one.seen
    threads = f" · {seen.threads} threads" if seen.threads > 1 else ""
    state = STATES.get(seen.state, seen.state)
    yield f"{indent}{styled(f'PID {seen.pid}', 'bold')} {safe_line(one.command[:COMMAND_WIDTH])}"
    yield f"{indent}    {state} · CPU {one.cores:.2f} cores · {size(seen.rss)}{threads}"
    if one.wait.kind not in ("running", "stopped"):
        waits = "waits for " if one.wait.kind != "unknown" else "its wait is "
        yield f"{indent}    {waits}{safe_line(one.wait.words)}{safe_line(f'; {one.partner}' if one.partner else '')}"
    for words, count in one.others:
        yield styled(f"{indent}    {count} other thread{'s' if count > 1 else ''}: {safe_line(words)}", "dim")


def _print_profile(profile: Profile) -> None:
    print()
    if not profile.stacks:
        print(safe_line(profile.note))
        return
    mains = [stack for stack in profile.stacks if stack.main] or list(profile.stacks)
    print(styled(f"share of time over {profile.seconds:g} s, main threads", "bold"))
    for line in text_tree(tree_of(mains, threads=False)):
        print(safe_line(line))
    print(styled("most time in", "bold"))
    for share in [one for one in shares(mains) if one.own > 0][:SHOWN_SHARES]:
        print(f"  {share.own:>4.0%}  {safe_line(str(share.frame))}")


def _profile_json(profile: Profile | None) -> dict[str, Any] | None:
    if profile is None:
        return None
    mains = [stack for stack in profile.stacks if stack.main]
    return {
        "seconds": profile.seconds,
        "note": profile.note,
        "looks": sum(stack.count for stack in profile.stacks),
        "frames": [_share_json(one) for one in shares(mains)],
        "stacks": [
            {"pid": stack.pid, "thread": stack.thread, "count": stack.count, "frames": [str(frame) for frame in stack.frames]} for stack in profile.stacks
        ],
    }


def _share_json(one: Share) -> dict[str, Any]:
    return {"function": one.frame.function, "file": one.frame.file, "line": one.frame.line, "total": round(one.total, 4), "own": round(one.own, 4)}
