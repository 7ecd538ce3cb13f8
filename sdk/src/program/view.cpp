// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#include "program/view.hpp"

#include "core/checksum.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace hearth {

namespace {

using namespace file;

static_assert(std::endian::native == std::endian::little,
              "programs are read in place; a big-endian port needs a converting reader");

constexpr uint32_t kSpirvMagic = 0x07230203;
constexpr uint32_t kSpirvHeaderWords = 5;
constexpr uint32_t kMaxEntryBindings = 64;
constexpr uint64_t kMaxPushBytes = 128;       // guaranteed by every Vulkan device
constexpr uint32_t kMaxPushDescriptors = 32;  // guaranteed by VK_KHR_push_descriptor

/// One pass over the records; stops at the first broken rule.
class Checker {
  public:
    Checker(const ProgramView& view, ViewError* error) : view_(view), error_(error) {}

    bool run() {
        return header_limits() && check_each(view_.kernels(), &Checker::kernel) &&
               check_each(view_.operands(), &Checker::operand) &&
               check_each(view_.bindings(), &Checker::binding) &&
               check_each(view_.slots(), &Checker::slot) &&
               check_each(view_.steps(), &Checker::step) &&
               check_each(view_.entries(), &Checker::entry);
    }

  private:
    template <class Record>
    bool check_each(std::span<const Record> records, bool (Checker::*check)(const Record&)) {
        for (index_ = 0; index_ < records.size(); ++index_)
            if (!(this->*check)(records[index_])) return false;
        return true;
    }

    /// `what` of element index_ is wrong.
    bool bad(const char* table, const char* what) {
        error_->code = StatusCode::kCorruptData;
        error_->text.set("program: %s %zu: %s", table, index_, what);
        return false;
    }
    uint64_t count(Section section) const { return view_.header().sections[section].count; }
    uint64_t rows() const { return view_.header().rows_capacity; }

    bool text_ok(TextRef ref) const {
        if (uint64_t{ref.offset} + ref.size >= count(kTexts)) return false;
        const char* text = view_.text(ref);
        return text[ref.size] == '\0' && std::memchr(text, '\0', ref.size) == nullptr;
    }
    bool list_ok(ListRef ref, Section section) const {
        return uint64_t{ref.first} + ref.count <= count(section);
    }
    /// The extent at capacity, if it fits 63 bits together with `offset`.
    bool end_of(uint64_t offset, ExtentRecord extent, uint64_t* end) const {
        constexpr uint64_t kLimit = std::numeric_limits<int64_t>::max();
        if (offset > kLimit || extent.fixed > kLimit - offset) return false;
        const uint64_t left = kLimit - offset - extent.fixed;
        if (extent.per_row != 0 && rows() > left / extent.per_row) return false;
        *end = offset + extent_at(extent, rows());
        return true;
    }
    bool shape_ok(const ShapeRecord& shape) const {
        if (shape.rank > static_cast<uint32_t>(kMaxRank)) return false;
        if ((shape.per_row_mask >> shape.rank) != 0) return false;
        for (uint32_t i = 0; i < static_cast<uint32_t>(kMaxRank); ++i)
            if (shape.counts[i] < 0 || (i >= shape.rank && shape.counts[i] != 0)) return false;
        return true;
    }

    bool header_limits() {
        const FileHeader& header = view_.header();
        index_ = 0;
        if (header.binding_model > 1) return bad("header", "unknown binding model");
        if ((header.flags & ~uint32_t{kAllHeaderFlags}) != 0) return bad("header", "unknown flags");
        if (view_.has_outside_data() ? count(kData) != 0 : header.outside_bytes != 0)
            return bad("header", "has data both inside and outside");
        if (view_.has_outside_data() && header.outside_bytes != view_.data().size())
            return bad("header", "its first contents lie outside and are not the ones given");
        if (header.rows_capacity == 0 || header.rows_capacity > 0xffffffffu)
            return bad("header", "rows_capacity is not in 1..2^32-1");
        constexpr uint64_t kMaxRegion = uint64_t{1} << 62;
        if (header.arena_bytes > kMaxRegion || header.weights_bytes > kMaxRegion)
            return bad("header", "a region is larger than 2^62 bytes");
        if (!text_ok(header.profile)) return bad("header", "profile is not a text");
        return true;
    }

    bool kernel(const KernelRecord& k) {
        if (!text_ok(k.name) || !text_ok(k.source))
            return bad("kernel", "name or source is no text");
        if (!list_ok(k.spirv, kSpirv)) return bad("kernel", "SPIR-V lies outside its section");
        if (!list_ok(k.spec_constants, kSpecConstants))
            return bad("kernel", "specialization constants lie outside their section");
        if ((k.flags & ~uint32_t{kAllKernelFlags}) != 0) return bad("kernel", "unknown flags");
        const bool addresses = view_.binding_model() == BindingModel::kDeviceAddress;
        if (k.reserved != 0) return bad("kernel", "reserved field is not zero");
        if (k.located_count > k.operand_count || (k.located_count > 0 && !addresses))
            return bad("kernel", "locates operands that it has not, or in another binding model");
        if (push_bytes_of(k, view_.binding_model()) > kMaxPushBytes)
            return bad("kernel", "needs over 128 push constant bytes");
        if (!addresses && k.operand_count > kMaxPushDescriptors)
            return bad("kernel", "needs over 32 descriptors");
        for (uint32_t extent : k.local_size)
            if (extent == 0 || extent > 1024) return bad("kernel", "local size is not in 1..1024");
        const std::span<const uint32_t> spirv = view_.spirv_of(k);
        if (spirv.size() <= kSpirvHeaderWords || spirv[0] != kSpirvMagic)
            return bad("kernel", "has no SPIR-V");
        for (size_t at = kSpirvHeaderWords; at < spirv.size();) {
            const uint32_t words = spirv[at] >> 16;
            if (words == 0 || words > spirv.size() - at)
                return bad("kernel", "SPIR-V instruction of impossible length");
            at += words;
        }
        return true;
    }

    bool operand(const OperandRecord& o) {
        if (o.region > static_cast<uint32_t>(Region::kRun)) return bad("operand", "unknown region");
        if (o.access < 1 || o.access > 3) return bad("operand", "unknown access");
        if (o.reserved != 0) return bad("operand", "reserved field is not zero");
        uint64_t end = 0;
        if (!end_of(o.offset, o.bytes, &end)) return bad("operand", "extent overflows");
        const auto region = static_cast<Region>(o.region);
        if (region != Region::kExternal && o.binding != 0)
            return bad("operand", "names a binding but is not external");
        switch (region) {
            case Region::kArena:
            case Region::kWeights:
                if (o.offset % 4 != 0) return bad("operand", "offset is not a multiple of 4");
                if (end > (region == Region::kArena ? view_.header().arena_bytes
                                                    : view_.header().weights_bytes))
                    return bad("operand", "lies outside its region");
                return true;
            case Region::kRun:
                if (o.offset != 0 || end > sizeof(RunBlock))
                    return bad("operand", "exceeds the run block");
                if (o.access != static_cast<uint32_t>(Access::kRead))
                    return bad("operand", "writes the run block");
                return true;
            case Region::kExternal:
                break;
        }
        if (o.offset != 0) return bad("operand", "is external and has an offset");
        if (o.binding >= view_.bindings().size()) return bad("operand", "names no binding");
        const BindingRecord& b = view_.bindings()[o.binding];
        // Both sides are linear in the rows, so the ends of 1..capacity are enough.
        if (extent_at(o.bytes, 1) > extent_at(b.bytes, 1) ||
            extent_at(o.bytes, rows()) > extent_at(b.bytes, rows()))
            return bad("operand", "is larger than its binding");
        if (b.direction == static_cast<uint32_t>(Direction::kInput) &&
            o.access != static_cast<uint32_t>(Access::kRead))
            return bad("operand", "writes an input");
        return true;
    }

    bool binding(const BindingRecord& b) {
        if (!text_ok(b.name)) return bad("binding", "name is no text");
        if (b.direction > 1) return bad("binding", "unknown direction");
        if (b.dtype >= static_cast<uint32_t>(kDTypeCount)) return bad("binding", "unknown type");
        if (!shape_ok(b.shape)) return bad("binding", "impossible shape");
        uint64_t end = 0;
        if (!end_of(0, b.bytes, &end)) return bad("binding", "extent overflows");
        if (!list_ok(b.elements, kNames)) return bad("binding", "names lie outside their section");
        if (b.elements.count != 0 && (b.shape.rank != 1 || b.shape.per_row_mask != 0 ||
                                      b.shape.counts[0] != int64_t{b.elements.count}))
            return bad("binding", "has not as many names as elements");
        for (const TextRef& name : view_.elements_of(b))
            if (!text_ok(name)) return bad("binding", "an element's name is no text");
        return true;
    }

    bool slot(const SlotRecord& s) {
        if (!text_ok(s.name)) return bad("slot", "name is no text");
        if (s.kind > static_cast<uint32_t>(SlotKind::kTransient))
            return bad("slot", "unknown kind");
        if (s.dtype >= static_cast<uint32_t>(kDTypeCount)) return bad("slot", "unknown type");
        if (!shape_ok(s.shape) || s.shape.per_row_mask != 0) return bad("slot", "impossible shape");
        if (s.offset % 4 != 0) return bad("slot", "offset is not a multiple of 4");
        const uint64_t limit = view_.header().weights_bytes;
        if (s.offset > limit || s.bytes > limit - s.offset)
            return bad("slot", "lies outside the weights");
        if (s.data_offset == kZeroFilled) return true;
        const uint64_t data = view_.data().size();
        if (s.data_offset > data || s.bytes > data - s.data_offset)
            return bad("slot", "initial contents lie outside the data");
        return true;
    }

    bool step(const StepRecord& s) {
        if (s.kind > static_cast<uint32_t>(StepKind::kBarrier)) return bad("step", "unknown kind");
        if (!text_ok(s.label)) return bad("step", "label is no text");
        if (!list_ok(s.operands, kOperands))
            return bad("step", "operands lie outside their section");
        if (!list_ok(s.words, kWords)) return bad("step", "words lie outside their section");
        if (!list_ok(s.computes, kValues) || !list_ok(s.operand_values, kValues))
            return bad("step", "debug values lie outside their section");
        for (const GridAxisRecord& axis : s.grid)
            if (!grid_ok(axis)) return false;
        switch (static_cast<StepKind>(s.kind)) {
            case StepKind::kDispatch:
                return dispatch(s);
            case StepKind::kCopy:
                return copy(s);
            case StepKind::kFill:
                return fill(s);
            case StepKind::kBarrier:
                break;
        }
        if (s.operands.count != 0 || s.words.count != 0)
            return bad("step", "is a barrier with operands");
        return true;
    }

    bool grid_ok(const GridAxisRecord& axis) {
        if (axis.tile == 0) return bad("step", "tile is zero");
        if (axis.reserved != 0) return bad("step", "reserved field is not zero");
        uint64_t work = 0;
        if (!end_of(0, axis.work, &work)) return bad("step", "work overflows");
        if ((work + axis.tile - 1) / axis.tile > 0xffffffffu)
            return bad("step", "has over 2^32 workgroups along an axis");
        return true;
    }

    bool dispatch(const StepRecord& s) {
        if (s.kernel >= view_.kernels().size()) return bad("step", "names no kernel");
        const KernelRecord& k = view_.kernels()[s.kernel];
        if (s.operands.count != k.operand_count)
            return bad("step", "has not its kernel's operands");
        if (s.words.count != k.word_count) return bad("step", "has not its kernel's words");
        for (uint32_t i = 0; i < k.located_count; ++i) {
            const auto region = static_cast<Region>(view_.operands_of(s)[i].region);
            if (region != Region::kArena && region != Region::kWeights)
                return bad("step", "has an operand that its kernel cannot locate");
        }
        return true;
    }

    bool copy(const StepRecord& s) {
        if (s.operands.count != 2) return bad("step", "is a copy without two operands");
        const OperandRecord& from = view_.operands_of(s)[0];
        const OperandRecord& to = view_.operands_of(s)[1];
        if (from.access != static_cast<uint32_t>(Access::kRead) ||
            to.access != static_cast<uint32_t>(Access::kWrite))
            return bad("step", "is a copy that does not read, then write");
        if (from.bytes.fixed != to.bytes.fixed || from.bytes.per_row != to.bytes.per_row)
            return bad("step", "is a copy between different sizes");
        // vkCmdCopyBuffer's regions must not overlap within one buffer.
        if (from.region == to.region && from.region != static_cast<uint32_t>(Region::kExternal)) {
            const uint64_t bytes = extent_at(from.bytes, rows());
            if (from.offset < to.offset + bytes && to.offset < from.offset + bytes)
                return bad("step", "is a copy onto itself");
        }
        return true;
    }

    bool fill(const StepRecord& s) {
        if (s.operands.count != 1 || s.words.count != 1)
            return bad("step", "is a fill without one operand and one word");
        const OperandRecord& to = view_.operands_of(s)[0];
        if (to.access != static_cast<uint32_t>(Access::kWrite))
            return bad("step", "is a fill that does not write");
        if (to.bytes.fixed % 4 != 0 || to.bytes.per_row % 4 != 0)
            return bad("step", "fills bytes that are not a multiple of 4");
        return true;
    }

    bool entry(const EntryRecord& e) {
        if (!text_ok(e.name)) return bad("entry", "name is no text");
        if (!list_ok(e.steps, kSteps)) return bad("entry", "steps lie outside their section");
        if (!list_ok(e.bindings, kEntryBindings))
            return bad("entry", "bindings lie outside their section");
        const uint64_t limit = view_.header().arena_bytes;
        if (e.arena_offset > limit || e.arena_bytes > limit - e.arena_offset)
            return bad("entry", "arena range lies outside the arena");
        if (e.bindings.count > kMaxEntryBindings) return bad("entry", "has over 64 bindings");
        const std::span<const uint32_t> list = view_.bindings_of(e);
        for (auto binding = list.begin(); binding != list.end(); ++binding) {
            if (*binding >= view_.bindings().size()) return bad("entry", "names no binding");
            if (std::find(list.begin(), binding, *binding) != binding)
                return bad("entry", "names a binding twice");
        }
        for (const StepRecord& s : view_.steps_of(e))
            for (const OperandRecord& o : view_.operands_of(s))
                if (!belongs(o, e)) return bad("entry", "a step's operand is not the entry's");
        return true;
    }

    bool belongs(const OperandRecord& o, const EntryRecord& e) const {
        if (o.region == static_cast<uint32_t>(Region::kArena))
            return o.offset >= e.arena_offset &&
                   o.offset + extent_at(o.bytes, rows()) <= e.arena_offset + e.arena_bytes;
        if (o.region != static_cast<uint32_t>(Region::kExternal)) return true;
        for (uint32_t binding : view_.bindings_of(e))
            if (binding == o.binding) return true;
        return false;
    }

    const ProgramView& view_;
    ViewError* error_;
    size_t index_ = 0;
};

}  // namespace

bool ProgramView::open(std::span<const std::byte> bytes, ViewError* error,
                       std::span<const std::byte> outside) {
    const auto refuse = [&](StatusCode code, const char* what) {
        error->code = code;
        error->text.set("program: %s", what);
        return false;
    };
    if (bytes.size() < sizeof(FileHeader))
        return refuse(StatusCode::kCorruptData, "shorter than its header");
    if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(FileHeader) != 0)
        return refuse(StatusCode::kInvalidArgument, "bytes are not 8-byte aligned");
    bytes_ = bytes;
    outside_ = outside;
    header_ = reinterpret_cast<const FileHeader*>(bytes.data());
    if (header_->magic != kMagic) return refuse(StatusCode::kCorruptData, "not a Hearth program");
    if (header_->format_version != kProgramFormatVersion) {
        error->code = StatusCode::kUnsupported;
        error->text.set("program: format version %u, expected %u", header_->format_version,
                        kProgramFormatVersion);
        return false;
    }
    if (header_->total_bytes != bytes.size()) {
        error->code = StatusCode::kCorruptData;
        error->text.set("program: %zu bytes, the header says %llu", bytes.size(),
                        static_cast<unsigned long long>(header_->total_bytes));
        return false;
    }
    if (header_->checksum != checksum(bytes.subspan(kChecksumEnd)))
        return refuse(StatusCode::kCorruptData, "checksum does not match");
    for (uint32_t i = 0; i < kSectionCount; ++i) {
        const SectionRef& s = header_->sections[i];
        if (s.offset % kSectionAlignment != 0 || s.offset > bytes.size() ||
            s.count > (bytes.size() - s.offset) / kElementBytes[i])
            return refuse(StatusCode::kCorruptData, "a section lies outside the file");
    }
    return Checker(*this, error).run();
}

Shape to_shape(const file::ShapeRecord& record) {
    Shape shape;
    for (uint32_t i = 0; i < record.rank; ++i)
        shape.push_back(Dim(record.counts[i], ((record.per_row_mask >> i) & 1) != 0));
    return shape;
}

}  // namespace hearth
