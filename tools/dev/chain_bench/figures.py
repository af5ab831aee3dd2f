"""Figures of loads: percentiles, medians over rounds, slopes."""
import statistics


def percentile(values, share):
    """The value below which `share` of `values` lie, one that was measured; None of none."""
    if not values:
        return None
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1) + 0.5)]


def median(values):
    """Of those that are there; None of none."""
    present = [value for value in values if value is not None]
    return statistics.median(present) if present else None


def slope(points):
    """Least squares through (x, y): the growth of y for each x."""
    if len(points) < 2:
        return None
    mean_x = statistics.fmean(x for x, _ in points)
    mean_y = statistics.fmean(y for _, y in points)
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    if spread == 0:
        return None
    return sum((x - mean_x) * (y - mean_y) for x, y in points) / spread


def ratio(first, second):
    return first / second if first is not None and second else None


def digits(value):
    """As many digits as say something."""
    size = abs(value)
    if size >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 10 else f"{value:.2f}" if size >= 0.1 else f"{value:.3f}"


def spread(values, unit=""):
    """`12.3 ms (11.9 to 13.0)`: the median over rounds, and the range where there are several."""
    present = [value for value in values if value is not None]
    if not present:
        return "–"
    text = digits(statistics.median(present)) + (f" {unit}" if unit else "")
    if len(present) > 1:
        text += f" ({digits(min(present))} to {digits(max(present))})"
    return text


def verdict(met, goal):
    if met is None:
        return goal
    return f"{goal}: " + ("reached" if met else "**missed**")


# ---- What a client saw of one request (a row that zh_chain_load printed) ----

def whole(rows):
    return [row for row in rows if row["end"] == "whole"]


def totals(rows):
    """Milliseconds from when each was due to its end; of those that were answered to the end."""
    return [(row["ended"] - row["due"]) * 1e3 for row in whole(rows)]


def firsts(rows):
    """Milliseconds to the first text of those that had any."""
    return [(row["text_times"][0] - row["due"]) * 1e3 for row in rows if row["text_times"]]


def with_failures(rows, longest_ms):
    """As totals(), but one that was not answered counts as the longest: who drops requests is not
    quick."""
    return [(row["ended"] - row["due"]) * 1e3 if row["end"] == "whole" else longest_ms
            for row in rows]


def failures(rows):
    return len(rows) - len(whole(rows))


def tokens(rows):
    return sum(row["output_tokens"] for row in rows)


def cached_share(rows):
    prompt = sum(row["prompt_tokens"] for row in rows)
    return sum(row["cached_tokens"] for row in rows) / prompt if prompt else None


def longest_gap(rows, begin, end):
    """Milliseconds: the longest silence of any stream that touches the time between."""
    gaps = [after - before for row in rows
            for before, after in zip(row["text_times"], row["text_times"][1:])
            if after > begin and before < end]
    return max(gaps) * 1e3 if gaps else None


def rate(rows, begin, end):
    """Pieces of text a second between two times."""
    count = sum(begin <= time < end for row in rows for time in row["text_times"])
    return count / (end - begin)
