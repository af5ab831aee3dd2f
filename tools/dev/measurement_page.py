"""Pages of docs/measurements whose sections come from several programs."""


def put_section(page, name, text):
    """Writes `text` as the section `name` of the page: in place of the old one, else at the end."""
    lines = page.read_text(encoding="utf-8").splitlines() if page.exists() else ["# Measurements"]
    title = "## " + name
    before, after = lines, []
    if title in lines:
        at = lines.index(title)
        ends = [i for i in range(at + 1, len(lines)) if lines[i].startswith("## ")]
        before, after = lines[:at], lines[ends[0]:] if ends else []
    parts = ["\n".join(before).rstrip(), f"{title}\n\n{text.strip()}", "\n".join(after).strip()]
    page.write_text("\n\n".join(part for part in parts if part) + "\n", encoding="utf-8")


def number(value):
    """Three digits that say something."""
    size = abs(value)
    return f"{value:.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"
