// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws charts as a self-contained HTML page with SVG curves.

#include "chart_html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>

namespace hearth::tool {
namespace {

constexpr double kWidth = 480, kHeight = 240, kLeft = 58, kRight = 12, kTop = 10, kBottom = 26;

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --paper: #fff; --ink: #1b1f26; --dim: #69727d; --grid: #e3e6ea; }
@media (prefers-color-scheme: dark) {
  :root { --paper: #14171c; --ink: #eceff2; --dim: #9aa3ad; --grid: #2e343d; } }
body { background: var(--paper); color: var(--ink); font: 14px/1.4 sans-serif; margin: 24px; }
h1 { font-size: 20px; margin: 0; }
p { color: var(--dim); margin: 2px 0 18px; white-space: pre-line; }
main { display: grid; grid-template-columns: repeat(auto-fill, minmax(420px, 1fr)); gap: 18px; }
figure { margin: 0; } figcaption { display: flex; justify-content: space-between; font-weight: 600; }
svg { width: 100%; height: auto; } text { fill: var(--dim); font-size: 11px; }
.grid { stroke: var(--grid); } .mark { stroke: var(--dim); stroke-dasharray: 3 3; }
.bar { stroke: #009e73; stroke-width: 1.5; }
polyline { fill: none; stroke-width: 1.6; stroke-linejoin: round; }
)";

// Shows the values of each curve's nearest point under the mouse; data attributes hold the axes.
constexpr std::string_view kScript = R"(
for (const svg of document.querySelectorAll('svg')) {
  const d = svg.dataset, number = (name) => Number(d[name]);
  const shown = svg.parentElement.querySelector('.value'), last = shown.textContent;
  const lines = [...svg.querySelectorAll('polyline')].map((line) =>
    line.getAttribute('points').trim().split(' ').map((p) => p.split(',').map(Number)));
  const value = (part, low, high, log) =>
    log ? low * Math.pow(high / low, part) : low + part * (high - low);
  svg.addEventListener('mousemove', (event) => {
    const box = svg.getBoundingClientRect();
    const x = (event.clientX - box.left) * number('width') / box.width;
    const texts = lines.filter((line) => line.length > 0).map((line) => {
      const p = line.reduce((a, b) => Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a);
      const at = value((p[0] - number('left')) / number('across'), number('x0'), number('x1'), false);
      const up = value((number('bottom') - p[1]) / number('up'), number('y0'), number('y1'), d.log === '1');
      return Number(up.toPrecision(4)) + ' at ' + Number(at.toPrecision(4));
    });
    shown.textContent = texts.join(', ');
  });
  svg.addEventListener('mouseleave', () => { shown.textContent = last; });
}
)";

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text) switch (c) {
            case '&':
                out += "&amp;";
                break;
            case '<':
                out += "&lt;";
                break;
            case '>':
                out += "&gt;";
                break;
            case '"':
                out += "&quot;";
                break;
            case '\'':
                out += "&#39;";
                break;
            default:
                out += c;
        }
    return out;
}

std::string color_of(const Curve& curve) {
    return fmt::format("#{:06x}", kCurveColors[curve.color]);
}

void append_chart(std::string& html, const Chart& chart) {
    const double right = kWidth - kRight, low = kHeight - kBottom;
    const auto x_of = [&](double v) { return kLeft + chart.x.to_unit(v) * (right - kLeft); };
    const auto y_of = [&](double v) { return low - chart.y.to_unit(v) * (low - kTop); };
    const auto add = [&]<class... Args>(fmt::format_string<Args...> pattern, Args&&... args) {
        fmt::format_to(std::back_inserter(html), pattern, std::forward<Args>(args)...);
    };
    std::string last;
    for (const Curve& curve : chart.curves)
        if (!curve.points.empty())
            last += (last.empty() ? "" : ", ") + number_text(curve.points.back().value);
    add("<figure><figcaption><span>{}{}</span><span class=\"value\">{}</span></figcaption>\n",
        escaped(chart.title), chart.y.is_log ? " (log)" : "", last.empty() ? "no numbers" : last);
    add("<svg viewBox=\"0 0 {} {}\" data-width=\"{}\" data-left=\"{}\" data-across=\"{}\" "
        "data-bottom=\"{}\" data-up=\"{}\" data-x0=\"{}\" data-x1=\"{}\" data-y0=\"{}\" "
        "data-y1=\"{}\" "
        "data-log=\"{}\">\n",
        kWidth, kHeight, kWidth, kLeft, right - kLeft, low, low - kTop, chart.x.range.low,
        chart.x.range.high, chart.y.range.low, chart.y.range.high, chart.y.is_log ? 1 : 0);
    for (const double tick : chart.y.ticks)
        add("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
            "<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
            kLeft, right, y_of(tick), y_of(tick), kLeft - 6, y_of(tick) + 4, number_text(tick));
    for (const double tick : chart.x.ticks)
        // The last one stays within the figure.
        add("<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"{}\">{}</text>\n", x_of(tick), low + 16,
            x_of(tick) > right - 16 ? "end" : "middle", number_text(tick));
    if (chart.bar)
        add("<g><title>to reach: {}</title><line class=\"bar\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" "
            "y2=\"{:.1f}\"/></g>\n",
            number_text(*chart.bar), kLeft, right, y_of(*chart.bar), y_of(*chart.bar));
    for (const Event& event : chart.events)
        add("<g><title>{}</title><line class=\"mark\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{}\" "
            "y2=\"{}\"/></g>\n",
            escaped(event.text), x_of(event.at), x_of(event.at), kTop, low);
    for (const Curve& curve : chart.curves) {
        add("<polyline stroke=\"{}\" points=\"", color_of(curve));
        for (const Point& p : curve.points) add("{:.2f},{:.2f} ", x_of(p.at), y_of(p.value));
        html += "\"/>\n";
        if (curve.points.size() == 1)
            add("<circle r=\"3\" fill=\"{}\" cx=\"{:.2f}\" cy=\"{:.2f}\"/>\n", color_of(curve),
                x_of(curve.points[0].at), y_of(curve.points[0].value));
    }
    html += "</svg></figure>\n";
}

}  // namespace

std::string draw_html(const std::string& title, const std::string& subtitle,
                      std::span<const Chart> charts) {
    std::string html = fmt::format(
        "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{}</title>\n"
        "<style>{}</style></head>\n<body><h1>{}</h1><p>{}</p>\n",
        escaped(title), kStyle, escaped(title), escaped(subtitle));
    if (!charts.empty() && charts[0].curves.size() > 1) {
        html += "<p>";
        for (const Curve& curve : charts[0].curves)
            html += fmt::format("<span style=\"color:{}\">&#9632;</span> {} &nbsp; ",
                                color_of(curve), escaped(curve.label));
        html += "</p>\n";
    }
    html += "<main>\n";
    for (const Chart& chart : charts) append_chart(html, chart);
    html += fmt::format("</main><script>{}</script></body></html>\n", kScript);
    return html;
}

}  // namespace hearth::tool
