"""Charts as SVG, so that the pages need nothing to draw them."""

import html
import math

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 34, 48
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#555555"]  # told apart by everybody (Okabe, Ito)


def ticks(low, high, count=6):
    """Round numbers between two ends."""
    step = 10 ** math.floor(math.log10((high - low) / count))
    for factor in (1, 2, 5, 10):
        if (high - low) / (step * factor) <= count:
            step *= factor
            break
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]


class Chart:
    """Series of points and lines over two axes that begin and end where the points do, or at zero."""

    def __init__(self, title, x_title, y_title, zero=(False, False), legend="right"):
        self.title, self.x_title, self.y_title, self.zero, self.legend = title, x_title, y_title, zero, legend
        self.series = []

    def add(self, name, points, line=True, dots=True, colour=None, radius=3.0, opacity=1.0):
        """Points are (x, y). Series without a name are not in the legend."""
        colour = colour or COLOURS[sum(1 for s in self.series if s["name"]) % len(COLOURS)]
        self.series.append({"name": name, "points": list(points), "line": line, "dots": dots, "colour": colour, "radius": radius,
                            "opacity": opacity})

    def range_of(self, axis):
        values = [point[axis] for series in self.series for point in series["points"]]
        low, high = min(values), max(values)
        if self.zero[axis]:
            low = min(low, 0)
        margin = 0.04 * ((high - low) or abs(high) or 1)
        return (low if self.zero[axis] and low == 0 else low - margin), high + margin

    def write(self, file):
        x_low, x_high = self.range_of(0)
        y_low, y_high = self.range_of(1)

        def x(value):
            return LEFT + (value - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)

        def y(value):
            return HEIGHT - BOTTOM - (value - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)

        def text(at_x, at_y, content, anchor="middle", extra=""):
            return f'<text x="{at_x:.1f}" y="{at_y:.1f}" text-anchor="{anchor}"{extra}>{html.escape(content)}</text>'

        out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12" fill="#222">',
               f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>', text(WIDTH / 2, 18, self.title, extra=' font-size="14"')]
        for value in ticks(x_low, x_high):
            out.append(f'<path d="M{x(value):.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#ddd"/>' + text(x(value), HEIGHT - BOTTOM + 16, f"{value:g}"))
        for value in ticks(y_low, y_high):
            out.append(f'<path d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>' + text(LEFT - 6, y(value) + 4, f"{value:g}", "end"))
        out.append(f'<path d="M{LEFT} {TOP}V{HEIGHT - BOTTOM}H{WIDTH - RIGHT}" fill="none" stroke="#222"/>')
        out.append(text((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 10, self.x_title))
        out.append(text(0, 0, self.y_title, extra=f' transform="translate(16 {(TOP + HEIGHT - BOTTOM) / 2:.0f}) rotate(-90)"'))
        for series in self.series:
            colour, opacity = series["colour"], series["opacity"]
            if series["line"]:
                path = "L".join(f"{x(px):.1f} {y(py):.1f}" for px, py in series["points"])
                out.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.5" opacity="{opacity}"/>')
            if series["dots"]:
                # One path of round dots: a tenth of the size of a circle each. What would hide another is left out.
                seen = dict.fromkeys(f"M{x(px):.0f} {y(py):.0f}h0" if opacity < 1 else f"M{x(px):.1f} {y(py):.1f}h0" for px, py in series["points"])
                out.append(f'<path d="{"".join(seen)}" stroke="{colour}" stroke-width="{2 * series["radius"]:g}" stroke-linecap="round" opacity="{opacity}"/>')
        named = [series for series in self.series if series["name"]]
        legend = LEFT + 10 if self.legend == "left" else WIDTH - RIGHT - 158
        for i, series in enumerate(named):
            at = TOP + 14 + 16 * i
            out.append(f'<rect x="{legend}" y="{at - 9}" width="10" height="10" fill="{series["colour"]}"/>' + text(legend + 15, at, series["name"], "start"))
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("\n".join([*out, "</svg>"]) + "\n")
