// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Encodes observations as network inputs: rotations, one-hot codes, normalization and sets.

#include <hearth/agents/distribution.hpp>
#include <hearth/nn.hpp>
#include <hearth/ops.hpp>

#include <limits>

namespace hearth::agents {

namespace {

constexpr double kFarthest = 1e4;

/// Location of a set's elements and of their count in a frame.
struct SetPlace {
    const Field* field = nullptr;
    std::string path;
    int64_t begin = 0;  ///< in a frame
};

Tensor columns(const Tensor& x, int64_t begin, int64_t width) {
    return slice(x, -1, begin, begin + width);
}

/// The first two columns of the quaternion's rotation matrix.  q: [..., 4], x, y, z, w.
Tensor rotation_columns(const Tensor& q) {
    const Tensor unit = lp_normalize(q, {-1}, 2, 1e-6);
    const Tensor x = columns(unit, 0, 1), y = columns(unit, 1, 1), z = columns(unit, 2, 1),
                 w = columns(unit, 3, 1);
    const auto twice = [](const Tensor& t) { return t * 2.0; };
    return concat({1.0 - twice(y * y + z * z), twice(x * y + z * w), twice(x * z - y * w),
                   twice(x * y - z * w), 1.0 - twice(x * x + z * z), twice(y * z + x * w)},
                  -1);
}

/// Appends the encoding of fields to `out`, each [..., width].  raw: [..., raw width].
void encode_list(const Tensor& raw, std::span<const Field> list, std::vector<Tensor>& out) {
    int64_t at = 0;
    for (const Field& f : list) {
        const Tensor own = columns(raw, at, f.raw_size());
        at += f.raw_size();
        switch (f.kind) {
            case FieldKind::kBox:
            case FieldKind::kPosition: {
                const double middle = (f.range.low + f.range.high) / 2;
                const double scale = 2 / (f.range.high - f.range.low);
                const Tensor centred = middle == 0 ? own : own - middle;
                out.push_back(scale == 1 ? centred : centred * scale);
                break;
            }
            case FieldKind::kDiscrete:
                // An index out of range matches none, whatever integer it would be cast to.
                out.push_back(
                    cast(equal(round(own), cast(arange(*own.trace(), {f.count}), own.dtype())),
                         own.dtype()));
                break;
            case FieldKind::kUnitVector:
                out.push_back(lp_normalize(own, {-1}, 2, 1e-6));
                break;
            case FieldKind::kAngle:
                out.push_back(sin(own));
                out.push_back(cos(own));
                break;
            case FieldKind::kQuaternion:
                out.push_back(rotation_columns(own));
                break;
            case FieldKind::kDict:
                encode_list(own, f.fields, out);
                break;
            case FieldKind::kArray: {
                const int64_t width = own.dim(-1).count / f.count;
                for (int64_t i = 0; i < f.count; ++i)
                    encode_list(columns(own, i * width, width), f.fields, out);
                break;
            }
            case FieldKind::kEntities:
                break;
        }
    }
}

void find_sets(std::span<const Field> list, const std::string& path, int64_t begin,
               std::vector<SetPlace>& out) {
    for (const Field& f : list) {
        const std::string own = path.empty() ? f.name : path + "." + f.name;
        if (f.kind == FieldKind::kEntities) out.push_back({&f, own, begin});
        if (f.kind == FieldKind::kDict) find_sets(f.fields, own, begin, out);
        begin += f.raw_size();
    }
}

void mark_normalized(std::span<const Field> list, std::vector<float>& out) {
    for (const Field& f : list) {
        if (f.kind == FieldKind::kDict || f.kind == FieldKind::kArray) {
            for (int64_t i = 0; i < f.count; ++i) mark_normalized(f.fields, out);
        } else {
            out.insert(out.end(), static_cast<size_t>(f.encoded_size()),
                       f.normalized ? 1.0f : 0.0f);
        }
    }
}

/// True where x is finite and small enough for sines and squares.
Tensor sound(const Tensor& x) {
    const Tensor is_finite =
        less_equal(abs(x), static_cast<double>(std::numeric_limits<float>::max()));
    return clamp(where(is_finite, x, 0.0), -1e6, 1e6);
}

Tensor joined(std::vector<Tensor> parts) {
    return parts.size() == 1 ? parts[0] : concat(parts, -1);
}

/// relu(linear(element)), pooled by mean and maximum over the elements that are present.
Tensor pooled(Trace& trace, const std::string& name, const Field& set, const Tensor& frame,
              int64_t begin, const EncodeOptions& options) {
    int64_t width = 0;
    for (const Field& f : set.fields) width += f.raw_size();
    const Tensor how_many = columns(frame, begin, 1);
    const Tensor raw = columns(frame, begin + 1, set.count * width);
    Shape shape{frame.dim(0), set.count, width};
    std::vector<Tensor> parts;
    encode_list(reshape(raw, shape), set.fields, parts);
    const Tensor elements = clamp(joined(std::move(parts)), -options.clip, options.clip);
    const Tensor hidden = relu(nn::linear(trace, name, elements, options.entity_features,
                                          {.init = nn::WeightInit::kOrthogonal}));
    // [rows, capacity, 1]: 1 for present elements.  relu is never below the zero of absent ones.
    const Tensor places = cast(arange(trace, {set.count}), frame.dtype());
    const Tensor is_there = unsqueeze(cast(less(places, how_many), frame.dtype()), {-1});
    const Tensor seen = hidden * is_there;
    const Tensor count = maximum(clamp(how_many, 0, static_cast<double>(set.count)), 1.0);
    return concat({sum(seen, {1}) / count, max(seen, {1})}, -1);
}

}  // namespace

Tensor encode_frame(const AgentSpec& schema, const Tensor& frame) {
    if (!frame.ok()) return frame;
    std::vector<Tensor> parts;
    encode_list(sound(frame), schema.observations(), parts);
    if (parts.empty()) return slice(frame, -1, 0, 0);
    return clamp(joined(std::move(parts)), -kFarthest, kFarthest);
}

Tensor normalized_mask(Trace& trace, const AgentSpec& schema) {
    std::vector<float> marks;
    mark_normalized(schema.observations(), marks);
    return trace.constant(HostTensor::of({static_cast<int64_t>(marks.size())}, marks));
}

Tensor normalize_frame(const AgentSpec& schema, const Tensor& frame,
                       const RunningMeanStd& normalizer) {
    const Tensor seen = encode_frame(schema, frame);
    if (!seen.ok() || !normalizer.mean.ok()) return seen;
    const Tensor is_normalized = greater(normalized_mask(*seen.trace(), schema), 0);
    const Tensor scaled = (seen - normalizer.mean) * rsqrt(normalizer.variance + 1e-8);
    return where(is_normalized, scaled, seen);
}

Tensor encode(Trace& trace, std::string_view prefix, const AgentSpec& schema,
              const Tensor& observation, const EncodeOptions& options) {
    if (!observation.ok()) return observation;
    if (!schema.status().ok()) {
        trace.fail(schema.status());
        return {};
    }
    if (observation.rank() != 2 || observation.dim(1) != Dim(schema.observation_size())) {
        trace.fail(invalid_argument("encode: observation is " + to_string(observation.shape()) +
                                    ", expected [batch, " +
                                    std::to_string(schema.observation_size()) + "]"));
        return {};
    }
    int64_t encoded_width = 0;
    for (const Field& f : schema.observations()) encoded_width += f.encoded_size();
    std::vector<Tensor> parts;
    for (int64_t i = 0; i < schema.frame_stack() && encoded_width > 0; ++i) {
        const Tensor frame = columns(observation, i * schema.frame_size(), schema.frame_size());
        const Tensor seen = normalize_frame(schema, frame, options.normalizer);
        parts.push_back(clamp(seen, -options.clip, options.clip));
    }
    std::vector<SetPlace> sets;
    find_sets(schema.observations(), "", 0, sets);
    const Tensor newest = sound(columns(observation, 0, schema.frame_size()));
    for (const SetPlace& s : sets)
        parts.push_back(pooled(trace, nn::join_name(prefix, "sets." + s.path), *s.field, newest,
                               s.begin, options));
    return joined(std::move(parts));
}

}  // namespace hearth::agents
