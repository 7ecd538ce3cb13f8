// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Saves, checks and loads brains: snapshots of a session's parameters and states.

#include "device/session/brain.hpp"

#include "core/checked.hpp"
#include "device/session/session.hpp"
#include "program/brain_writer.hpp"
#include "program/legacy_names.hpp"

#include <hearth/host_tensor.hpp>

#include <algorithm>
#include <cstring>

namespace hearth::runtime {

namespace {

constexpr size_t kCopiesAtOnce = 32;

unsigned long long wide(uint64_t value) {
    return value;
}

using file::BrainContents;

/// Calls visit(variable, offset) for each saved variable, with its offset in a snapshot. Returns
/// the size of the snapshot.
template <class Visit>
uint64_t for_each_saved(const LoadedProgram& program, BrainContents contents, Visit visit) {
    uint64_t at = 0;
    for (uint32_t index : program.saved(contents)) {
        const file::VariableRecord& variable = program.view().variables()[index];
        visit(variable, at);
        at += align_brain_bytes(variable.bytes);
    }
    return at;
}

/// True if the program has a saved variable of this name.
bool has_variable(const LoadedProgram& program, BrainContents contents, std::string_view name) {
    return std::ranges::binary_search(program.saved(contents), name, {}, [&](uint32_t index) {
        return program.view().text_view(program.view().variables()[index].name);
    });
}

/// The brain's tensor for one of the program's variables: of the same name or, in files of another
/// version, of its alias, unless that is the name of another variable. Brains of weights have
/// substitutes.
const file::BrainTensorRecord* find_tensor(const LoadedProgram& program, const BrainView& brain,
                                           std::string_view variable) {
    if (const auto* const found = brain.find(variable)) return found;
    const AliasName alias = alias_of_variable(variable);
    const auto* const found =
        has_variable(program, brain.contents(), alias.view()) ? nullptr : brain.find(alias.view());
    return found == nullptr && brain.contents() == BrainContents::kWeights
               ? find_substitute(brain, variable)
               : found;
}

/// True if find_tensor finds this tensor for some variable.
bool is_used(const LoadedProgram& program, const BrainView& brain, std::string_view tensor) {
    if (has_variable(program, brain.contents(), tensor)) return true;
    const AliasName alias = alias_of_variable(tensor);
    return has_variable(program, brain.contents(), alias.view()) &&
           brain.find(alias.view()) == nullptr;
}

/// The program's parent hash with the names that its variables have in the brain.
uint64_t parent_hash_as_in(const LoadedProgram& program, const BrainView& brain) {
    uint64_t sum = 0;
    for_each_saved(
        program, BrainContents::kCheckpoint, [&](const file::VariableRecord& variable, uint64_t) {
            const std::string_view name = program.view().text_view(variable.name);
            const file::BrainTensorRecord* const tensor = find_tensor(program, brain, name);
            sum += brain_tensor_hash(tensor != nullptr ? brain.name(*tensor) : name,
                                     program.view().held_dtype(variable),
                                     initial_values(program.view(), variable));
        });
    return sum;
}

/// Calls visit(variable, offset, tensor) for each saved variable, where `tensor` is the
/// brain's tensor for it or null, and stray(tensor) for each other tensor of the brain. Returns the
/// size of the snapshot.
template <class Visit, class Stray>
uint64_t for_each_match(const LoadedProgram& program, const BrainView& brain, Visit visit,
                        Stray stray) {
    const auto match = [&](const file::VariableRecord& variable, uint64_t at) {
        visit(variable, at, find_tensor(program, brain, program.view().text_view(variable.name)));
    };
    const uint64_t end = for_each_saved(program, brain.contents(), match);
    for (const file::BrainTensorRecord& tensor : brain.tensors())
        if (!is_used(program, brain, brain.name(tensor))) stray(tensor);
    return end;
}

/// As above, for a brain that is known to fit.
template <class Visit>
uint64_t for_each_match(const LoadedProgram& program, const BrainView& brain, Visit visit) {
    return for_each_match(program, brain, visit, [](const file::BrainTensorRecord&) {});
}

double load_float(DType dtype, const std::byte* at) {
    uint16_t half = 0;
    float single = 0;
    if (dtype == DType::kF32) return std::memcpy(&single, at, sizeof single), single;
    std::memcpy(&half, at, sizeof half);
    return dtype == DType::kF16 ? half_to_float(half) : bfloat16_to_float(half);
}

/// Calls visit(slot) for each transient state.
template <class Visit>
void for_each_transient(const ProgramView& view, Visit visit) {
    for (const file::VariableRecord& variable : view.variables())
        if (variable.kind == static_cast<uint32_t>(VariableKind::kTransient)) visit(variable);
}

/// Presents a snapshot as the items that write_brain writes.
class SnapshotItems final : public BrainItems {
  public:
    SnapshotItems(const LoadedProgram& program, BrainContents contents, const std::byte* snapshot,
                  bool is_delta)
        : program_(program),
          saved_(program.saved(contents)),
          snapshot_(snapshot),
          is_delta_(is_delta) {}

    size_t count() const override { return saved_.size(); }

    BrainItem item(size_t index) const override {
        const ProgramView& view = program_.view();
        const file::VariableRecord& variable = view.variables()[saved_[index]];
        // Items are requested in order, repeatedly: the search continues from the last one.
        if (index < index_) index_ = 0, offset_ = 0;
        for (; index_ < index; ++index_)
            offset_ += align_brain_bytes(view.variables()[saved_[index_]].bytes);
        BrainItem item;
        item.name = view.text_view(variable.name);
        item.kind = static_cast<VariableKind>(variable.kind);
        item.dtype = view.held_dtype(variable);
        item.shape = variable.shape;
        item.bytes = std::span(snapshot_ + offset_, variable.bytes);
        item.has_parent = is_delta_;
        if (is_delta_) item.parent = initial_values(view, variable);
        return item;
    }

  private:
    const LoadedProgram& program_;
    std::span<const uint32_t> saved_;
    const std::byte* snapshot_;
    bool is_delta_;
    mutable size_t index_ = 0;
    mutable uint64_t offset_ = 0;
};

bool same_shape(const file::ShapeRecord& a, const file::ShapeRecord& b) {
    return a.rank == b.rank && std::equal(a.counts, a.counts + a.rank, b.counts);
}

/// True if a tensor's type can be converted: between float types; all others must be equal.
bool can_become(DType from, DType to) {
    return from == to || (is_floating(from) && is_floating(to) && from != DType::kF64);
}

void store_float(DType dtype, double value, std::byte* at) {
    if (dtype == DType::kF32) {
        const auto single = static_cast<float>(value);
        std::memcpy(at, &single, sizeof single);
        return;
    }
    const uint16_t half = dtype == DType::kF16 ? float_to_half(value) : float_to_bfloat16(value);
    std::memcpy(at, &half, sizeof half);
}

void convert(DType from, std::span<const std::byte> in, DType to, std::span<std::byte> out) {
    const size_t count = in.size() / size_bytes(from);
    for (size_t i = 0; i < count; ++i)
        store_float(to, load_float(from, in.data() + i * size_bytes(from)),
                    out.data() + i * size_bytes(to));
}

bool is_delta(const file::BrainTensorRecord& tensor) {
    const auto encoding = static_cast<file::BrainEncoding>(tensor.encoding);
    return encoding == file::BrainEncoding::kParent || encoding == file::BrainEncoding::kDelta;
}

/// Formats a type and shape like "f32[3, 4]", without allocating.
FixedText<128> typed(DType dtype, const file::ShapeRecord& shape) {
    FixedText<128> text;
    const std::string_view name = name_of(dtype);
    text.append("%.*s[", static_cast<int>(name.size()), name.data());
    for (uint32_t i = 0; i < shape.rank; ++i)
        text.append("%s%lld", i > 0 ? ", " : "", static_cast<long long>(shape.counts[i]));
    text.append("]");
    return text;
}

void check_tensor(const ProgramView& view, const file::VariableRecord& variable,
                  const BrainView& brain, const file::BrainTensorRecord& tensor,
                  gpu::Problems& problems) {
    const char* const name = view.text(variable.name);
    const auto dtype = static_cast<DType>(tensor.dtype);
    if (!same_shape(tensor.shape, variable.shape) || !can_become(dtype, view.held_dtype(variable)))
        problems.add("'%s' is %s in the program and %s in the brain", name,
                     typed(view.held_dtype(variable), variable.shape).c_str(),
                     typed(dtype, tensor.shape).c_str());
    else if (tensor.kind != variable.kind && brain.contents() != BrainContents::kWeights)
        problems.add("'%s' has another kind (param or state) in the brain than in the program",
                     name);
    else if (is_delta(tensor) && dtype != view.held_dtype(variable))
        problems.add("'%s' is a delta of %s elements, and the program holds %s", name,
                     name_of(dtype).data(), name_of(view.held_dtype(variable)).data());
}

}  // namespace

uint64_t snapshot_bytes(const LoadedProgram& program, BrainContents contents) {
    return for_each_saved(program, contents, [](const file::VariableRecord&, uint64_t) {});
}

void write_initial_snapshot(const LoadedProgram& program, BrainContents contents, std::byte* out) {
    std::fill_n(out, snapshot_bytes(program, contents), std::byte{0});
    for_each_saved(program, contents, [&](const file::VariableRecord& variable, uint64_t at) {
        std::ranges::copy(initial_values(program.view(), variable), out + at);
    });
}

hearth_result encode_brain(const LoadedProgram& program, const hearth_brain_save_info& info,
                           std::byte* out, uint64_t* byte_count, gpu::Problems& problems) {
    constexpr hearth_brain_flags kKnown =
        HEARTH_BRAIN_DELTA | HEARTH_BRAIN_ALLOW_NON_FINITE | HEARTH_BRAIN_SAVED_GAME;
    const BrainContents contents = (info.flags & HEARTH_BRAIN_SAVED_GAME) != 0
                                       ? BrainContents::kSavedGame
                                       : BrainContents::kCheckpoint;
    if ((info.flags & ~kKnown) != 0 || (info.user_data == nullptr && info.user_data_size > 0))
        return HEARTH_ERROR_INVALID_ARGUMENT;
    const auto* snapshot = static_cast<const std::byte*>(info.snapshot);
    if (info.snapshot_bytes != snapshot_bytes(program, contents) ||
        (snapshot == nullptr && info.snapshot_bytes > 0))
        return HEARTH_ERROR_INVALID_ARGUMENT;
    const SnapshotItems items(program, contents, snapshot, (info.flags & HEARTH_BRAIN_DELTA) != 0);
    if (info.user_data_size > SIZE_MAX / 2) return HEARTH_ERROR_INVALID_ARGUMENT;
    const uint64_t bound = brain_bound(items, info.user_data_size);
    if (out == nullptr) return *byte_count = bound, HEARTH_OK;
    if (*byte_count < bound) return HEARTH_ERROR_OUT_OF_RANGE;
    const ProgramView& view = program.view();
    if ((info.flags & HEARTH_BRAIN_ALLOW_NON_FINITE) == 0)
        for (size_t i = 0; i < items.count(); ++i) {
            const BrainItem item = items.item(i);
            const int64_t at = first_nonfinite(item.dtype, item.bytes);
            if (at < 0) continue;
            problems.add(
                "'%.*s': element %lld is NaN or infinite; reset it, or accept it by "
                "HEARTH_BRAIN_ALLOW_NON_FINITE",
                static_cast<int>(std::min<size_t>(item.name.size(), 200)), item.name.data(),
                static_cast<long long>(at));
            return HEARTH_ERROR_NON_FINITE;
        }
    *byte_count = write_brain(
        items,
        {view.header().graph_hash, program.schema_hash(), program.parent_hash(),
         info.user_schema_hash, contents},
        {static_cast<const std::byte*>(info.user_data), static_cast<size_t>(info.user_data_size)},
        std::span(out, *byte_count));
    return HEARTH_OK;
}

hearth_result check_brain(const LoadedProgram& program, const BrainView& brain,
                          hearth_brain_flags flags, gpu::Problems& problems) {
    const ProgramView& view = program.view();
    const file::BrainHeader& header = brain.header();
    const bool partial = (flags & HEARTH_BRAIN_NON_STRICT) != 0;
    if (!partial && header.schema_hash != program.schema_hash() &&
        header.schema_hash != brain_schema_hash(view, HashedNames::kAlias))
        problems.add(
            "the brain's schema is %016llx, this program's is %016llx: inputs or outputs differ; "
            "load a brain of this program",
            wide(header.schema_hash), wide(program.schema_hash()));
    if ((flags & HEARTH_BRAIN_REQUIRE_SAME_GRAPH) != 0 &&
        header.graph_hash != view.header().graph_hash)
        problems.add(
            "the brain's graph is %016llx, this program's is %016llx; load a brain of this "
            "program, or load without HEARTH_BRAIN_REQUIRE_SAME_GRAPH",
            wide(header.graph_hash), wide(view.header().graph_hash));
    if (brain.is_delta() && header.parent_hash != program.parent_hash() &&
        header.parent_hash != parent_hash_as_in(program, brain))
        problems.add(
            "the brain is a delta from initial weights %016llx, this program's are %016llx; load "
            "it with the program that it was saved by",
            wide(header.parent_hash), wide(program.parent_hash()));
    size_t found = 0;
    for_each_match(
        program, brain,
        [&](const file::VariableRecord& variable, uint64_t, const file::BrainTensorRecord* tensor) {
            if (tensor != nullptr) {
                ++found;
                check_tensor(view, variable, brain, *tensor, problems);
            } else if (!partial && brain.contents() != BrainContents::kWeights) {
                problems.add("the brain has no '%s' (accepted with HEARTH_BRAIN_NON_STRICT)",
                             view.text(variable.name));
            }
        },
        [&](const file::BrainTensorRecord& tensor) {
            if (partial) return;
            const std::string_view name = brain.name(tensor);
            problems.add("the program has no '%.*s' (accepted with HEARTH_BRAIN_NON_STRICT)",
                         static_cast<int>(std::min<size_t>(name.size(), 200)), name.data());
        });
    if (found == 0 && !program.saved(brain.contents()).empty())
        problems.add("the brain has no tensor of this program; load a brain of this program");
    if (problems.count != 0) return HEARTH_ERROR_INCOMPATIBLE;
    if ((flags & HEARTH_BRAIN_ALLOW_NON_FINITE) != 0) return HEARTH_OK;
    for_each_match(
        program, brain,
        [&](const file::VariableRecord& variable, uint64_t, const file::BrainTensorRecord* tensor) {
            if (tensor == nullptr) return;
            const std::span<const std::byte> initial = initial_values(view, variable);
            if (const int64_t at = brain.first_nonfinite(*tensor, initial); at >= 0) {
                problems.add(
                    "'%s': element %lld is NaN or infinite; reset it, or accept it by "
                    "HEARTH_BRAIN_ALLOW_NON_FINITE",
                    view.text(variable.name), static_cast<long long>(at));
                return;
            }
            if ((flags & HEARTH_BRAIN_LIMIT_PARAMS) == 0 ||
                !is_param(static_cast<VariableKind>(tensor->kind), brain.name(*tensor)))
                return;
            const int64_t at = brain.first_nonfinite(*tensor, initial, Magnitude::kTrainable);
            if (at >= 0)
                problems.add(
                    "'%s': element %lld has a magnitude of 2^60 or more, which no training "
                    "reaches; load another brain",
                    view.text(variable.name), static_cast<long long>(at));
        });
    return problems.count == 0 ? HEARTH_OK : HEARTH_ERROR_NON_FINITE;
}

void Session::abandon_slices() {
    for (EntryFacts& entry : entries_) {
        if (!entry.open.is_start()) ++entry.epoch;
        entry.open = {};
    }
}

hearth_result Session::record_snapshot(VkCommandBuffer commands, BrainContents contents,
                                       hearth_readback* out) {
    if (const hearth_result r = check_transfer(commands, "save_brain"); r != HEARTH_OK) return r;
    if (!is_set_up()) return fail_without_setup("save_brain");
    for (const EntryFacts& entry : entries_)
        if (Position{entry.first_write} < entry.open && entry.open < Position{entry.writes_end}) {
            (void)fail(HEARTH_NOT_READY,
                       "save_brain: a sliced entry has updated only some variables; finish its "
                       "slices first");
            return HEARTH_NOT_READY;
        }
    const uint64_t bytes = snapshot_bytes(*program_, contents);
    if (bytes == 0)
        return fail(HEARTH_ERROR_NOT_FOUND,
                    "save_brain: the program has no params and no states to save");
    Readback* readback = nullptr;
    if (const hearth_result r = begin_readback(bytes, &readback); r != HEARTH_OK) return r;
    transfer_barrier(commands);
    const uint64_t base = readback_ring_.segment(readback->segment).offset;
    VkBufferCopy regions[kCopiesAtOnce];
    uint32_t count = 0;
    const auto flush = [&] {
        if (count > 0)
            context_->device().vk().CmdCopyBuffer(commands, buffers_[kWeightsBuffer].handle,
                                                  buffers_[kReadbackBuffer].handle, count, regions);
        count = 0;
    };
    for_each_saved(*program_, contents, [&](const file::VariableRecord& variable, uint64_t at) {
        if (variable.bytes == 0) return;
        regions[count++] = {variable.offset, base + at, variable.bytes};
        if (count == kCopiesAtOnce) flush();
    });
    flush();
    readback->snapshot = contents;
    *out = finish_readback(commands, *readback);
    return HEARTH_OK;
}

/// Zeroes the padding between a snapshot's tensors, which no copy writes.
void Session::clear_gaps(BrainContents contents, std::byte* snapshot) const {
    for_each_saved(*program_, contents, [&](const file::VariableRecord& variable, uint64_t at) {
        std::memset(snapshot + at + variable.bytes, 0,
                    align_brain_bytes(variable.bytes) - variable.bytes);
    });
}

hearth_result Session::record_brain(VkCommandBuffer commands, const BrainView& brain,
                                    hearth_brain_flags flags, gpu::Problems& problems) {
    if (const hearth_result r = check_transfer(commands, "load_brain"); r != HEARTH_OK) return r;
    if (!is_set_up()) return fail_without_setup("load_brain");
    if (const hearth_result r = check_brain(*program_, brain, flags, problems); r != HEARTH_OK)
        return fail_brain(r, problems);

    // Room for all tensors in the program's types, and for one as saved, to convert from.
    uint64_t most_converted = 0;
    Checked first_bytes = 0;  // of the variables that take their initial values
    const uint64_t held = for_each_match(
        *program_, brain,
        [&](const file::VariableRecord& variable, uint64_t, const file::BrainTensorRecord* tensor) {
            if (tensor == nullptr)
                first_bytes += align_brain_bytes(initial_values(view(), variable).size());
            else if (static_cast<DType>(tensor->dtype) != view().held_dtype(variable))
                most_converted = std::max(most_converted, tensor->bytes);
        });
    const bool is_saved_game = brain.contents() == BrainContents::kSavedGame;
    if (!is_saved_game)
        for_each_transient(view(), [&](const file::VariableRecord& variable) {
            first_bytes += align_brain_bytes(initial_values(view(), variable).size());
        });
    const Checked converted_at = Checked(held) + first_bytes;
    const Checked room = converted_at + most_converted;
    const int64_t segment =
        upload_ring_.allocate(std::max<uint64_t>(room.or_most(), 4), context_->frame_number(),
                              false, context_->completed_frame_number(), kBrainUpload);
    if (segment < 0)
        return fail(HEARTH_ERROR_TOO_MANY_IN_FLIGHT,
                    "brain: no room for %llu bytes in the upload ring; raise "
                    "hearth_session_create_info::upload_bytes or upload_count, or wait for frames "
                    "to complete",
                    wide(room.or_most()));
    const gpu::Buffer& staging = buffers_[kUploadBuffer];
    const uint64_t base = upload_ring_.segment(static_cast<size_t>(segment)).offset;
    const std::span<std::byte> saved(staging.mapped + base + converted_at.value(), most_converted);
    hearth_result result = HEARTH_OK;
    for_each_match(
        *program_, brain,
        [&](const file::VariableRecord& variable, uint64_t at,
            const file::BrainTensorRecord* tensor) {
            if (tensor == nullptr) return;
            const auto dtype = static_cast<DType>(tensor->dtype);
            const DType held_dtype = view().held_dtype(variable);
            const std::span<std::byte> place(staging.mapped + base + at, variable.bytes);
            const bool converts = dtype != held_dtype;
            const std::span<std::byte> decoded = converts ? saved.first(tensor->bytes) : place;
            if (!brain.decode(*tensor, initial_values(view(), variable), decoded)) {
                problems.add("the stored bytes of '%s' are damaged; load another copy of the file",
                             view().text(variable.name));
                result = HEARTH_ERROR_CORRUPT_DATA;
            } else if (converts) {
                convert(dtype, decoded, held_dtype, place);
                const bool is_checked = (flags & HEARTH_BRAIN_ALLOW_NON_FINITE) == 0;
                const int64_t lost = is_checked ? first_nonfinite(held_dtype, place) : -1;
                if (lost < 0) return;
                problems.add(
                    "'%s': element %lld does not fit into %s; save the brain with smaller values, "
                    "or load it where variables are f32",
                    view().text(variable.name), static_cast<long long>(lost),
                    name_of(held_dtype).data());
                result = result == HEARTH_OK ? HEARTH_ERROR_NON_FINITE : result;
            }
        });
    if (result != HEARTH_OK) return fail_brain(result, problems);

    abandon_slices();
    transfer_barrier(commands);
    uint64_t first_at = base + held;
    for_each_match(*program_, brain,
                   [&](const file::VariableRecord& variable, uint64_t at,
                       const file::BrainTensorRecord* tensor) {
                       if (tensor == nullptr) {
                           if (brain.contents() == BrainContents::kWeights)
                               first_at += record_initial_values(commands, variable, first_at);
                           return;
                       }
                       if (variable.bytes == 0) return;
                       const VkBufferCopy region{base + at, variable.offset, variable.bytes};
                       context_->device().vk().CmdCopyBuffer(
                           commands, staging.handle, buffers_[kWeightsBuffer].handle, 1, &region);
                   });
    if (!is_saved_game)
        for_each_transient(view(), [&](const file::VariableRecord& variable) {
            first_at += record_initial_values(commands, variable, first_at);
        });
    return HEARTH_OK;
}

/// Resets a variable to its initial value, through the upload ring's bytes from `at` on. Returns
/// the number of bytes used.
uint64_t Session::record_initial_values(VkCommandBuffer commands,
                                        const file::VariableRecord& variable, uint64_t at) {
    if (variable.bytes == 0) return 0;
    const gpu::DeviceFunctions& vk = context_->device().vk();
    const VkBuffer weights = buffers_[kWeightsBuffer].handle;
    const std::span<const std::byte> first = initial_values(view(), variable);
    if (first.empty()) {
        // Rounded up to words: variables begin at multiples of four, and so does the end of the
        // buffer.
        vk.CmdFillBuffer(commands, weights, variable.offset, (variable.bytes + 3) / 4 * 4, 0);
        return 0;
    }
    std::memcpy(buffers_[kUploadBuffer].mapped + at, first.data(), first.size());
    const VkBufferCopy region{at, variable.offset, variable.bytes};
    vk.CmdCopyBuffer(commands, buffers_[kUploadBuffer].handle, weights, 1, &region);
    return align_brain_bytes(first.size());
}

hearth_result Session::fail_brain(hearth_result result, const gpu::Problems& problems) {
    const char* text = problems.text.c_str();
    const auto first = static_cast<int>(std::min<size_t>(std::strcspn(text, "\n"), 400));
    if (problems.count == 1) return fail(result, "brain: %.*s", first, text);
    return fail(result, "brain: %.*s (and %u more problems)", first, text, problems.count - 1);
}

hearth_result Session::record_forget(VkCommandBuffer commands, const char* pattern,
                                     uint32_t* count) {
    if (const hearth_result r = check_transfer(commands, "reset_variables"); r != HEARTH_OK)
        return r;
    if (!is_set_up()) return fail_without_setup("reset_variables");
    const auto for_each_meant = [&](const auto& visit) {
        for (const file::VariableRecord& variable : view().variables())
            if (variable.kind != static_cast<uint32_t>(VariableKind::kConstant) &&
                (pattern == nullptr || matches(pattern, view().text_view(variable.name))))
                visit(variable);
    };
    uint32_t found = 0;
    uint64_t bytes = 0;
    for_each_meant([&](const file::VariableRecord& variable) {
        ++found;
        bytes += align_brain_bytes(initial_values(view(), variable).size());
    });
    if (found == 0)
        return fail(HEARTH_ERROR_NOT_FOUND,
                    "reset_variables: no param or state matches '%s'; hearth_program_get_variable "
                    "lists the names",
                    pattern != nullptr ? pattern : "*");
    uint64_t at = 0;
    if (bytes > 0) {
        const int64_t segment =
            upload_ring_.allocate(bytes, context_->frame_number(), false,
                                  context_->completed_frame_number(), kForgetUpload);
        if (segment < 0)
            return fail(HEARTH_ERROR_TOO_MANY_IN_FLIGHT,
                        "reset_variables: no room for %llu bytes in the upload ring; raise "
                        "hearth_session_create_info::upload_bytes or upload_count, or wait for "
                        "frames to complete",
                        wide(bytes));
        at = upload_ring_.segment(static_cast<size_t>(segment)).offset;
    } else {
        cleared_frame_number_ = context_->frame_number();
    }
    abandon_slices();
    transfer_barrier(commands);
    for_each_meant([&](const file::VariableRecord& variable) {
        at += record_initial_values(commands, variable, at);
    });
    if (count != nullptr) *count = found;
    return HEARTH_OK;
}

}  // namespace hearth::runtime
