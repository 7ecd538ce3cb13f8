// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Brain as a value type: loading, saving, comparing and merging, over the format of brain.hpp.

#include "core/bytes.hpp"
#include "program/brain.hpp"
#include "program/legacy_names.hpp"
#include "program/package.hpp"

#include <hearth/brain.hpp>

#include <algorithm>
#include <cmath>

namespace hearth {

namespace {

file::ShapeRecord to_record(const Shape& shape) {
    file::ShapeRecord record{};
    record.rank = static_cast<uint32_t>(shape.rank());
    for (int i = 0; i < shape.rank(); ++i) record.counts[i] = shape[i].count;
    return record;
}

/// Adapts a Brain to write_brain.
class ValueItems final : public BrainItems {
  public:
    ValueItems(const Brain& brain, const Brain* parent) : brain_(brain), parent_(parent) {}
    size_t count() const override { return brain_.tensors.size(); }
    BrainItem item(size_t index) const override {
        const BrainTensor& tensor = brain_.tensors[index];
        BrainItem item;
        item.name = tensor.name;
        item.kind = tensor.is_state ? VariableKind::kState : VariableKind::kParam;
        item.dtype = tensor.value.dtype();
        item.shape = to_record(tensor.value.shape());
        item.bytes = tensor.value.bytes();
        const BrainTensor* from = parent_ != nullptr ? parent_->find(tensor.name) : nullptr;
        if (from != nullptr && from->value.dtype() == tensor.value.dtype() &&
            from->value.shape() == tensor.value.shape()) {
            item.has_parent = true;
            item.parent = from->value.bytes();
        }
        return item;
    }

  private:
    const Brain& brain_;
    const Brain* parent_;
};

/// Copies bytes if they are not aligned for a view.
class Aligned {
  public:
    explicit Aligned(std::span<const std::byte> bytes) : bytes_(bytes) {
        if (reinterpret_cast<uintptr_t>(bytes.data()) % alignof(uint64_t) == 0) return;
        copy_.resize((bytes.size() + 7) / 8);
        std::memcpy(copy_.data(), bytes.data(), bytes.size());
        bytes_ = std::as_bytes(std::span(copy_)).first(bytes.size());
    }
    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    std::vector<uint64_t> copy_;
    std::span<const std::byte> bytes_;
};

Status to_status(const ViewError& error) {
    return {error.code, error.text.c_str()};
}

/// Reports the first tensor with a non-finite element: "brain: 'w': element 3 is NaN or infinite".
Status check_finite(const Brain& brain) {
    for (const BrainTensor& t : brain.tensors)
        if (const int64_t at = first_nonfinite(t.value.dtype(), t.value.bytes()); at >= 0)
            return invalid_argument(
                "brain: " + quoted(t.name) + ": element " + std::to_string(at) +
                " is NaN or infinite; reset it, or accept it by NonFinite::kAllow");
    return {};
}

Result<Brain> shipped_in(const ProgramView& view, uint64_t most_bytes) {
    Checked total;
    for (const file::VariableRecord& variable : view.variables())
        if (variable.kind != static_cast<uint32_t>(VariableKind::kConstant))
            total += variable.bytes;
    if (!total.is_within(most_bytes))
        return out_of_range("program: its params and states take " +
                            std::to_string(total.or_most()) + " bytes, at most " +
                            std::to_string(most_bytes) + " are allowed");
    Brain brain;
    brain.graph_hash = view.header().graph_hash;
    brain.schema_hash = brain_schema_hash(view);
    brain.base_hash = brain_parent_hash(view);
    for (const file::VariableRecord& variable : view.variables()) {
        if (!is_learned(static_cast<VariableKind>(variable.kind))) continue;
        BrainTensor tensor;
        tensor.name = view.text_view(variable.name);
        tensor.is_state = variable.kind == static_cast<uint32_t>(VariableKind::kState);
        tensor.value = HostTensor(view.held_dtype(variable), to_shape(variable.shape));
        const std::span<const std::byte> first = initial_values(view, variable);
        if (!first.empty()) std::copy(first.begin(), first.end(), tensor.value.bytes().begin());
        brain.tensors.push_back(std::move(tensor));
    }
    std::sort(brain.tensors.begin(), brain.tensors.end(),
              [](const BrainTensor& a, const BrainTensor& b) { return a.name < b.name; });
    return brain;
}

Status check_same(const Brain& a, const Brain& b) {
    if (a.schema_hash != b.schema_hash || a.user_schema_hash != b.user_schema_hash)
        return invalid_argument(
            "average_brains: the brains have different schemas; average brains of one program");
    if (a.graph_hash != b.graph_hash)
        return invalid_argument(
            "average_brains: the brains are of different graphs; average brains of one program");
    if (a.tensors.size() != b.tensors.size())
        return invalid_argument("average_brains: the brains have " +
                                std::to_string(a.tensors.size()) + " and " +
                                std::to_string(b.tensors.size()) + " tensors");
    for (size_t i = 0; i < a.tensors.size(); ++i) {
        const BrainTensor &x = a.tensors[i], &y = b.tensors[i];
        if (x.name != y.name || x.is_state != y.is_state || x.value.dtype() != y.value.dtype() ||
            x.value.shape() != y.value.shape())
            return invalid_argument("average_brains: '" + x.name + "' in one brain, '" + y.name +
                                    "' of another type or shape in the other");
    }
    return {};
}

TensorDiff compare(const BrainTensor& a, const BrainTensor& b) {
    TensorDiff d{.name = a.name};
    d.element_count = a.value.element_count();
    if (a.is_state != b.is_state || a.value.dtype() != b.value.dtype() ||
        a.value.shape() != b.value.shape()) {
        d.kind = TensorDiff::Kind::kTypeChanged;
        return d;
    }
    const size_t element = size_bytes(a.value.dtype());
    double squares = 0, own_squares = 0;
    for (int64_t i = 0; i < d.element_count; ++i) {
        const auto at = static_cast<size_t>(i) * element;
        if (std::memcmp(a.value.bytes().data() + at, b.value.bytes().data() + at, element) != 0)
            ++d.changed_count;
        const double x = a.value.get(i), apart = b.value.get(i) - x;
        if (!std::isfinite(apart)) continue;
        d.max_abs_diff = std::max(d.max_abs_diff, std::abs(apart));
        squares += apart * apart;
        own_squares += x * x;
    }
    if (d.changed_count > 0) d.kind = TensorDiff::Kind::kChanged;
    if (d.element_count > 0) d.rms_diff = std::sqrt(squares / static_cast<double>(d.element_count));
    if (own_squares > 0) d.relative_rms = std::sqrt(squares / own_squares);
    return d;
}

/// The base's hash with the names that its tensors have in the brain.
uint64_t hash_as_in(const BrainView& brain, const Brain& base) {
    uint64_t sum = 0;
    for (const BrainTensor& t : base.tensors) {
        const AliasName alias = alias_of_variable(t.name);
        const bool has_alias = brain.find(t.name) == nullptr && brain.find(alias.view()) != nullptr;
        sum += brain_tensor_hash(has_alias ? alias.view() : std::string_view(t.name),
                                 t.value.dtype(), t.value.bytes());
    }
    return sum;
}

BrainTensor* find_named(std::vector<BrainTensor>& tensors, std::string_view name) {
    const auto at =
        std::lower_bound(tensors.begin(), tensors.end(), name,
                         [](const BrainTensor& t, std::string_view n) { return t.name < n; });
    return at != tensors.end() && at->name == name ? &*at : nullptr;
}

}  // namespace

BrainTensor* Brain::find(std::string_view name) {
    BrainTensor* const found = find_named(tensors, name);
    return found != nullptr ? found : find_named(tensors, alias_of_variable(name).view());
}

const BrainTensor* Brain::find(std::string_view name) const {
    return const_cast<Brain*>(this)->find(name);
}

Result<Brain> initial_brain(std::span<const std::byte> package_or_program, uint64_t max_bytes) {
    if (max_bytes == 0) max_bytes = default_tensor_bytes(package_or_program.size());
    const Aligned aligned(package_or_program);
    ViewError error;
    if (is_package(aligned.bytes())) {
        PackageView package;
        if (!package.open(aligned.bytes(), &error)) return to_status(error);
        HEARTH_ASSIGN(const OpenProgram program, open_program(package, 0));
        return shipped_in(program.view, max_bytes);
    }
    ProgramView program;
    if (!program.open(aligned.bytes(), &error)) return to_status(error);
    return shipped_in(program, max_bytes);
}

uint64_t hash_of(const Brain& initial) {
    uint64_t sum = 0;
    for (const BrainTensor& t : initial.tensors)
        sum += brain_tensor_hash(t.name, t.value.dtype(), t.value.bytes());
    return sum;
}

Result<Brain> load_brain(std::span<const std::byte> bytes, const Brain* base, uint64_t max_bytes,
                         NonFinite non_finite) {
    if (max_bytes == 0) {
        max_bytes = default_tensor_bytes(bytes.size());
        if (base != nullptr)
            for (const BrainTensor& t : base->tensors) max_bytes += t.value.bytes().size();
    }
    const Aligned aligned(bytes);
    BrainView view;
    ViewError error;
    if (!view.open(aligned.bytes(), &error)) return to_status(error);
    if (view.is_delta()) {
        if (base == nullptr)
            return invalid_argument(
                "brain: it is a delta; give the initial brain of the program that it was saved by");
        const uint64_t expected = view.header().parent_hash;
        if (hash_of(*base) != expected && hash_as_in(view, *base) != expected)
            return invalid_argument(
                "brain: it is a delta from another initial brain than the one given; give that of "
                "the program that it was saved by");
    }
    Brain brain;
    brain.graph_hash = view.header().graph_hash;
    brain.schema_hash = view.header().schema_hash;
    brain.base_hash = view.header().parent_hash;
    brain.user_schema_hash = view.header().host_schema_hash;
    brain.user_data.assign(view.host_data().begin(), view.host_data().end());
    for (const file::BrainTensorRecord& t : view.tensors()) {
        if (t.bytes > max_bytes)
            return out_of_range(
                "brain: " + quoted(view.name(t)) + " takes " + std::to_string(t.bytes) +
                " bytes in memory, and only " + std::to_string(max_bytes) +
                " of the allowed bytes are left; raise max_bytes if you trust the file");
        max_bytes -= t.bytes;
        BrainTensor tensor;
        tensor.name = view.name(t);
        tensor.is_state = t.kind == static_cast<uint32_t>(VariableKind::kState);
        const BrainTensor* from = base != nullptr ? base->find(tensor.name) : nullptr;
        const auto encoding = static_cast<file::BrainEncoding>(t.encoding);
        const bool needs_parent =
            encoding == file::BrainEncoding::kParent || encoding == file::BrainEncoding::kDelta;
        if (needs_parent && (from == nullptr || from->value.bytes().size() != t.bytes))
            return corrupt_data("brain: the initial brain has no '" + tensor.name +
                                "' of that size");
        tensor.value = HostTensor(static_cast<DType>(t.dtype), to_shape(t.shape));
        if (!view.decode(t, from != nullptr ? from->value.bytes() : std::span<const std::byte>(),
                         tensor.value.bytes()))
            return corrupt_data("brain: the stored bytes of '" + tensor.name +
                                "' are damaged; load another copy of the file");
        brain.tensors.push_back(std::move(tensor));
    }
    if (non_finite == NonFinite::kReject) HEARTH_TRY(check_finite(brain));
    return brain;
}

Result<std::vector<std::byte>> save_brain(const Brain& brain, const Brain* base,
                                          NonFinite non_finite) {
    if (non_finite == NonFinite::kReject) HEARTH_TRY(check_finite(brain));
    const ValueItems items(brain, base);
    std::vector<std::byte> out(brain_bound(items, brain.user_data.size()));
    const BrainIdentity identity{brain.graph_hash, brain.schema_hash,
                                 base != nullptr ? hash_of(*base) : brain.base_hash,
                                 brain.user_schema_hash};
    out.resize(write_brain(items, identity, brain.user_data, out));
    return out;
}

Result<Brain> average_brains(std::span<const Brain> brains, std::span<const double> weights) {
    if (brains.empty() || brains.size() != weights.size())
        return invalid_argument(
            "average_brains: expected one or more brains and one weight for each");
    double sum = 0;
    for (double w : weights) {
        if (!std::isfinite(w) || w < 0)
            return invalid_argument("average_brains: weights must be finite and at least 0");
        sum += w;
    }
    if (sum <= 0)
        return invalid_argument(
            "average_brains: the weights sum to zero; at least one must be positive");
    for (const Brain& brain : brains.subspan(1)) HEARTH_TRY(check_same(brains[0], brain));
    Brain merged = brains[0];
    for (size_t t = 0; t < merged.tensors.size(); ++t) {
        HostTensor& value = merged.tensors[t].value;
        if (!is_floating(value.dtype())) continue;
        for (int64_t i = 0; i < value.element_count(); ++i) {
            double mean = 0;
            for (size_t b = 0; b < brains.size(); ++b)
                if (weights[b] > 0) mean += weights[b] * brains[b].tensors[t].value.get(i);
            value.set(i, mean / sum);
        }
    }
    return merged;
}

std::vector<TensorDiff> diff_brains(const Brain& a, const Brain& b) {
    using Kind = TensorDiff::Kind;
    std::vector<TensorDiff> all;
    for (const BrainTensor& t : a.tensors) {
        const BrainTensor* other = b.find(t.name);
        all.push_back(other != nullptr ? compare(t, *other)
                                       : TensorDiff{.name = t.name, .kind = Kind::kMissing});
    }
    for (const BrainTensor& t : b.tensors)
        if (a.find(t.name) == nullptr)
            all.push_back(TensorDiff{.name = t.name, .kind = Kind::kAdded});
    std::sort(all.begin(), all.end(),
              [](const TensorDiff& x, const TensorDiff& y) { return x.name < y.name; });
    return all;
}

Result<size_t> reset_to_initial(Brain& brain, const Brain& initial, std::string_view pattern) {
    size_t count = 0;
    for (const BrainTensor& tensor : brain.tensors) {
        if (!matches(pattern, tensor.name)) continue;
        const BrainTensor* from = initial.find(tensor.name);
        if (from == nullptr || from->value.dtype() != tensor.value.dtype() ||
            from->value.shape() != tensor.value.shape())
            return invalid_argument("reset_to_initial: the initial brain has no '" + tensor.name +
                                    "' of that type and shape; give the one of its own program");
        ++count;
    }
    if (count == 0)
        return not_found("reset_to_initial: no param or state matches '" + std::string(pattern) +
                         "'");
    for (BrainTensor& tensor : brain.tensors)
        if (matches(pattern, tensor.name)) tensor.value = initial.find(tensor.name)->value;
    return count;
}

}  // namespace hearth
