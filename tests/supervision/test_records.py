"""Kept runs: capped, readable by other commands, broken ones passed over."""

from __future__ import annotations

from pathlib import Path

from kbtool.supervision import endings, records, templates
from kbtool.supervision.gpu import GpuSample, parse_smi
from kbtool.supervision.output import GAP_MARK, HEAD_BYTES, PENDING_BYTES, TAIL_BYTES, Output
from kbtool.supervision.python_command import isolation_of, program_at
from kbtool.supervision.records import RunRecord


def kept(name: str, **more: object) -> RunRecord:
    """A run saved under `name`."""
    folder = records.runs_folder() / name
    folder.mkdir(parents=True)
    run = RunRecord(folder, ("python", "train.py"), Path("/job"), "2026-11-30 16:20:05Z", 7, **more)  # type: ignore[arg-type]
    records.save(run)
    return run


def test_a_run_is_read_as_it_was_saved() -> None:
    """A run is given back as it was saved, and a broken summary hides no other run."""
    run = kept(
        "20261130T162005-7", seconds=1.5, exit_code=1, interpreter="/usr/bin/python3", variables={"RANK": "0"}, matches=("disk-full",)
    )
    (records.runs_folder() / "20261130T170000-8").mkdir()
    (records.runs_folder() / "20261130T170000-8" / records.SUMMARY).write_text("{")
    assert records.all_runs() == [run]
    assert run.output_path.parent == run.folder


def test_old_runs_make_room() -> None:
    """The oldest runs go, by number and by size, and never one that still goes on."""
    import os

    for number in range(6):
        kept(f"2026113{number}T000000-{99_999_990 + number}", seconds=1.0)
    kept(f"20261129T000000-{os.getpid()}")
    records.make_room(records.runs_folder(), runs=4)
    names = sorted(path.name for path in records.runs_folder().iterdir())
    assert names[0] == f"20261129T000000-{os.getpid()}" and len(names) == 4
    records.make_room(records.runs_folder(), size=1)
    assert [path.name for path in records.runs_folder().iterdir()] == names[:1]


def test_output_keeps_beginning_and_end() -> None:
    """Of a huge output the first and the last part are kept, with the size of the gap between, in bounded memory."""
    output = Output()
    output.add(b"first\n")
    for _ in range(100):
        output.add(b"x" * 131_072)
    output.add(b"last\n")
    text = output.kept()
    assert text.startswith(b"first") and text.endswith(b"last\n")
    assert len(text) <= HEAD_BYTES + TAIL_BYTES + 131_072 + len(GAP_MARK) + 20
    assert b"were not kept]" in text and len(output.take_new()) <= PENDING_BYTES + 131_072


def test_templates_mask_numbers_and_spare_tracebacks() -> None:
    """Lines that differ in numbers are one template; the lines a traceback is made of have none."""
    assert templates.template_of("step 12 of 300 at 0x7f00") == templates.template_of("step 13 of 300 at 0x7fff")
    for line in ("Traceback (most recent call last):", '  File "x.py", line 3, in f', "ValueError: no such thing", "short"):
        assert templates.template_of(line) is None


def test_usual_lines_are_left_blank_in_place() -> None:
    """What a healthy run of the same command printed is blank afterwards, other lines keep their numbers, another command knows nothing of it."""
    command, place = ["python", "train.py", "--seed", "1"], Path("/job")
    templates.remember(command, place, "cache 12: OSError: [Errno 28] No space left\nepoch 1\n")
    crashed = "cache 97: OSError: [Errno 28] No space left\nRuntimeError: shapes differ"
    assert templates.without_usual(["python", "train.py", "--seed", "2"], place, crashed) == "\nRuntimeError: shapes differ"
    assert templates.without_usual(["python", "eval.py"], place, crashed) == crashed


def test_memory_kill_is_evidence(tmp_path: Path, monkeypatch) -> None:
    """A kernel counter that grew while the job ran is named as the cause of a SIGKILL."""
    monkeypatch.setattr(endings, "count_memory_kills", lambda: endings.Counters(group=3, machine=9))
    told = endings.describe(9, endings.Counters(group=2, machine=9), tmp_path)
    assert told[1] == "the kernel killed 1 process of this control group for want of memory while it ran"
    assert len(endings.describe(9, endings.Counters(group=3, machine=9), tmp_path)) == 1


def test_nvidia_smi_answer_is_read() -> None:
    """Devices with their utilization and memory; values that a device does not support count as zero."""
    assert parse_smi("0, 97, 1024, 81920\n1, [N/A], 10, 81920\nNo devices\n") == [
        GpuSample(0, 97.0, 1024.0, 81920.0),
        GpuSample(1, 0.0, 10.0, 81920.0),
    ]


def test_python_command_lines_are_taken_apart() -> None:
    """Where the program begins, and which option keeps the startup record out."""
    assert program_at(["python3", "-u", "-X", "dev", "train.py", "-I"]) == 4
    assert isolation_of(["python3.11", "-sE", "train.py"]) == "-sE"
    assert isolation_of(["python", "train.py", "-I"]) is None and isolation_of(["bash", "-E"]) is None
