// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Live curves on a terminal, with ncurses.  On UTF-8 terminals a character cell is 2 x 4 dots
// (Unicode braille patterns, from U+2800), on others one dot.

#include "terminal.hpp"

#include "chart.hpp"

#include <hearth/agents/plain_words.hpp>
#include <hearth/run_log.hpp>

#include <fmt/format.h>
#include <langinfo.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <string_view>

// Included last: it defines macros with common names.
#define NCURSES_NOMACROS 1
#define NCURSES_WIDECHAR 1
#include <ncurses.h>

namespace hearth::tool {
namespace {

constexpr int kPollMilliseconds = 200, kListWidth = 36, kLeastRows = 8, kLeastColumns = 40;
constexpr int kLeastChart = 12;  // rows that a summary leaves to the rest
constexpr int kLabelWidth = 9;   // of axis labels next to the curves
constexpr size_t kMaxZoom = 20;
constexpr double kSmoothing = 0.9;

volatile std::sig_atomic_t g_signal = 0;

extern "C" void take_signal(int signal) {
    g_signal = signal;
}

/// Initializes ncurses, and restores the terminal afterwards.
class Screen {
  public:
    static Result<Screen> open() {
        std::setlocale(LC_ALL, "");
        SCREEN* const screen = newterm(nullptr, stdout, stdin);
        if (screen == nullptr) {
            const char* const name = std::getenv("TERM");
            return unsupported(fmt::format("cannot draw on a terminal of type '{}' (variable TERM)",
                                           name == nullptr ? "" : name));
        }
        // Replaces ncurses' signal handlers, which would exit without the signal's exit code.
        struct sigaction action {};
        action.sa_handler = take_signal;
        for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
        set_term(screen);
        cbreak();
        noecho();
        keypad(stdscr, true);
        set_escdelay(25);
        curs_set(0);
        timeout(kPollMilliseconds);
        if (has_colors()) {
            start_color();
            use_default_colors();
            constexpr std::array<short, kCurveColors.size()> kNear = {
                COLOR_YELLOW, COLOR_CYAN, COLOR_GREEN, COLOR_MAGENTA, COLOR_RED, COLOR_WHITE};
            for (size_t i = 0; i < kNear.size(); ++i)
                init_pair(static_cast<short>(i + 1), kNear[i], -1);
        }
        return Screen(screen);
    }
    Screen(Screen&& other) noexcept : screen_(std::exchange(other.screen_, nullptr)) {}
    Screen& operator=(Screen&&) = delete;
    ~Screen() {
        if (screen_ == nullptr) return;
        endwin();
        delscreen(screen_);
    }

    static bool has_utf8() { return std::string_view(nl_langinfo(CODESET)) == "UTF-8"; }

  private:
    explicit Screen(SCREEN* screen) : screen_(screen) {}
    SCREEN* screen_;
};

/// Cuts a text to `width` characters, without control characters; UTF-8 continuation bytes take no
/// width.
std::string cut(std::string text, int width) {
    replace_control_characters(text.data(), text.size());
    std::string kept;
    int columns = 0;
    for (const char c : text) {
        const bool goes_on = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
        if (!goes_on && ++columns > width) break;
        // Without UTF-8, non-ASCII characters become '?'.
        if (Screen::has_utf8() || static_cast<unsigned char>(c) < 0x80)
            kept += c;
        else if (!goes_on)
            kept += '?';
    }
    return kept;
}

void put(int row, int column, int width, std::string_view text, attr_t attributes = A_NORMAL) {
    if (width <= 0 || row < 0 || row >= LINES) return;
    attrset(static_cast<int>(attributes));
    mvaddstr(row, column, cut(std::string(text), width).c_str());
    attrset(A_NORMAL);
}

/// A canvas of dots that is drawn as characters.
class Dots {
  public:
    Dots(int rows, int columns)
        : is_fine_(Screen::has_utf8()),
          rows_(rows),
          columns_(columns),
          cells_(static_cast<size_t>(rows) * static_cast<size_t>(columns)) {}

    int width() const { return columns_ * (is_fine_ ? 2 : 1); }
    int height() const { return rows_ * (is_fine_ ? 4 : 1); }

    /// Coordinates from the lower left; both ends inclusive.
    void line(int x0, int y0, int x1, int y1, size_t color) {
        const int steps = std::max({std::abs(x1 - x0), std::abs(y1 - y0), 1});
        for (int i = 0; i <= steps; ++i)
            dot(x0 + static_cast<int>(std::lround(static_cast<double>(x1 - x0) * i / steps)),
                y0 + static_cast<int>(std::lround(static_cast<double>(y1 - y0) * i / steps)),
                color);
    }

    void show(int top, int left) const {
        for (int row = 0; row < rows_; ++row)
            for (int column = 0; column < columns_; ++column) {
                const Cell& cell = cells_[static_cast<size_t>(row * columns_ + column)];
                if (cell.bits == 0) continue;
                std::string text = "*";
                if (is_fine_) {
                    const unsigned code = 0x2800u + cell.bits;
                    text = {static_cast<char>(0xe0 | code >> 12),
                            static_cast<char>(0x80 | (code >> 6 & 0x3f)),
                            static_cast<char>(0x80 | (code & 0x3f))};
                }
                attrset(COLOR_PAIR(static_cast<int>(cell.color) + 1));
                mvaddstr(top + row, left + column, text.c_str());
            }
        attrset(A_NORMAL);
    }

  private:
    struct Cell {
        unsigned bits = 0;
        size_t color = 0;
    };
    void dot(int x, int y, size_t color) {
        const int down = height() - 1 - y;
        if (x < 0 || down < 0 || x >= width() || down >= height()) return;
        const int cell_width = is_fine_ ? 2 : 1, cell_height = is_fine_ ? 4 : 1;
        Cell& cell = cells_[static_cast<size_t>(down / cell_height * columns_ + x / cell_width)];
        constexpr unsigned kBits[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
        cell.bits |= is_fine_ ? kBits[down % 4][x % 2] : 1u;
        cell.color = color;
    }

    bool is_fine_;
    int rows_, columns_;
    std::vector<Cell> cells_;
};

class Watch {
  public:
    Watch(std::span<RunLogFile> files, const WatchOptions& options)
        : files_(files),
          wanted_(options.metrics),
          bar_(options.bar),
          has_details_(options.has_details) {}

    Result<int> run() {
        HEARTH_ASSIGN(const Screen screen, Screen::open());
        bool is_stale = true;
        while (g_signal == 0) {
            HEARTH_ASSIGN(const bool has_changed, poll());
            if (has_changed || is_stale) draw();
            const int key = getch();
            if (key == 'q') return 0;
            is_stale = key != ERR && take_key(key);
        }
        return 128 + static_cast<int>(g_signal);
    }

  private:
    Result<bool> poll() {
        bool has_changed = false;
        waits_for_.clear();
        for (RunLogFile& file : files_) {
            auto changed = file.poll();
            if (!changed.ok() && changed.status().code() != StatusCode::kNotFound)
                return changed.status();
            // The log of an application that is still starting does not exist yet.
            if (!changed.ok()) waits_for_ = file.path();
            has_changed = has_changed || (changed.ok() && *changed);
        }
        names_ = !wanted_.empty() ? wanted_
                 : has_details_   ? metric_names(files_)
                                  : plain_metric_names(files_);
        // Metrics may appear later; the selected one stays selected.
        const auto at = std::ranges::find(names_, chosen_);
        if (at == names_.end()) chosen_ = names_.empty() ? std::string() : names_.front();
        return has_changed;
    }

    size_t chosen_index() const {
        return static_cast<size_t>(std::ranges::find(names_, chosen_) - names_.begin());
    }
    void choose(std::ptrdiff_t index) {
        if (names_.empty()) return;
        chosen_ = names_[static_cast<size_t>(
            std::clamp<std::ptrdiff_t>(index, 0, static_cast<std::ptrdiff_t>(names_.size()) - 1))];
    }

    /// The visible range of the horizontal axis.
    Range window() const {
        const Range all = whole_range(files_);
        const double span = (all.high - all.low) / std::pow(2.0, static_cast<double>(zoom_));
        const double latest = all.high - static_cast<double>(back_) * span / 4;
        const double high = std::max(latest, all.low + span);
        return {high - span, high};
    }

    bool take_key(int key) {
        const auto index = static_cast<std::ptrdiff_t>(chosen_index());
        switch (key) {
            case KEY_UP:
            case 'k':
                choose(index - 1);
                break;
            case KEY_DOWN:
            case 'j':
            case '\t':
                choose(index + 1);
                break;
            case KEY_PPAGE:
                choose(index - 10);
                break;
            case KEY_NPAGE:
                choose(index + 10);
                break;
            case KEY_HOME:
                choose(0);
                break;
            case KEY_END:
                choose(static_cast<std::ptrdiff_t>(names_.size()) - 1);
                break;
            case '+':
            case '=':
                zoom_ = std::min(zoom_ + 1, kMaxZoom);
                back_ *= 2;
                break;
            case '-':
                zoom_ -= zoom_ > 0;
                back_ /= 2;
                break;
            case KEY_LEFT:
            case 'h':
                back_ = std::min(back_ + 1, (size_t{4} << zoom_) - 4);
                break;
            case KEY_RIGHT:
                back_ -= back_ > 0;
                break;
            case 'a':
                zoom_ = back_ = 0;
                break;
            case 'l':
                is_log_ = !is_log_;
                break;
            case 'X':
                request(RunRequest::kStop, "asked to stop", "");
                break;
            case 'P':
                request(RunRequest::kPause, "asked to pause", "asked to go on");
                break;
            case 'F':
                request(RunRequest::kFreeze, "asked to stop learning", "asked to learn again");
                break;
            case 'd':
                has_details_ = !has_details_;
                (void)poll();
                break;
            case 's':
                is_smooth_ = !is_smooth_;
                break;
            case KEY_RESIZE:
                break;
            default:
                return false;
        }
        return true;
    }

    /// Makes a request to the programs of all files, or withdraws it if the first one has it.
    void request(RunRequest request, const char* asked, const char* withdrawn) {
        const bool is_wanted =
            request == RunRequest::kStop || !has_run_request(files_[0].path(), request);
        notice_ = is_wanted ? asked : withdrawn;
        for (const RunLogFile& file : files_)
            if (const Status status = request_run(file, request, is_wanted); !status.ok())
                notice_ = status.message();
    }

    void draw() {
        erase();
        if (LINES < kLeastRows || COLS < kLeastColumns) {
            put(0, 0, COLS, fmt::format("too small: {} x {} wanted", kLeastColumns, kLeastRows));
            refresh();
            return;
        }
        draw_head();
        const int list_width = COLS >= 2 * kListWidth ? kListWidth : 0;
        if (list_width > 0) draw_list(list_width);
        draw_chart(list_width);
        put(LINES - 1, 0, COLS - 1,
            "arrows  +- zoom  a all  l log  s smooth  d more  P pause  F freeze  X stop  q quit",
            A_DIM);
        refresh();
    }

    void draw_head() {
        std::string title, counts, observations;
        for (const RunLogFile& file : files_) {
            const RunLog& log = file.log();
            title += (title.empty() ? "" : "  ") + file.path();
            if (!log.program().empty()) title += " (" + log.program() + ")";
            if (log.has_ended()) title += " ended";
            if (!notice_.empty()) title += ": " + notice_;
            counts += (counts.empty() ? "" : " | ") + counts_text(file);
            if (!log.observations().empty()) observations += observations_text(log) + " | ";
        }
        put(0, 0, COLS, title, A_BOLD);
        std::vector<std::string> summary;
        if (files_.size() == 1) summary = summary_lines(files_[0].log(), bar_);
        summary.resize(
            std::min(summary.size(), static_cast<size_t>(std::max(0, LINES - kLeastChart))));
        int row = 1;
        for (const std::string& line : summary) put(row++, 0, COLS, line);
        put(row, 0, COLS, observations, A_BOLD);
        const int left = std::min(static_cast<int>(observations.size()), COLS);
        put(row, left, COLS - left, waits_for_.empty() ? counts : "waiting for " + waits_for_,
            A_DIM);
        top_ = row + 2;
    }

    void draw_list(int width) {
        const int rows = LINES - top_ - 1, index = static_cast<int>(chosen_index());
        const int first =
            std::clamp(index - rows / 2, 0, std::max(0, static_cast<int>(names_.size()) - rows));
        for (int row = 0; row < rows && first + row < static_cast<int>(names_.size()); ++row) {
            const std::string& name = names_[static_cast<size_t>(first + row)];
            std::string last;
            for (const RunLogFile& file : files_)
                if (const Metric* m = file.log().find(name))
                    last = number_text(m->points.back().value);
            const attr_t look = first + row == index ? A_REVERSE : A_NORMAL;
            const agents::PlainMetric* const plain = agents::find_plain_metric(name);
            put(top_ + row, 0, width - 2, fmt::format("{:<{}}", " ", width - 2), look);
            put(top_ + row, 1, width - 13, plain == nullptr ? name : std::string(plain->words),
                look);
            put(top_ + row, width - 11, 9, fmt::format("{:>9}", last), look);
        }
    }

    void draw_chart(int left) {
        const int top = top_, rows = LINES - top - 3, columns = COLS - left - kLabelWidth - 1;
        Dots dots(rows, columns);
        const Chart chart = make_chart(files_, chosen_,
                                       {.window = window(),
                                        .is_log = is_log_,
                                        .smoothing = is_smooth_ ? kSmoothing : 0,
                                        .width = static_cast<size_t>(dots.width()),
                                        .x_ticks = static_cast<size_t>(std::max(1, columns / 16)),
                                        .y_ticks = static_cast<size_t>(std::max(1, rows / 4)),
                                        .bar = bar_});
        const int plot = left + kLabelWidth + 1;
        std::string title = chart.title;
        if (chart.y.is_log) title += "  (log)";
        if (is_smooth_) title += "  (smooth)";
        if (back_ > 0) title += "  (history)";
        put(top - 1, plot, columns, title, A_BOLD);
        if (chart.is_empty()) {
            put(top + rows / 2, plot, columns,
                names_.empty() ? "no metrics yet" : "no numbers here");
            return;
        }
        for (const double tick : chart.y.ticks) {
            const int row =
                top + static_cast<int>(std::lround((1 - chart.y.to_unit(tick)) * (rows - 1)));
            put(row, left, kLabelWidth, fmt::format("{:>{}}", number_text(tick), kLabelWidth),
                A_DIM);
            for (int column = 0; column < columns; column += 4)
                put(row, plot + column, 1, ".", A_DIM);
        }
        if (chart.bar) {
            const int row =
                top + static_cast<int>(std::lround((1 - chart.y.to_unit(*chart.bar)) * (rows - 1)));
            for (int column = 0; column < columns; ++column) put(row, plot + column, 1, "-");
        }
        for (const double tick : chart.x.ticks) {
            const int column = static_cast<int>(std::lround(chart.x.to_unit(tick) * (columns - 1)));
            const std::string text = number_text(tick);
            const int width = static_cast<int>(text.size());
            put(top + rows, std::min(plot + column, COLS - width), width, text, A_DIM);
        }
        for (const Event& event : chart.events) {
            const int column =
                static_cast<int>(std::lround(chart.x.to_unit(event.at) * (columns - 1)));
            for (int row = 0; row < rows; ++row) put(top + row, plot + column, 1, "|", A_DIM);
        }
        for (const Curve& curve : chart.curves) {
            const auto x_of = [&](const Point& p) {
                return static_cast<int>(std::lround(chart.x.to_unit(p.at) * (dots.width() - 1)));
            };
            const auto y_of = [&](const Point& p) {
                return static_cast<int>(
                    std::lround(chart.y.to_unit(p.value) * (dots.height() - 1)));
            };
            for (size_t i = 0; i < curve.points.size(); ++i) {
                const Point &a = curve.points[i == 0 ? 0 : i - 1], &b = curve.points[i];
                dots.line(x_of(a), y_of(a), x_of(b), y_of(b), curve.color);
            }
        }
        dots.show(top, plot);
        const std::string event =
            chart.events.empty() ? "" : "last mark: " + chart.events.back().text;
        put(LINES - 2, plot, columns, fmt::format("{}   {}", chart.unit, event), A_DIM);
    }

    std::span<RunLogFile> files_;
    const std::vector<std::string>& wanted_;
    std::optional<double> bar_;
    std::vector<std::string> names_;
    std::string chosen_, waits_for_, notice_;
    int top_ = 0;                 // the first row below the head
    size_t zoom_ = 0, back_ = 0;  // zoom: halvings of the range; back: quarters of the window
    bool is_log_ = false, is_smooth_ = false, has_details_ = false;
};

}  // namespace

Result<int> watch_in_terminal(std::span<RunLogFile> files, const WatchOptions& options) {
    return Watch(files, options).run();
}

}  // namespace hearth::tool
