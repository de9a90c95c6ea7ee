"""A picture of how disks fill, as SVG. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from penstock.cli.capacity.plan import FILL, DiskOutlook

_WIDTH, _HEIGHT, _MARGIN = 720, 360, 48
_DAYS: Final = (1, 2, 7, 14, 30, 90, 365)
_DAY_S: Final = 86_400.0
_COLOURS: Final = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")


def disks_picture(disks: Sequence[DiskOutlook]) -> str:
    """Each disk's share over time, up to the day when the first is full, at most a year."""
    full = [each.seconds_until(1.0) for each in disks]
    days_s = [each / _DAY_S for each in full if each is not None]
    days = next((each for each in _DAYS if days_s and each >= min(days_s)), _DAYS[-1])
    parts = [_frame(days)]
    for index, disk in enumerate(disks):
        end = min(1.0, disk.share + disk.growth_bytes_s * days * _DAY_S / disk.total_bytes)
        reached = disk.seconds_until(1.0)
        at = days if reached is None or reached > days * _DAY_S else reached / _DAY_S
        colour = _COLOURS[index % len(_COLOURS)]
        parts.append(
            f'<line x1="{_x(0, days)}" y1="{_y(disk.share)}" x2="{_x(at, days)}" y2="{_y(end)}" '
            f'stroke="{colour}" stroke-width="2"/>'
            f'<text x="{_x(0, days) + 6}" y="{_y(disk.share) - 6}" fill="{colour}">'
            f"broker {disk.broker}</text>"
        )
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'font-family="sans-serif" font-size="12">\n{body}\n</svg>\n'
    )


def _frame(days: int) -> str:
    lines = ['<rect width="100%" height="100%" fill="white"/>']
    for share, colour in ((0.0, "#999"), (FILL, "#e0a000"), (1.0, "#c00000")):
        lines.append(
            f'<line x1="{_MARGIN}" y1="{_y(share)}" x2="{_WIDTH - _MARGIN}" y2="{_y(share)}" '
            f'stroke="{colour}"/><text x="8" y="{_y(share) + 4}">{share:.0%}</text>'
        )
    for part in range(5):
        day = days * part / 4
        lines.append(
            f'<text x="{_x(day, days)}" y="{_HEIGHT - 16}" text-anchor="middle">{day:g} d</text>'
        )
    return "\n".join(lines)


def _x(day: float, days: int) -> float:
    return round(_MARGIN + day / days * (_WIDTH - 2 * _MARGIN), 1)


def _y(share: float) -> float:
    return round(_HEIGHT - _MARGIN - share * (_HEIGHT - 2 * _MARGIN), 1)
