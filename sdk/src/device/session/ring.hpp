// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Allocates byte ranges of a ring buffer in order, and frees them in order once the GPU is done.

#pragma once

#include "core/alloc.hpp"

namespace hearth::runtime {

class ByteRing {
  public:
    struct Segment {
        uint64_t offset = 0, bytes = 0;
        uint64_t frame_number = 0;  ///< in use by the GPU until this frame number completes
        bool is_held = false;       ///< in use by the application until release()
        uint32_t tag = 0;           ///< for the caller's use
    };
    static constexpr uint64_t kAlignment = 64;

    /// False if out of host memory.
    [[nodiscard]] bool init(HostAllocator& allocator, uint64_t capacity, uint32_t max_segments) {
        capacity_ = capacity;
        return segments_.resize(allocator, max_segments);
    }

    /// Returns the index of a new segment of `bytes` > 0, or -1 if there is no room.
    int64_t allocate(uint64_t bytes, uint64_t frame_number, bool is_held,
                     uint64_t completed_frame_number, uint32_t tag = 0) {
        reclaim(completed_frame_number);
        uint64_t offset = 0;
        if (count_ == segments_.size() || !find_room(bytes, &offset)) return -1;
        const size_t index = (first_ + count_++) % segments_.size();
        segments_[index] = {offset, bytes, frame_number, is_held, tag};
        return static_cast<int64_t>(index);
    }
    const Segment& segment(size_t index) const { return segments_[index]; }
    void release(size_t index) { segments_[index].is_held = false; }
    /// Marks the segments of frame `serial` as unused; calls visit(segment) for each, oldest first.
    template <class Visit>
    void take_back(uint64_t frame_number, Visit visit) {
        for (size_t i = 0; i < count_; ++i) {
            Segment& segment = segments_[(first_ + i) % segments_.size()];
            if (segment.frame_number != frame_number) continue;
            visit(segment);
            segment.frame_number = 0;
        }
    }

  private:
    void reclaim(uint64_t completed_frame_number) {
        while (count_ > 0 && !segments_[first_].is_held &&
               segments_[first_].frame_number <= completed_frame_number) {
            first_ = (first_ + 1) % segments_.size();
            --count_;
        }
    }
    bool find_room(uint64_t bytes, uint64_t* offset) const {
        if (bytes > capacity_) return false;
        *offset = 0;
        if (count_ == 0) return true;
        const Segment& oldest = segments_[first_];
        const Segment& newest = segments_[(first_ + count_ - 1) % segments_.size()];
        const uint64_t end =
            (newest.offset + newest.bytes + kAlignment - 1) / kAlignment * kAlignment;
        if (newest.offset >= oldest.offset) {
            if (end <= capacity_ && bytes <= capacity_ - end) return *offset = end, true;
            return bytes <= oldest.offset;  // wrap around
        }
        *offset = end;
        return end <= oldest.offset && bytes <= oldest.offset - end;
    }

    Array<Segment> segments_;
    uint64_t capacity_ = 0;
    size_t first_ = 0, count_ = 0;
};

}  // namespace hearth::runtime
