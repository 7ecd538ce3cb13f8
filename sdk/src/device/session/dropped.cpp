// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Undoes recordings that were never submitted. Every recorded item keeps its frame number until
// that has completed, so that it can be found and undone.

#include "device/session/session.hpp"

namespace hearth::runtime {

namespace {

unsigned long long wide(uint64_t value) {
    return value;
}

}  // namespace

void Session::take_back(uint64_t frame_number, gpu::Problems& lost) {
    ++dropped_frames_;
    const uint32_t before = lost.count;
    const auto tell = [&](const char* what) { lost.add("session %s: %s", name_.c_str(), what); };
    if (setup_frame_number_ == frame_number) {
        setup_frame_number_ = earlier_setup_;
        earlier_setup_ = 0;
        ++dropped_setups_;
        tell(is_set_up()
                 ? "a repeated initialization is discarded; record hearth_record_initialize again "
                   "if it is still needed"
                 : "the initialization is discarded; record hearth_record_initialize again");
    } else if (earlier_setup_ == frame_number) {
        earlier_setup_ = 0;
    }

    upload_ring_.take_back(frame_number, [&](const ByteRing::Segment& segment) {
        if (segment.tag == kInputUpload) return;  // its entry must be recorded again: see below
        ++dropped_uploads_;
        if (segment.tag == kBrainUpload)
            return tell("loading a brain is discarded; record hearth_record_load_brain again");
        if (segment.tag == kForgetUpload)
            return tell(
                "a reset of variables is discarded; record hearth_record_reset_variables again");
        lost.add("session %s: an upload of %llu bytes to %s is discarded; record it again",
                 name_.c_str(), wide(segment.bytes),
                 view().text(view().variables()[segment.tag].name));
    });
    if (cleared_frame_number_ == frame_number) {
        cleared_frame_number_ = 0;
        ++dropped_uploads_;
        tell("a reset of variables is discarded; record hearth_record_reset_variables again");
    }

    // A released readback is no longer in readbacks_; its bytes are freed here.
    readback_ring_.take_back(frame_number, [&](const ByteRing::Segment&) { ++dropped_readbacks_; });
    for (Readback& readback : readbacks_) {
        if (!readback.is_active || readback.frame_number != frame_number || readback.is_dropped)
            continue;
        readback.is_dropped = true;
        lost.add("session %s: a readback of %llu bytes is discarded; record it again",
                 name_.c_str(), wide(readback.bytes));
    }

    for (size_t e = 0; e < entries_.size(); ++e) {
        EntryFacts& entry = entries_[e];
        if (entry.last_frame_number == 0 || frame_number < entry.first_frame_number ||
            frame_number > entry.last_frame_number)
            continue;
        // Slices recorded after `serial` depended on the dropped one.
        entry.open = frame_number == entry.last_frame_number ? entry.last_start : Position{};
        entry.is_taken_back = true;
        lost.add("session %s: record entry %s again from command %u on", name_.c_str(),
                 view().text(view().entries()[e].name), entry.open.command);
        // For earlier slices only the range of frame numbers is known.
        if (entry.open.is_start()) entry.first_frame_number = 0;
        entry.last_frame_number = entry.open.is_start() ? 0 : frame_number - 1;
        entry.last_start = {};
    }

    for (RunSlot& variable : run_slots_)
        if (variable.frame_number == frame_number) variable = {};
    for (TimingSlot& variable : timings_slots_)
        if (variable.frame_number == frame_number) variable.is_dropped = true;
    if (lost.count != before) dropped_frame_number_ = frame_number;
}

}  // namespace hearth::runtime
