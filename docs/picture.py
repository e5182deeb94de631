"""Draw the picture of the page Why, from the exact law of a sampler: images/private-sample.svg."""

from pathlib import Path

import dproo

PATH = Path(__file__).parent / "images" / "private-sample.svg"
LETTERS = ["flu", "cold", "plague", "other"]
COUNTS = [14, 6, 0, 0]
EPSILON = "0.5"

_WIDTH, _HEIGHT, _LONGEST = 760, 250, 120
_TEXT, _TRUE, _DRAWN = "#222222", "#56B4E9", "#0072B2"


def svg() -> str:
    """Return the picture: what is in the data, what is drawn from, what is shown."""
    law = dproo.mechanism("ls-roo", epsilon=EPSILON, n=sum(COUNTS), k=len(COUNTS)).pmf(COUNTS)
    chances = [round(100 * float(share), 1) for share in law]
    lines = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" '
            f'font-family="sans-serif" font-size="15" fill="{_TEXT}" role="img">'
        ),
        "<title>Counts of letters, the law of a private sample, and one released letter</title>",
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="white"/>',
        *_bars(20, "Private: 20 records", _TRUE, [str(count) for count in COUNTS], COUNTS),
        *_bars(330, f"Drawn from, ε = {EPSILON}", _DRAWN, [f"{c} %" for c in chances], chances),
        (
            '<path d="M275 125h34m-9-7l9 7-9 7M610 125h34m-9-7l9 7-9 7" fill="none" '
            f'stroke="{_TEXT}" stroke-width="2"/>'
        ),
        '<text x="660" y="35" font-weight="bold">Released</text>',
        (
            '<rect x="660" y="105" width="80" height="40" rx="6" fill="none" '
            f'stroke="{_DRAWN}" stroke-width="2"/>'
        ),
        '<text x="700" y="130" text-anchor="middle">flu</text>',
        (
            '<text x="20" y="235" font-size="13">Had any one record been different, each '
            'probability would differ by a factor of at most e<tspan dy="-4" font-size="10">ε'
            '</tspan><tspan dy="4"> = 1.65.</tspan></text>'
        ),
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _bars(
    left: int, title: str, colour: str, labels: list[str], sizes: list[int] | list[float]
) -> list[str]:
    lines = [f'<text x="{left}" y="35" font-weight="bold">{title}</text>']
    for row, (letter, label, size) in enumerate(zip(LETTERS, labels, sizes, strict=True)):
        top = 60 + 36 * row
        length = round(_LONGEST * size / sum(sizes) / 0.7)
        lines += [
            f'<text x="{left + 55}" y="{top + 17}" text-anchor="end">{letter}</text>',
            (
                f'<rect x="{left + 65}" y="{top}" width="{max(length, 1)}" height="24" '
                f'fill="{colour}"/>'
            ),
            f'<text x="{left + 72 + length}" y="{top + 17}">{label}</text>',
        ]
    return lines


if __name__ == "__main__":
    PATH.write_text(svg(), encoding="utf-8")
