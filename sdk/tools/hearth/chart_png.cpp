// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Draws charts as PNG.  Lines are antialiased by distance: a pixel's coverage is the distance of
// its centre to the edge of the line, which is accurate for lines of one or two pixels.

#include "chart_png.hpp"

#include <fmt/format.h>
#include <pictures/font.hpp>
#include <pictures/png.hpp>

#define STB_TRUETYPE_IMPLEMENTATION
#define STBTT_STATIC
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <stb_truetype.h>
#pragma GCC diagnostic pop

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

namespace hearth::tool {
namespace {

constexpr uint32_t kPaper = 0x14171c, kPanel = 0x1b1f26, kGrid = 0x2e343d, kBar = 0x2f9e6f,
                   kInk = 0xeceff2, kDim = 0x9aa3ad, kMark = 0x6f7a86;
constexpr double kBodyPixels = 15, kTitlePixels = 22;
constexpr double kMargin = 24, kHeader = 76, kLeft = 62, kRight = 14, kTop = 34, kBottom = 30;

struct Pixel {
    double x, y;
};

/// A font face; does not copy the font file's bytes.
class Face {
  public:
    static Result<Face> open(std::span<const unsigned char> file) {
        Face face;
        if (file.empty() || stbtt_InitFont(&face.info_, file.data(), 0) == 0)
            return unsupported("this build has no fonts (Debian: fonts-dejavu-core), so no PNG");
        return face;
    }

    /// Calls `pixel(x, y, coverage)` for each pixel of the text, whose baseline begins at `at`;
    /// returns its width.
    template <class Pixels>
    double draw(std::string_view text, Pixel at, double height, const Pixels& pixel) const {
        const float scale = stbtt_ScaleForMappingEmToPixels(&info_, static_cast<float>(height));
        double x = at.x;
        std::vector<unsigned char> coverage;
        for (size_t i = 0; i < text.size();) {
            const int glyph = stbtt_FindGlyphIndex(&info_, next_character(text, i));
            int advance = 0, bearing = 0, x0 = 0, y0 = 0, x1 = 0, y1 = 0;
            stbtt_GetGlyphHMetrics(&info_, glyph, &advance, &bearing);
            const double left = std::floor(x);
            const auto shift = static_cast<float>(x - left);
            stbtt_GetGlyphBitmapBoxSubpixel(&info_, glyph, scale, scale, shift, 0, &x0, &y0, &x1,
                                            &y1);
            const int width = x1 - x0, rows = y1 - y0;
            if (width > 0 && rows > 0) {
                coverage.assign(static_cast<size_t>(width) * static_cast<size_t>(rows), 0);
                stbtt_MakeGlyphBitmapSubpixel(&info_, coverage.data(), width, rows, width, scale,
                                              scale, shift, 0, glyph);
                for (int row = 0; row < rows; ++row)
                    for (int column = 0; column < width; ++column)
                        pixel(static_cast<int>(left) + x0 + column,
                              static_cast<int>(at.y) + y0 + row,
                              coverage[static_cast<size_t>(row * width + column)] / 255.0);
            }
            x += static_cast<double>(scale) * advance;
        }
        return x - at.x;
    }
    double width(std::string_view text, double height) const {
        return draw(text, {0, 0}, height, [](int, int, double) {});
    }

  private:
    /// Decodes valid UTF-8, which JSON strings are; other bytes become replacement characters.
    static int next_character(std::string_view text, size_t& i) {
        const auto byte = [&](size_t at) { return static_cast<unsigned char>(text[at]); };
        const unsigned first = byte(i);
        const size_t size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
        if ((first >= 0x80 && first < 0xc0) || i + size > text.size()) return ++i, 0xfffd;
        unsigned code = size == 1 ? first : first & (0xffu >> (size + 1));
        for (size_t k = 1; k < size; ++k) code = code << 6 | (byte(i + k) & 0x3fu);
        i += size;
        return static_cast<int>(code);
    }

    stbtt_fontinfo info_{};
};

class Picture {
  public:
    Picture(size_t width, size_t height, const Face& regular, const Face& bold)
        : width_(width),
          height_(height),
          rgba_(4 * width * height),
          regular_(regular),
          bold_(bold) {
        fill({0, 0}, {static_cast<double>(width), static_cast<double>(height)}, kPaper);
    }

    void fill(Pixel from, Pixel to, uint32_t color) {
        for (int y = static_cast<int>(from.y); y < static_cast<int>(to.y); ++y)
            for (int x = static_cast<int>(from.x); x < static_cast<int>(to.x); ++x)
                blend(x, y, color, 1);
    }

    enum class Align { kBegin, kMiddle, kEnd };
    void text(std::string_view words, Pixel baseline, uint32_t color, Align align = Align::kBegin,
              double height = kBodyPixels, bool is_bold = false) {
        const Face& face = is_bold ? bold_ : regular_;
        if (align != Align::kBegin)
            baseline.x -= face.width(words, height) * (align == Align::kEnd ? 1.0 : 0.5);
        face.draw(words, baseline, height,
                  [&](int x, int y, double coverage) { blend(x, y, color, coverage); });
    }
    /// The longest prefix of a text that fits the width.
    std::string fitting(std::string words, double width) const {
        while (!words.empty() && regular_.width(words, kBodyPixels) > width) {
            while (words.size() > 1 && (static_cast<unsigned char>(words.back()) & 0xc0) == 0x80)
                words.pop_back();
            words.pop_back();
        }
        return words;
    }

    /// Blends the whole polyline once, so that joints are not darker than the rest.
    void polyline(const std::vector<Pixel>& points, uint32_t color, double line_width) {
        if (points.empty()) return;
        std::vector<double> coverage(width_ * height_);
        int top = static_cast<int>(height_), bottom = 0;
        for (size_t i = 0; i < points.size(); ++i) {
            const Pixel a = points[i], b = points[std::min(i + 1, points.size() - 1)];
            const double reach = 0.5 * line_width + 1;
            const int y0 = row(std::min(a.y, b.y) - reach), y1 = row(std::max(a.y, b.y) + reach);
            const int x0 = column(std::min(a.x, b.x) - reach),
                      x1 = column(std::max(a.x, b.x) + reach);
            top = std::min(top, y0);
            bottom = std::max(bottom, y1);
            for (int y = y0; y < y1; ++y)
                for (int x = x0; x < x1; ++x) {
                    const double inside =
                        0.5 + 0.5 * line_width - distance({x + 0.5, y + 0.5}, a, b);
                    double& c = coverage[index(x, y)];
                    c = std::max(c, std::clamp(inside, 0.0, 1.0));
                }
        }
        for (int y = top; y < bottom; ++y)
            for (int x = 0; x < static_cast<int>(width_); ++x)
                if (coverage[index(x, y)] > 0) blend(x, y, color, coverage[index(x, y)]);
    }

    Result<std::vector<std::byte>> png() const {
        return pictures::encode_png(static_cast<uint32_t>(width_), static_cast<uint32_t>(height_),
                                    rgba_, false);
    }

  private:
    int row(double y) const {
        return static_cast<int>(std::clamp(y, 0.0, static_cast<double>(height_)));
    }
    int column(double x) const {
        return static_cast<int>(std::clamp(x, 0.0, static_cast<double>(width_)));
    }
    size_t index(int x, int y) const {
        return static_cast<size_t>(y) * width_ + static_cast<size_t>(x);
    }
    static double distance(Pixel p, Pixel a, Pixel b) {
        const double dx = b.x - a.x, dy = b.y - a.y, length = dx * dx + dy * dy;
        const double t =
            length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0;
        return std::hypot(p.x - a.x - t * dx, p.y - a.y - t * dy);
    }
    void blend(int x, int y, uint32_t color, double coverage) {
        if (x < 0 || y < 0 || x >= static_cast<int>(width_) || y >= static_cast<int>(height_))
            return;
        uint8_t* const to = &rgba_[4 * index(x, y)];
        for (int channel = 0; channel < 3; ++channel) {
            const double from = to[channel];
            const double ink = (color >> (16 - 8 * channel)) & 0xffu;
            to[channel] = static_cast<uint8_t>(std::lround(from + coverage * (ink - from)));
        }
        to[3] = 255;
    }

    size_t width_, height_;
    std::vector<uint8_t> rgba_;
    const Face &regular_, &bold_;
};

void draw_chart(Picture& picture, const Chart& chart, Pixel at) {
    const Pixel end{at.x + kPngPanelWidth, at.y + kPngPanelHeight};
    picture.fill(at, end, kPanel);
    const Pixel low{at.x + kLeft, end.y - kBottom}, high{end.x - kRight, at.y + kTop};
    const auto x_of = [&](double value) {
        return low.x + chart.x.to_unit(value) * (high.x - low.x);
    };
    const auto y_of = [&](double value) {
        return low.y + chart.y.to_unit(value) * (high.y - low.y);
    };
    using Align = Picture::Align;
    for (const double tick : chart.y.ticks) {
        picture.polyline({{low.x, y_of(tick)}, {high.x, y_of(tick)}}, kGrid, 1);
        picture.text(number_text(tick), {low.x - 8, y_of(tick) + 5}, kDim, Align::kEnd);
    }
    if (chart.bar)
        picture.polyline({{low.x, y_of(*chart.bar)}, {high.x, y_of(*chart.bar)}}, kBar, 2);
    for (const double tick : chart.x.ticks)
        // The last one stays within the panel.
        picture.text(number_text(tick), {x_of(tick), low.y + 19}, kDim,
                     x_of(tick) > high.x - 24 ? Align::kEnd : Align::kMiddle);
    double free_from = low.x;
    for (const Event& event : chart.events) {
        const double x = x_of(event.at);
        picture.polyline({{x, low.y}, {x, high.y}}, kMark, 1);
        if (x < free_from) continue;  // its label would overlap the previous one
        const std::string words = picture.fitting(event.text, high.x - x - 4);
        picture.text(words, {x + 4, high.y + 12}, kMark);
        free_from = x + 8.0 * static_cast<double>(words.size());
    }
    for (const Curve& curve : chart.curves) {
        std::vector<Pixel> line;
        for (const Point& p : curve.points) line.push_back({x_of(p.at), y_of(p.value)});
        const double width = line.size() == 1 ? 5 : 2;  // a dot for a single point
        picture.polyline(line, kCurveColors[curve.color], width);
    }
    std::string last;
    if (!chart.is_empty()) {
        for (const Curve& curve : chart.curves)
            if (!curve.points.empty()) last = number_text(curve.points.back().value);
    }
    picture.text(last, {high.x, at.y + 22}, kInk, Align::kEnd, kBodyPixels, true);
    picture.text(
        picture.fitting(chart.title + (chart.y.is_log ? " (log)" : ""), high.x - at.x - 120),
        {at.x + 12, at.y + 22}, kInk, Align::kBegin, kBodyPixels, true);
    if (chart.is_empty())
        picture.text("no numbers", {0.5 * (low.x + high.x), 0.5 * (low.y + high.y)}, kDim,
                     Align::kMiddle);
}

}  // namespace

Result<std::vector<std::byte>> draw_png(const std::string& title, const std::string& subtitle,
                                        std::span<const Chart> charts) {
    HEARTH_ASSIGN(const Face regular, Face::open(pictures::regular_font()));
    HEARTH_ASSIGN(const Face bold, Face::open(pictures::bold_font()));
    const size_t count = std::max<size_t>(1, charts.size());
    const auto columns = static_cast<size_t>(
        std::ceil(std::sqrt(static_cast<double>(count * kPngPanelHeight) / kPngPanelWidth)));
    const size_t rows = (count + columns - 1) / columns;
    constexpr double kLine = 22;
    const double header = kHeader + kLine * static_cast<double>(std::ranges::count(subtitle, '\n'));
    constexpr double kGap = 14;
    const auto extent = [&](size_t n, size_t size) {
        return static_cast<double>(n * size) + kGap * static_cast<double>(n - 1) + 2 * kMargin;
    };
    Picture picture(static_cast<size_t>(extent(columns, kPngPanelWidth)),
                    static_cast<size_t>(extent(rows, kPngPanelHeight) + header), regular, bold);
    const double width = extent(columns, kPngPanelWidth) - 2 * kMargin;
    picture.text(picture.fitting(title, width * kBodyPixels / kTitlePixels), {kMargin, 44}, kInk,
                 Picture::Align::kBegin, kTitlePixels, true);
    double y = 68;
    for (size_t from = 0; from <= subtitle.size(); y += kLine) {
        const size_t to = std::min(subtitle.find('\n', from), subtitle.size());
        picture.text(picture.fitting(subtitle.substr(from, to - from), width), {kMargin, y}, kDim);
        from = to + 1;
    }
    // Legend, if there are several files.
    double x = kMargin;
    if (!charts.empty() && charts[0].curves.size() > 1)
        for (const Curve& curve : charts[0].curves) {
            picture.polyline({{x, header + 12}, {x + 22, header + 12}}, kCurveColors[curve.color],
                             3);
            picture.text(curve.label, {x + 28, header + 17}, kDim);
            x += 52 + regular.width(curve.label, kBodyPixels);
        }
    for (size_t i = 0; i < charts.size(); ++i)
        draw_chart(
            picture, charts[i],
            {kMargin + static_cast<double>(i % columns) * (kPngPanelWidth + kGap),
             kMargin + header + static_cast<double>(i / columns) * (kPngPanelHeight + kGap)});
    return picture.png();
}

}  // namespace hearth::tool
