"""Finishing or undoing what compaction was doing when the process ended.

`.cleaned` files were still being written: they go. `.swap` files are complete and stand for the
segments whose offsets they cover: those go, and the swap files take their names. `.deleted` files
were on their way out.
"""

from __future__ import annotations

from penstock.storage import names
from penstock.storage.batch_walk import walk_batches
from penstock.storage.disk import Disk
from penstock.storage.trash import remove_file


def finish_swaps(disk: Disk, directory: str) -> set[tuple[int, str]]:
    """Tidy the directory of a log; (base offset, kind) of the files that stay."""
    found: dict[str, set[tuple[int, str]]] = {}
    for name in list(disk.listdir(directory)):
        parsed = names.parse_segment_name(name)
        if parsed is None:
            if name.endswith(names.DELETED):
                remove_file(disk, f"{directory}/{name}")
            continue
        base, kind, suffix = parsed
        if suffix == names.DELETED or kind == names.DELETED:
            remove_file(disk, f"{directory}/{name}")
        else:
            found.setdefault(suffix, set()).add((base, kind))
    files = found.get("", set())
    cleaned, swaps = found.get(names.CLEANED, set()), found.get(names.SWAP, set())
    _drop_unfinished(disk, directory, cleaned, swaps)
    if swaps:
        files = _complete(disk, directory, files, swaps)
    return files


def _drop_unfinished(
    disk: Disk, directory: str, cleaned: set[tuple[int, str]], swaps: set[tuple[int, str]]
) -> None:
    """Swap files behind the first cleaned one belong to a split that was not finished either."""
    first = min((base for base, _ in cleaned), default=None)
    # Before the cleaned ones: without those, what is left would pass for a complete swap.
    for base, kind in [swap for swap in swaps if first is not None and swap[0] >= first]:
        remove_file(disk, names.segment_path(directory, base, kind, names.SWAP))
        swaps.discard((base, kind))
    for base, kind in cleaned:
        remove_file(disk, names.segment_path(directory, base, kind, names.CLEANED))


def _complete(
    disk: Disk, directory: str, files: set[tuple[int, str]], swaps: set[tuple[int, str]]
) -> set[tuple[int, str]]:
    logs = [base for base, kind in swaps if kind == names.LOG]
    if logs:
        first = min(logs)
        end = max(_end_offset(disk, directory, base) for base in logs)
        for base, kind in [file for file in files if first <= file[0] < end]:
            if kind != names.SNAPSHOT or base != first:
                remove_file(disk, names.segment_path(directory, base, kind))
                files.discard((base, kind))
    # The batches first: while they wait, whatever stands under a final name counts as old.
    for base, kind in sorted(swaps, key=lambda swap: (swap[1] != names.LOG, swap)):
        path = names.segment_path(directory, base, kind)
        disk.rename(path + names.SWAP, path)
        files.add((base, kind))
    disk.fsync_dir(directory)
    return files


def _end_offset(disk: Disk, directory: str, base: int) -> int:
    path = names.segment_path(directory, base, names.LOG, names.SWAP)
    end = base
    fd = disk.open(path, 0, 0o644)
    try:
        for _, header in walk_batches(disk, fd, 0, disk.stat(path).st_size):
            end = header.next_offset
    finally:
        disk.close(fd)
    return end
