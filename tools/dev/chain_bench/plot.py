"""Charts as SVG, small and by hand."""
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 760, 380
LEFT, RIGHT, TOP, BOTTOM = 80, 560, 44, 320
COLOURS = {"zerohop": "#d62728", "litellm": "#1f77b4", "portkey": "#2ca02c",
           "llama-server": "#7f7f7f"}
OTHER = "#9467bd"


@dataclass
class Line:
    key: str
    label: str
    points: list               # (x, middle, lowest, highest)
    dashes: str = ""


@dataclass
class Chart:
    title: str
    x: str
    y: str
    lines: list = field(default_factory=list)


def nice_step(span):
    """A step of 1, 2 or 5 times a power of ten that divides `span` into four to ten."""
    step = 10.0 ** -6
    while True:
        for factor in (1, 2, 5):
            if span / (step * factor) <= 8:
                return step * factor
        step *= 10


def label(value):
    return f"{value:g}"


def svg(chart):
    """The text of the picture; both axes are linear and begin at 0."""
    points = [point for line in chart.lines for point in line.points]
    most_x = max(point[0] for point in points) * 1.05
    most_y = max(point[3] for point in points) * 1.05 or 1

    def at_x(value):
        return LEFT + (RIGHT - LEFT) * value / most_x

    def at_y(value):
        return BOTTOM - (BOTTOM - TOP) * value / most_y

    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
             'font-family="sans-serif" font-size="12">',
             f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
             text((LEFT + RIGHT) / 2, 18, chart.title, "middle", size=14),
             text((LEFT + RIGHT) / 2, HEIGHT - 20, chart.x, "middle"),
             text(LEFT, TOP - 10, chart.y, "middle")]
    parts += axis(most_y, lambda value: [
        f'<line x1="{LEFT}" y1="{at_y(value):.1f}" x2="{RIGHT}" y2="{at_y(value):.1f}" '
        'stroke="#ddd"/>', text(LEFT - 6, at_y(value) + 4, label(value), "end")])
    parts += axis(most_x, lambda value: [text(at_x(value), BOTTOM + 18, label(value), "middle")])
    for place, line in enumerate(chart.lines):
        parts += drawn(line, at_x, at_y, TOP + 18 * place)
    return "\n".join([*parts, "</svg>"]) + "\n"


def axis(most, mark):
    step = nice_step(most)
    parts = []
    for number in range(int(most / step) + 1):
        parts += mark(number * step)
    return parts


def drawn(line, at_x, at_y, legend_y):
    colour = COLOURS.get(line.key, OTHER)
    dashes = f' stroke-dasharray="{line.dashes}"' if line.dashes else ""
    path = " ".join(f"{at_x(x):.1f},{at_y(middle):.1f}" for x, middle, _, _ in line.points)
    parts = [f'<polyline fill="none" stroke-width="2" stroke="{colour}"{dashes} points="{path}"/>']
    for x, middle, low, high in line.points:
        parts.append(f'<line x1="{at_x(x):.1f}" y1="{at_y(low):.1f}" x2="{at_x(x):.1f}" '
                     f'y2="{at_y(high):.1f}" stroke="{colour}" stroke-opacity="0.5"/>')
        parts.append(f'<circle cx="{at_x(x):.1f}" cy="{at_y(middle):.1f}" r="3" fill="{colour}"/>')
    parts.append(f'<line x1="{RIGHT + 14}" y1="{legend_y}" x2="{RIGHT + 38}" y2="{legend_y}" '
                 f'stroke-width="2" stroke="{colour}"{dashes}/>')
    parts.append(text(RIGHT + 44, legend_y + 4, line.label, "start"))
    return parts


def text(x, y, words, anchor, size=12):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}">'
            f"{escape(words)}</text>")
