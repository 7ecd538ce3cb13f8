// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/bytes.hpp"
#include "core/out_of_memory.hpp"
#include "import/data/labels.hpp"

#include <hearth/dataset.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

namespace hearth {

namespace {

struct Line {
    size_t number = 0;  ///< in the file, from 1
    std::vector<std::string> fields;
};

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
        text.remove_suffix(1);
    return text;
}

/// Splits a line; a field in quotes may hold the delimiter, and "" for a quote.
Result<std::vector<std::string>> fields_of(std::string_view line, char delimiter) {
    std::vector<std::string> fields;
    size_t at = 0;
    for (;;) {
        std::string_view rest = line.substr(at);
        const size_t blank = rest.find_first_not_of(' ');
        std::string field;
        if (blank != std::string_view::npos && rest[blank] == '"') {
            at += blank + 1;
            for (;; ++at) {
                if (at >= line.size()) return corrupt_data("a quoted field has no end");
                if (line[at] != '"') {
                    field += line[at];
                } else if (at + 1 < line.size() && line[at + 1] == '"') {
                    field += line[at++];
                } else {
                    break;
                }
            }
            const size_t end = std::min(line.find(delimiter, ++at), line.size());
            if (!trimmed(line.substr(at, end - at)).empty())
                return corrupt_data("text follows a quoted field");
            at = end;
        } else {
            const size_t end = std::min(line.find(delimiter, at), line.size());
            field = trimmed(line.substr(at, end - at));
            at = end;
        }
        fields.push_back(std::move(field));
        if (at >= line.size()) return fields;
        ++at;  // a line that ends in a delimiter has an empty last field
    }
}

std::optional<double> number_in(std::string_view text) {
    double value = 0;
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size() || text.empty()) return {};
    return value;
}

Status at_line(const Line& line, const std::string& what) {
    return corrupt_data("csv: line " + std::to_string(line.number) + ": " + what);
}

struct Table {
    std::vector<std::string> names;  ///< empty: the file does not name its columns
    std::vector<Line> lines;
    size_t columns = 0;
};

Result<Table> split_lines(std::string_view text, char delimiter) {
    Table table;
    size_t number = 0;
    if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // byte order mark
    while (!text.empty()) {
        const size_t end = std::min(text.find('\n'), text.size());
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        ++number;
        if (trimmed(line).empty() || line.front() == '#') continue;
        Result<std::vector<std::string>> fields = fields_of(line, delimiter);
        Line next{number, {}};
        if (!fields.ok()) return at_line(next, fields.status().message());
        next.fields = std::move(*fields);
        if (table.lines.empty()) table.columns = next.fields.size();
        if (next.fields.size() != table.columns)
            return at_line(next, "expected " + std::to_string(table.columns) +
                                     " fields as in line " +
                                     std::to_string(table.lines.front().number) + ", found " +
                                     std::to_string(next.fields.size()));
        table.lines.push_back(std::move(next));
    }
    if (table.lines.empty()) return invalid_argument("csv: no samples: the file has no lines");
    return table;
}

std::string column_name(const Table& table, size_t column) {
    return table.names.empty() ? std::to_string(column) : table.names[column];
}

/// Finds a column by name, or by position.
Result<size_t> find_column(const Table& table, const std::string& wanted) {
    const auto named = std::find(table.names.begin(), table.names.end(), wanted);
    if (named != table.names.end()) return static_cast<size_t>(named - table.names.begin());
    const std::optional<double> position = number_in(wanted);
    if (position && *position >= 0 && *position < static_cast<double>(table.columns))
        return static_cast<size_t>(*position);
    std::string list;
    for (const std::string& name : table.names) list += (list.empty() ? "" : ", ") + shown(name);
    return not_found("csv: no column is named '" + shown(wanted) + "'; there are " +
                     std::to_string(table.columns) +
                     (list.empty() ? ", numbered from 0" : ": " + list));
}

Result<double> number_at(const Table& table, const Line& line, size_t column) {
    const std::optional<double> value = number_in(line.fields[column]);
    if (!value || !std::isfinite(*value))
        return at_line(line, "column " + shown(column_name(table, column)) +
                                 ": expected a finite number, found '" +
                                 shown(line.fields[column]) + "'");
    return *value;
}

Result<HostTensor> numbers_of(const Table& table, const std::vector<size_t>& columns) {
    HostTensor out(DType::kF32, {static_cast<int64_t>(table.lines.size()),
                                 static_cast<int64_t>(columns.size())});
    int64_t at = 0;
    for (const Line& line : table.lines)
        for (const size_t column : columns) {
            HEARTH_ASSIGN(const double value, number_at(table, line, column));
            out.set(at++, value);
        }
    return out;
}

/// Takes the first line as names if a field of it is no number where numbers must be.  Targets are
/// not known before there are names: a file whose only text is its labels has no such line.
void take_names(Table& table, const DatasetOptions& options) {
    const Line& first = table.lines.front();
    for (size_t column = 0; column < table.columns; ++column) {
        const std::string& text = first.fields[column];
        const auto is_position = [&](const std::string& wanted) {
            return number_in(wanted) == static_cast<double>(column);
        };
        const bool is_target =
            options.targets.empty()
                ? column + 1 == table.columns
                : std::any_of(options.targets.begin(), options.targets.end(), is_position);
        const bool may_be_text = options.labels && is_target;
        if (number_in(text) || may_be_text) continue;
        table.names = first.fields;
        table.lines.erase(table.lines.begin());
        return;
    }
}

}  // namespace

Result<Dataset> read_csv(std::string_view text, const DatasetOptions& options) {
    return or_out_of_memory([&]() -> Result<Dataset> {
        HEARTH_ASSIGN(Table table, split_lines(text, options.delimiter));
        take_names(table, options);
        if (table.lines.empty())
            return invalid_argument("csv: no samples: the file has names of columns only");
        std::vector<size_t> targets, inputs;
        for (const std::string& wanted : options.targets) {
            HEARTH_ASSIGN(const size_t column, find_column(table, wanted));
            targets.push_back(column);
        }
        if (targets.empty()) targets.push_back(table.columns - 1);
        for (size_t column = 0; column < table.columns; ++column)
            if (std::find(targets.begin(), targets.end(), column) == targets.end())
                inputs.push_back(column);
        if (inputs.empty())
            return invalid_argument("csv: all " + std::to_string(table.columns) +
                                    " columns are targets, which leaves no inputs");
        HEARTH_ASSIGN(const HostTensor x, numbers_of(table, inputs));
        if (!options.labels) {
            HEARTH_ASSIGN(const HostTensor y, numbers_of(table, targets));
            return make_dataset(x, y);
        }
        if (targets.size() != 1)
            return invalid_argument("csv: expected one column of labels, found " +
                                    std::to_string(targets.size()));
        std::vector<std::string> labels;
        for (const Line& line : table.lines) labels.push_back(line.fields[targets[0]]);
        HEARTH_ASSIGN(const Labels y, number_labels(labels, options.classes));
        return make_dataset(x, y.numbers, y.classes);
    });
}

}  // namespace hearth
