// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Regular expressions by backtracking over the parsed pattern: each item is matched together with a
// continuation, which must match the rest.  Steps are counted, so that no pattern can hang.

#include "import/weights/pattern.hpp"

#include <charconv>
#include <functional>

namespace hearth {

namespace {

using Kind = Pattern::Kind;
using Item = Pattern::Item;
using Set = std::bitset<256>;

constexpr uint32_t kNoLimit = 0xffffffffu;
constexpr uint32_t kMostSteps = 1 << 18;
constexpr size_t kLongestName = 1024;  // limits the recursion depth
constexpr int kDeepest = 20;           // nesting of groups

Set range(char first, char last) {
    Set set;
    for (unsigned c = static_cast<unsigned char>(first); c <= static_cast<unsigned char>(last); ++c)
        set.set(c);
    return set;
}

/// The character class of the escape \c.
Set escaped(char c) {
    const Set digit = range('0', '9'), space = range('\t', '\r') | range(' ', ' '),
              word = digit | range('a', 'z') | range('A', 'Z') | range('_', '_');
    switch (c) {
        case 'd':
            return digit;
        case 'D':
            return ~digit;
        case 's':
            return space;
        case 'S':
            return ~space;
        case 'w':
            return word;
        case 'W':
            return ~word;
        default:
            return range(c, c);
    }
}

class Parser {
  public:
    explicit Parser(std::string_view text) : text_(text) {}

    Status run(Item& whole, int& group_count) {
        whole.kind = Kind::kGroup;
        whole.group = 0;
        HEARTH_TRY(alternatives(whole));
        if (at_ < text_.size()) return error("a ) without a (");
        group_count = group_count_;
        return {};
    }

  private:
    Status error(std::string_view what) const {
        return invalid_argument("pattern '" + std::string(text_) + "' has " + std::string(what) +
                                " at character " + std::to_string(at_));
    }
    bool at_end() const { return at_ == text_.size(); }
    bool accept(char c) {
        if (at_end() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    Status alternatives(Item& group) {
        if (++depth_ > kDeepest) return error("groups nested too deeply");
        do {
            std::vector<Item>& sequence = group.alternatives.emplace_back();
            while (!at_end() && text_[at_] != '|' && text_[at_] != ')') {
                Item item;
                HEARTH_TRY(atom(item));
                HEARTH_TRY(repeats(item));
                sequence.push_back(std::move(item));
            }
        } while (accept('|'));
        --depth_;
        return {};
    }

    Status atom(Item& item) {
        const char c = text_[at_++];
        if (c == '(') return group(item);
        if (c == '[') return one_of(item);
        if (c == '*' || c == '+' || c == '?' || c == '{') return error("nothing to repeat");
        if (c == '^' || c == '$')
            item.kind = c == '^' ? Kind::kBegin : Kind::kEnd;
        else if (c == '\\')
            return escape(item.set);
        else
            item.set = c == '.' ? ~Set() : range(c, c);
        return {};
    }

    Status escape(Set& set) {
        if (at_end()) return error("nothing after \\");
        set |= escaped(text_[at_++]);
        return {};
    }

    Status group(Item& item) {
        item.kind = Kind::kGroup;
        if (text_.substr(at_, 2) == "?:")
            at_ += 2;
        else
            item.group = group_count_++;
        HEARTH_TRY(alternatives(item));
        return accept(')') ? Status() : error("a ( without a )");
    }

    Status one_of(Item& item) {
        const bool is_negated = accept('^');
        do {
            if (at_end()) return error("a [ without a ]");
            const char first = text_[at_++];
            if (first == '\\') {
                HEARTH_TRY(escape(item.set));
            } else if (at_ + 1 < text_.size() && text_[at_] == '-' && text_[at_ + 1] != ']') {
                const char last = text_[at_ + 1];
                at_ += 2;
                if (static_cast<unsigned char>(last) < static_cast<unsigned char>(first))
                    return error("a range that is reversed");
                item.set |= range(first, last);
            } else {
                item.set |= range(first, first);
            }
        } while (!accept(']'));
        if (is_negated) item.set.flip();
        return {};
    }

    Status repeats(Item& item) {
        if (accept('*')) {
            item.least = 0;
            item.most = kNoLimit;
        } else if (accept('+')) {
            item.most = kNoLimit;
        } else if (accept('?')) {
            item.least = 0;
        } else if (accept('{')) {
            HEARTH_TRY(bounds(item));
        }
        return {};
    }

    Status bounds(Item& item) {
        if (!number(item.least)) return error("a { without a number");
        item.most = item.least;
        if (accept(',') && !number(item.most)) item.most = kNoLimit;
        if (!accept('}')) return error("a { without a }");
        return item.most < item.least ? error("bounds that are reversed") : Status();
    }

    bool number(uint32_t& to) {
        const char *first = text_.data() + at_, *last = text_.data() + text_.size();
        const auto [end, failure] = std::from_chars(first, last, to);
        at_ += static_cast<size_t>(end - first);
        return failure == std::errc();
    }

    std::string_view text_;
    size_t at_ = 0;
    int depth_ = 0;
    int group_count_ = 1;
};

class Matcher {
  public:
    struct Span {
        size_t begin = std::string_view::npos, end = 0;
    };

    Matcher(std::string_view name, int group_count)
        : name_(name), groups_(static_cast<size_t>(group_count)) {}

    /// True if `item` matches at `at`; fills the groups.
    bool match(const Item& item, size_t at) {
        groups_.assign(groups_.size(), {});
        return once(item, at, [](size_t) { return true; });
    }
    bool gave_up() const { return steps_left_ == 0; }
    std::string_view group(size_t number) const {
        const Span& g = groups_[number];
        return g.begin == std::string_view::npos ? std::string_view()
                                                 : name_.substr(g.begin, g.end - g.begin);
    }

  private:
    /// Continuation: matches the rest of the pattern from an offset on.
    using Rest = std::function<bool(size_t at)>;

    bool once(const Item& item, size_t at, const Rest& rest) {
        switch (item.kind) {
            case Kind::kCharacter:
                return at < name_.size() && item.set[static_cast<unsigned char>(name_[at])] &&
                       rest(at + 1);
            case Kind::kBegin:
                return at == 0 && rest(at);
            case Kind::kEnd:
                return at == name_.size() && rest(at);
            case Kind::kGroup:
                break;
        }
        const Rest noted = [&](size_t end) {
            if (item.group < 0) return rest(end);
            Span& span = groups_[static_cast<size_t>(item.group)];
            const Span before = span;
            span = {at, end};
            if (rest(end)) return true;
            span = before;
            return false;
        };
        for (const std::vector<Item>& sequence : item.alternatives)
            if (all(sequence, 0, at, noted)) return true;
        return false;
    }

    bool all(const std::vector<Item>& items, size_t first, size_t at, const Rest& rest) {
        if (first == items.size()) return rest(at);
        return repeated(items[first], 0, at,
                        [&](size_t next) { return all(items, first + 1, next, rest); });
    }

    bool repeated(const Item& item, uint32_t done, size_t at, const Rest& rest) {
        if (gave_up() || --steps_left_ == 0) return false;
        const Rest again = [&](size_t next) {
            // Rejects an optional empty match, which would repeat forever.
            return (next > at || done < item.least) && repeated(item, done + 1, next, rest);
        };
        if (done < item.most && once(item, at, again)) return true;
        return done >= item.least && rest(at);
    }

    std::string_view name_;
    std::vector<Span> groups_;
    uint32_t steps_left_ = kMostSteps;
};

}  // namespace

Result<Pattern> Pattern::parse(std::string_view text) {
    Pattern pattern;
    HEARTH_TRY(Parser(text).run(pattern.whole_, pattern.group_count_));
    return pattern;
}

Result<std::string> Pattern::replace(std::string_view name, std::string_view replacement) const {
    if (name.size() > kLongestName)
        return out_of_range("a name of " + std::to_string(name.size()) + " characters");
    Matcher matcher(name, group_count_);
    std::string out;
    size_t at = 0;
    while (at <= name.size()) {
        const bool matches = matcher.match(whole_, at);
        if (matcher.gave_up())
            return out_of_range("matching '" + std::string(name) +
                                "' takes too many steps; write a simpler one");
        const size_t size = matches ? matcher.group(0).size() : 0;
        for (size_t i = 0; matches && i < replacement.size(); ++i) {
            if (replacement[i] != '$' || i + 1 == replacement.size()) {
                out += replacement[i];
                continue;
            }
            const int group = replacement[++i] - '0';
            if (group < 0 || group > 9 || group >= group_count_)
                return invalid_argument("replacement '" + std::string(replacement) +
                                        "' has $ without the number of a group");
            out += matcher.group(static_cast<size_t>(group));
        }
        if (size == 0 && at < name.size()) out += name[at];
        at += size == 0 ? 1 : size;
    }
    return out;
}

}  // namespace hearth
