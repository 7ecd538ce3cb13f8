// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Validates serialized Programs from untrusted files, so that the runtime may read them in place.

#include "program/view.hpp"

#include "core/checked.hpp"
#include "core/checksum.hpp"
#include "program/file_header.hpp"
#include "program/spirv.hpp"

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
constexpr size_t kMaxEntries = 1024;          // names are compared pairwise
constexpr uint32_t kMaxPushDescriptors = 32;  // guaranteed by VK_KHR_push_descriptor

/// Checks all records in one pass; stops at the first violation.
class Checker {
  public:
    Checker(const ProgramView& view, ViewError* error) : view_(view), error_(error) {}

    bool run() {
        return header_limits() && check_each(view_.kernels(), &Checker::kernel) &&
               check_each(view_.operands(), &Checker::operand) &&
               check_each(view_.bindings(), &Checker::binding) &&
               check_each(view_.variables(), &Checker::variable) && variable_names() &&
               check_each(view_.commands(), &Checker::command) &&
               check_each(view_.entries(), &Checker::entry);
    }

  private:
    template <class Record>
    bool check_each(std::span<const Record> records, bool (Checker::*check)(const Record&)) {
        for (index_ = 0; index_ < records.size(); ++index_)
            if (!(this->*check)(records[index_])) return false;
        return true;
    }

    /// Reports that element index_ of `table` violates a rule.
    bool bad(const char* table, const char* what) {
        error_->code = StatusCode::kCorruptData;
        error_->text.set("program: %s %zu: %s; cook it again", table, index_, what);
        return false;
    }
    uint64_t count(Section section) const { return view_.header().sections[section].count; }
    uint64_t rows() const { return view_.header().max_batch_size; }

    /// Charges list elements to their section: all lists together may have at most as many elements
    /// as the section, so visiting all lists costs no more than visiting the section once.
    bool is_budgeted(Section section, uint64_t elements) {
        used_[section] += elements;
        return used_[section].is_within(count(section));
    }
    /// Checks a list of table[index_]; `what` names its elements in the error.
    bool list_ok(ListRef ref, Section section, const char* table, const char* what) {
        const bool is_inside = (Checked(ref.first) + ref.count).is_within(count(section));
        if (is_inside && is_budgeted(section, ref.count)) return true;
        error_->code = StatusCode::kCorruptData;
        error_->text.set(
            "program: %s %zu: %s %s; cook it again", table, index_, what,
            is_inside ? "overlap those of another record" : "lie outside their section");
        return false;
    }
    bool text_ok(TextRef ref, const char* table, const char* what) {
        const bool is_inside = uint64_t{ref.offset} + ref.size < count(kTexts);
        const bool is_own = is_inside && is_budgeted(kTexts, uint64_t{ref.size} + 1);
        if (is_own) {
            const char* text = view_.text(ref);
            if (text[ref.size] == '\0' && std::memchr(text, '\0', ref.size) == nullptr) return true;
        }
        error_->code = StatusCode::kCorruptData;
        error_->text.set("program: %s %zu: %s %s; cook it again", table, index_, what,
                         is_inside && !is_own ? "overlaps that of another record"
                                              : "is not a zero-terminated text inside the file");
        return false;
    }
    /// Computes the end of the extent at rows_capacity; false if it exceeds 63 bits.
    bool end_of(uint64_t offset, ExtentRecord extent, uint64_t* end) const {
        constexpr uint64_t kLimit = std::numeric_limits<int64_t>::max();
        const Checked sum = Checked(offset) + extent.fixed + Checked(extent.is_batch) * rows();
        if (!sum.is_within(kLimit)) return false;
        *end = sum.value();
        return true;
    }
    bool shape_ok(const ShapeRecord& shape) const {
        if (shape.rank > static_cast<uint32_t>(kMaxRank)) return false;
        if ((shape.batch_mask >> shape.rank) != 0) return false;
        for (uint32_t i = 0; i < static_cast<uint32_t>(kMaxRank); ++i)
            if (shape.counts[i] < 0 || (i >= shape.rank && shape.counts[i] != 0)) return false;
        return true;
    }
    /// True if `bytes` is exactly the size of a tensor of the shape.
    bool fits_shape(const ShapeRecord& shape, uint32_t dtype, ExtentRecord bytes) const {
        if ((shape.batch_mask & (shape.batch_mask - 1)) != 0) return false;  // two batch axes
        const auto held = device_dtype(static_cast<DType>(dtype), view_.storage());
        const Checked size = tensor_bytes(held, shape);
        const bool is_is_batch = shape.batch_mask != 0;
        return size.equals(is_is_batch ? bytes.is_batch : bytes.fixed) &&
               (is_is_batch ? bytes.fixed : bytes.is_batch) == 0;
    }

    bool header_limits() {
        const FileHeader& header = view_.header();
        index_ = 0;
        if (header.binding_model > 1) return bad("header", "binding_model is not 0 or 1");
        if ((header.flags & ~uint32_t{kAllHeaderFlags}) != 0) return bad("header", "unknown flags");
        if (view_.cpu() > CpuIsa::kWasm128) return bad("header", "unknown CPU");
        if (view_.cpu() != CpuIsa::kNone && view_.binding_model() != BindingModel::kDeviceAddress)
            return bad("header", "is for a CPU, but binds descriptors instead of addresses");
        if (view_.has_outside_data() ? count(kData) != 0 : header.outside_bytes != 0)
            return bad("header", "its data must be either inside or outside, and is both");
        if (view_.has_outside_data() && header.outside_bytes != view_.data().size())
            return bad(
                "header",
                "its initial values are stored in a package, and other bytes were given for them");
        if (header.max_batch_size == 0 || header.max_batch_size > 0xffffffffu)
            return bad("header", "max_batch_size must be in 1..2^32-1");
        constexpr uint64_t kMaxRegion = uint64_t{1} << 62;
        if (header.arena_bytes > kMaxRegion || header.weights_bytes > kMaxRegion)
            return bad("header", "a region is larger than 2^62 bytes");
        return text_ok(header.device_target, "header", "device target");
    }

    bool kernel(const KernelRecord& k) {
        if (!text_ok(k.name, "kernel", "name") || !text_ok(k.source, "kernel", "source") ||
            !list_ok(k.spirv, kSpirv, "kernel", "SPIR-V words") ||
            !list_ok(k.spec_constants, kSpecConstants, "kernel", "specialization constants") ||
            !list_ok(k.operands, kKernelOperands, "kernel", "declared operands"))
            return false;
        if ((k.flags & ~uint32_t{kAllKernelFlags}) != 0) return bad("kernel", "unknown flags");
        const bool addresses = view_.binding_model() == BindingModel::kDeviceAddress;
        if (k.located_count > k.operand_count)
            return bad("kernel", "located_count exceeds its operands");
        const bool is_native = view_.cpu() != CpuIsa::kNone;
        if (push_bytes_of(k, view_.binding_model()) >
            (is_native ? kMaxNativePushBytes : kMaxPushBytes))
            return bad("kernel", is_native
                                     ? "operands and words exceed 1024 bytes"
                                     : "operands and words exceed 128 bytes of push constants");
        if (!addresses && bound_count_of(k) > kMaxPushDescriptors)
            return bad("kernel", "has more than 32 descriptors");
        if (k.access_bytes > 16 || !std::has_single_bit(k.access_bytes))
            return bad("kernel", "access_bytes must be 1, 2, 4, 8 or 16");
        if (k.operands.count != k.operand_count)
            return bad("kernel", "must declare each of its operands once");
        for (const KernelOperandRecord& declared : view_.operands_of(k)) {
            uint64_t end = 0;
            if (declared.access < 1 || declared.access > 3)
                return bad("kernel", "declares an operand with unknown access");
            if (!end_of(0, declared.bytes, &end))
                return bad("kernel", "declares an operand whose size overflows");
            if (declared.bytes_per_word != 0 && k.word_count == 0)
                return bad("kernel", "declares an operand sized by a word, and has no words");
        }
        if (!constants_ok(k)) return false;
        for (uint32_t extent : k.local_size)
            if (extent == 0 || extent > 1024) return bad("kernel", "local size is not in 1..1024");
        const std::span<const uint32_t> spirv = view_.spirv_of(k);
        if (is_native) {
            if (spirv.size() != kNativeCodeWords || spirv[2] > 1)
                return bad("kernel", "must hold the hash of a C function");
            if (k.operand_count == 0)
                return bad("kernel", "is a C function without the operand of the run block");
            if (k.word_count != 0 || k.located_count != 0 || k.spec_constants.count != 0)
                return bad("kernel", "is a C function, which takes operands only");
            return true;
        }
        if (spirv.size() <= kSpirvHeaderWords || spirv[0] != kSpirvMagic)
            return bad("kernel", "does not begin with a SPIR-V header");
        if (spirv_bound(spirv) == 0)
            return bad("kernel", "id bound of its SPIR-V is too large for the module's size");
        for (size_t at = kSpirvHeaderWords; at < spirv.size();) {
            const uint32_t words = spirv[at] >> 16;
            if (words == 0 || words > spirv.size() - at)
                return bad(
                    "kernel",
                    "its SPIR-V has an instruction that is empty or ends outside the module");
            at += words;
        }
        return true;
    }

    bool constants_ok(const KernelRecord& k) {
        const std::span<const SpecConstantRecord> constants = view_.spec_constants_of(k);
        for (size_t i = 1; i < constants.size(); ++i)
            if (constants[i].id <= constants[i - 1].id)
                return bad("kernel", "specialization constants must have ascending ids");
        if (constants.size() < k.located_count)
            return bad("kernel", "must have one specialization constant for each located operand");
        for (uint32_t i = 0; i < k.located_count; ++i)
            if (constants[i].id != i)
                return bad("kernel",
                           "must have one specialization constant for each located operand");
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
            return bad("operand", "has a binding, but is not in an external buffer");
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
        if (o.offset != 0)
            return bad("operand", "is in an external buffer, where the offset must be zero");
        if (o.binding >= view_.bindings().size())
            return bad("operand", "refers to a binding that does not exist");
        const BindingRecord& b = view_.bindings()[o.binding];
        // Both sides are linear in the batch size, so checking 1 and rows_capacity is sufficient.
        if (extent_at(o.bytes, 1) > extent_at(b.bytes, 1) ||
            extent_at(o.bytes, rows()) > extent_at(b.bytes, rows()))
            return bad("operand", "is larger than its binding");
        if (b.direction == static_cast<uint32_t>(Direction::kInput) &&
            o.access != static_cast<uint32_t>(Access::kRead))
            return bad("operand", "writes an input");
        return true;
    }

    bool binding(const BindingRecord& b) {
        if (!text_ok(b.name, "binding", "name")) return false;
        if (b.name.size == 0) return bad("binding", "has no name");
        if (b.direction > static_cast<uint32_t>(Direction::kInOut))
            return bad("binding", "unknown direction");
        if (b.dtype >= static_cast<uint32_t>(kDTypeCount)) return bad("binding", "unknown type");
        if (!shape_ok(b.shape)) return bad("binding", "impossible shape");
        uint64_t end = 0;
        if (!end_of(0, b.bytes, &end)) return bad("binding", "extent overflows");
        if (!list_ok(b.elements, kNames, "binding", "names of elements")) return false;
        if (b.elements.count != 0 && (b.shape.rank != 1 || b.shape.batch_mask != 0 ||
                                      b.shape.counts[0] != int64_t{b.elements.count}))
            return bad("binding", "must name each of its elements, or none");
        for (const TextRef& name : view_.elements_of(b))
            if (!text_ok(name, "binding", "name of an element")) return false;
        if (!fits_shape(b.shape, b.dtype, b.bytes))
            return bad("binding", "its size in bytes does not match its shape and type");
        return true;
    }

    bool variable(const VariableRecord& s) {
        if (!text_ok(s.name, "variable", "name")) return false;
        if (s.kind > static_cast<uint32_t>(VariableKind::kTransient))
            return bad("variable", "unknown kind");
        if (s.dtype >= static_cast<uint32_t>(kDTypeCount)) return bad("variable", "unknown type");
        if (!shape_ok(s.shape) || s.shape.batch_mask != 0)
            return bad("variable", "impossible shape");
        if (s.offset % 4 != 0) return bad("variable", "offset is not a multiple of 4");
        const uint64_t limit = view_.header().weights_bytes;
        if (s.offset > limit || s.bytes > limit - s.offset)
            return bad("variable", "lies outside the weights");
        if (!fits_shape(s.shape, s.dtype, {s.bytes, 0}))
            return bad("variable", "its size in bytes does not match its shape and type");
        if (index_ > 0) {
            const VariableRecord& previous = view_.variables()[index_ - 1];
            if (s.offset < previous.offset + previous.bytes)
                return bad("variable", "overlaps the previous variable, or precedes it in memory");
        }
        if (s.data_offset == kZeroFilled) return true;
        const uint64_t data = view_.data().size();
        if (s.data_offset > data || s.bytes > data - s.data_offset)
            return bad("variable", "initial values lie outside the data");
        return true;
    }

    /// Strictly ascending names are all distinct, and so are their variables: no pairwise
    /// comparison needed.
    bool variable_names() {
        const std::span<const uint32_t> order = view_.variables_by_name();
        index_ = 0;
        if (order.size() != view_.variables().size())
            return bad("variable names", "must list each variable once");
        std::string_view previous;
        for (; index_ < order.size(); ++index_) {
            if (order[index_] >= view_.variables().size())
                return bad("variable names", "refer to a variable that does not exist");
            const std::string_view name = view_.text_view(view_.variables()[order[index_]].name);
            if (index_ > 0 && !(previous < name))
                return bad("variable names", previous == name ? "two variables have the same name"
                                                              : "must be in ascending order");
            previous = name;
        }
        return true;
    }

    bool command(const CommandRecord& s) {
        if (s.kind > static_cast<uint32_t>(CommandKind::kBarrier))
            return bad("command", "unknown kind");
        if (!text_ok(s.label, "command", "label") ||
            !list_ok(s.operands, kOperands, "command", "operands") ||
            !list_ok(s.words, kWords, "command", "words") ||
            !list_ok(s.computes, kValues, "command", "debug values") ||
            !list_ok(s.operand_values, kValues, "command", "debug values"))
            return false;
        for (const GridAxisRecord& axis : s.grid)
            if (!grid_ok(axis)) return false;
        switch (static_cast<CommandKind>(s.kind)) {
            case CommandKind::kDispatch:
                return dispatch(s);
            case CommandKind::kCopy:
                return copy(s);
            case CommandKind::kFill:
                return fill(s);
            case CommandKind::kBarrier:
                break;
        }
        if (s.operands.count != 0 || s.words.count != 0)
            return bad("command", "is a barrier, which has neither operands nor words");
        return true;
    }

    bool grid_ok(const GridAxisRecord& axis) {
        if (axis.tile == 0) return bad("command", "tile is zero");
        if (axis.reserved != 0) return bad("command", "reserved field is not zero");
        uint64_t work = 0;
        if (!end_of(0, axis.work, &work)) return bad("command", "work overflows");
        if ((work + axis.tile - 1) / axis.tile > 0xffffffffu)
            return bad("command", "has more than 2^32 workgroups along an axis");
        return true;
    }

    bool dispatch(const CommandRecord& s) {
        if (s.kernel >= view_.kernels().size())
            return bad("command", "refers to a kernel that does not exist");
        const KernelRecord& k = view_.kernels()[s.kernel];
        if (s.operands.count != k.operand_count)
            return bad("command", "has another number of operands than its kernel");
        if (s.words.count != k.word_count)
            return bad("command", "has another number of words than its kernel");
        const std::span<const OperandRecord> operands = view_.operands_of(s);
        for (uint32_t i = 0; i < operands.size(); ++i)
            if (!operand_fits(k, i, operands[i], s)) return false;
        if (view_.cpu() != CpuIsa::kNone &&
            (operands.back().region != static_cast<uint32_t>(Region::kRun) ||
             operands.back().bytes.fixed != sizeof(RunBlock)))
            return bad("command", "last operand of a C function must be the run block");
        return true;
    }

    /// Checks operand i of a dispatch against its kernel's declaration.
    bool operand_fits(const KernelRecord& k, uint32_t i, const OperandRecord& o,
                      const CommandRecord& s) {
        const KernelOperandRecord& declared = view_.operands_of(k)[i];
        if ((declared.access & ~o.access) != 0)
            return bad("command", "gives an operand without the access that its kernel declares");
        const Checked more = declared.bytes_per_word == 0
                                 ? Checked()
                                 : Checked(declared.bytes_per_word) * view_.words_of(s)[0];
        // Both sides are linear in the batch size, so checking 1 and rows_capacity is sufficient.
        for (uint64_t r : {uint64_t{1}, rows()})
            if (!(more + extent_at(declared.bytes, r)).is_within(extent_at(o.bytes, r)))
                return bad("command", "gives an operand smaller than its kernel declares");
        const auto region = static_cast<Region>(o.region);
        const bool is_placed = region == Region::kArena || region == Region::kWeights;
        if (o.offset % k.access_bytes != 0)  // the offset is zero in other regions
            return bad(
                "command",
                "gives an operand whose offset is not a multiple of its kernel's access_bytes");
        if (i >= k.located_count) return true;
        const uint64_t units = o.offset / kLocationUnit;
        if (!is_placed || o.offset % kLocationUnit != 0 || units > 0x7fffffffu)
            return bad(
                "command",
                "gives a located operand outside arena and weights, or at an unaligned offset");
        const uint64_t place = units * 2 + (region == Region::kWeights ? 1 : 0);
        if (view_.spec_constants_of(k)[i].value != place)
            return bad("command",
                       "gives a located operand at another offset than its kernel's constant");
        return true;
    }

    bool copy(const CommandRecord& s) {
        if (s.operands.count != 2) return bad("command", "is a copy, which has two operands");
        const OperandRecord& from = view_.operands_of(s)[0];
        const OperandRecord& to = view_.operands_of(s)[1];
        if (from.access != static_cast<uint32_t>(Access::kRead) ||
            to.access != static_cast<uint32_t>(Access::kWrite))
            return bad("command",
                       "is a copy, whose first operand is read and whose second is written");
        if (from.bytes.fixed != to.bytes.fixed || from.bytes.is_batch != to.bytes.is_batch)
            return bad("command", "is a copy between operands of different sizes");
        if (from.region == static_cast<uint32_t>(Region::kRun))
            return bad("command", "copies the run block, which only kernels read");
        // vkCmdCopyBuffer regions must not overlap within one buffer.
        if (from.region == to.region && from.binding == to.binding) {
            const uint64_t bytes = extent_at(from.bytes, rows());
            if (from.offset < to.offset + bytes && to.offset < from.offset + bytes)
                return bad("command", "is a copy whose source and destination overlap");
        }
        return true;
    }

    bool fill(const CommandRecord& s) {
        if (s.operands.count != 1 || s.words.count != 1)
            return bad("command", "is a fill, which has one operand and one word");
        const OperandRecord& to = view_.operands_of(s)[0];
        if (to.access != static_cast<uint32_t>(Access::kWrite))
            return bad("command", "is a fill, whose operand must be written");
        if (to.bytes.fixed % 4 != 0 || to.bytes.is_batch % 4 != 0)
            return bad("command", "is a fill, whose size must be a multiple of 4 bytes");
        return true;
    }

    bool entry(const EntryRecord& e) {
        if (index_ >= kMaxEntries) return bad("entry", "a program has at most 1024 entries");
        if (!text_ok(e.name, "entry", "name") ||
            !list_ok(e.commands, kCommands, "entry", "commands") ||
            !list_ok(e.bindings, kEntryBindings, "entry", "bindings"))
            return false;
        for (size_t other = 0; other < index_; ++other)
            if (view_.text_view(view_.entries()[other].name) == view_.text_view(e.name))
                return bad("entry", "two entries have the same name");
        const uint64_t limit = view_.header().arena_bytes;
        if (e.arena_offset > limit || e.arena_bytes > limit - e.arena_offset)
            return bad("entry", "arena range lies outside the arena");
        if (e.bindings.count > kMaxEntryBindings) return bad("entry", "has more than 64 bindings");
        const std::span<const uint32_t> list = view_.bindings_of(e);
        for (auto binding = list.begin(); binding != list.end(); ++binding) {
            if (*binding >= view_.bindings().size())
                return bad("entry", "refers to a binding that does not exist");
            const BindingRecord& b = view_.bindings()[*binding];
            for (auto other = list.begin(); other != binding; ++other) {
                if (*other == *binding) return bad("entry", "lists a binding twice");
                if (!may_share_name(b, view_.bindings()[*other]) &&
                    view_.text_view(view_.bindings()[*other].name) == view_.text_view(b.name))
                    return bad("entry", "two of its bindings have the same name");
            }
        }
        for (const CommandRecord& s : view_.commands_of(e))
            for (const OperandRecord& o : view_.operands_of(s))
                if (!belongs(o, e))
                    return bad("entry", "a command uses memory that is not of this entry");
        return true;
    }

    /// An output may have an input's name, as in ONNX; what is read or written in place may not.
    static bool may_share_name(const BindingRecord& a, const BindingRecord& b) {
        const auto in_out = static_cast<uint32_t>(Direction::kInOut);
        return a.direction != b.direction && a.direction != in_out && b.direction != in_out;
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
    Checked used_[kSectionCount];  ///< elements of each section that lists refer to so far
};

}  // namespace

bool ProgramView::open(std::span<const std::byte> bytes, ViewError* error,
                       std::span<const std::byte> outside) {
    constexpr FileFormat kFormat{.noun = "program",
                                 .magic = kMagic,
                                 .oldest_version = kProgramFormatVersion,
                                 .newest_version = kProgramFormatVersion,
                                 .if_older = "cook the package again: hearth cook OLD -o NEW",
                                 .if_newer = "update Hearth, or cook with this version"};
    if (!check_file_header(kFormat, sizeof(FileHeader), bytes, error)) return false;
    const auto refuse = [&](const char* what) {
        return refuse_file(kFormat, StatusCode::kCorruptData, what, error);
    };
    bytes_ = bytes;
    outside_ = outside;
    header_ = reinterpret_cast<const FileHeader*>(bytes.data());
    if (header_->checksum != checksum(bytes.subspan(kChecksumEnd)))
        return refuse(
            "the checksum differs, so the file is damaged; copy it again or make it again");
    for (uint32_t i = 0; i < kSectionCount; ++i) {
        const SectionRef& s = header_->sections[i];
        if (s.offset % kSectionAlignment != 0 || s.offset > bytes.size() ||
            s.count > (bytes.size() - s.offset) / kElementBytes[i])
            return refuse("a section lies outside the file; cook it again");
    }
    return Checker(*this, error).run();
}

Checked tensor_bytes(DType dtype, const file::ShapeRecord& shape) {
    Checked bytes = size_bytes(dtype);
    for (uint32_t i = 0; i < shape.rank; ++i) bytes *= static_cast<uint64_t>(shape.counts[i]);
    return bytes;
}

Shape to_shape(const file::ShapeRecord& record) {
    Shape shape;
    for (uint32_t i = 0; i < record.rank; ++i)
        shape.push_back(Dim(record.counts[i], ((record.batch_mask >> i) & 1) != 0));
    return shape;
}

}  // namespace hearth
