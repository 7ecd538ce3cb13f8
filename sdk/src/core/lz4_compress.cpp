// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "core/lz4.hpp"

#include <algorithm>
#include <cstring>

namespace hearth {

namespace {

constexpr size_t kLeastMatch = 4, kMostDistance = 65535;
// Rules of the format: the last match begins 12 bytes before the end, and 5 bytes follow it.
constexpr size_t kLastStart = 12, kLastLiterals = 5;
constexpr int kMostTries = 256;

struct Match {
    size_t length = 0, distance = 0;
};

/// Finds earlier occurrences: chains of positions whose next four bytes have the same hash.
class Matcher {
  public:
    explicit Matcher(std::span<const std::byte> data)
        : data_(data), newest_(size_t{1} << kHashBits, kNone), older_(data.size(), kNone) {}

    /// The longest match at `at`, which must be at least kLastStart bytes before the end.
    /// Positions must be passed in ascending order.
    Match find(size_t at) {
        insert_up_to(at);
        const size_t most = data_.size() - kLastLiterals - at;
        Match best;
        uint32_t from = newest_[hash(at)];
        for (int i = 0; i < kMostTries && from != kNone && at - from <= kMostDistance; ++i) {
            if (data_[from + best.length] == data_[at + best.length]) {
                const auto differing =
                    std::mismatch(data_.begin() + from, data_.begin() + from + most,
                                  data_.begin() + at)
                        .first;
                const auto length = static_cast<size_t>(differing - data_.begin()) - from;
                if (length > best.length) best = {length, at - from};
                if (length == most) break;
            }
            from = older_[from];
        }
        return best.length >= kLeastMatch ? best : Match{};
    }

  private:
    static constexpr int kHashBits = 16;
    static constexpr uint32_t kNone = UINT32_MAX;

    size_t hash(size_t at) const {
        uint32_t four;
        std::memcpy(&four, data_.data() + at, sizeof four);
        return (four * 2654435761u) >> (32 - kHashBits);
    }
    void insert_up_to(size_t end) {
        for (; next_ < end; ++next_) {
            uint32_t& newest = newest_[hash(next_)];
            older_[next_] = newest;
            newest = static_cast<uint32_t>(next_);
        }
    }

    std::span<const std::byte> data_;
    std::vector<uint32_t> newest_, older_;
    size_t next_ = 0;
};

/// Appends what follows a token whose half is 15.
void append_length(std::vector<std::byte>& out, size_t length) {
    if (length < 15) return;
    for (length -= 15; length >= 255; length -= 255) out.push_back(std::byte{255});
    out.push_back(static_cast<std::byte>(length));
}

void append_sequence(std::vector<std::byte>& out, std::span<const std::byte> literals,
                     const Match& match) {
    const size_t extra = match.length == 0 ? 0 : match.length - kLeastMatch;
    out.push_back(static_cast<std::byte>(std::min<size_t>(literals.size(), 15) << 4 |
                                         std::min<size_t>(extra, 15)));
    append_length(out, literals.size());
    out.insert(out.end(), literals.begin(), literals.end());
    if (match.length == 0) return;
    out.push_back(static_cast<std::byte>(match.distance & 255));
    out.push_back(static_cast<std::byte>(match.distance >> 8));
    append_length(out, extra);
}

}  // namespace

std::vector<std::byte> lz4_compress(std::span<const std::byte> data) {
    std::vector<std::byte> out;
    size_t begin = 0;
    if (data.size() > kLastStart) {
        Matcher matcher(data);
        const size_t end = data.size() - kLastStart;
        for (size_t at = 0; at <= end;) {
            Match match = matcher.find(at);
            // A longer match one byte later is worth a literal.
            while (match.length > 0 && at < end) {
                const Match next = matcher.find(at + 1);
                if (next.length <= match.length + 1) break;
                match = next;
                ++at;
            }
            if (match.length == 0) {
                ++at;
                continue;
            }
            append_sequence(out, data.subspan(begin, at - begin), match);
            at += match.length;
            begin = at;
        }
    }
    append_sequence(out, data.subspan(begin), {});
    return out;
}

}  // namespace hearth
