// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Encodes observations as network inputs: rotations, one-hot codes, normalization and sets.

#include "model/agents/parts.hpp"

#include <hearth/nn.hpp>

#include <limits>

namespace hearth::agents {

namespace {

/// Beyond it an f32 does not tell directions apart.
constexpr double kFarthestAngle = 1e6;
/// A spread of less than eight units in the last place of a value this far from its field's range
/// hides the value's changes.
constexpr double kFewUnits = 0x1p-20, kFarFromRange = 1000;

/// Location of a set's elements and of their count in a frame.
struct SetPlace {
    const Field* field = nullptr;
    std::string path;
    int64_t begin = 0;  ///< in a frame
};

Tensor columns(const Tensor& x, int64_t begin, int64_t width) {
    return slice(x, -1, begin, begin + width);
}

Tensor joined(const std::vector<Tensor>& parts) {
    return parts.size() == 1 ? parts[0] : concat(parts, -1);
}

double scale_of(const Field& f) {
    return 2 / (f.range.high - f.range.low);
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
                const double scale = scale_of(f);
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
            case FieldKind::kAngle: {
                const Tensor angle = clamp(own, -kFarthestAngle, kFarthestAngle);
                out.push_back(sin(angle));
                out.push_back(cos(angle));
                break;
            }
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

/// Finite values whose squares can be summed.
Tensor sound(const Tensor& x) {
    return clamp(where(is_finite(x), x, 0.0), -kFarthest, kFarthest);
}

Tensor bounded(const Tensor& x) {
    return clamp(x, -kFarthest, kFarthest);
}

Tensor standardized(const Tensor& encoded, const RunningMeanStd& normalizer) {
    return (encoded - normalizer.mean) * rsqrt(normalizer.variance + 1e-8);
}

Tensor is_normalized(Trace& trace, const AgentSpec& schema) {
    return greater(normalized_mask(trace, schema), 0);
}

/// How the elements of a frame are encoded and bounded, one value each.  Elements that are not
/// encoded one by one keep their values, and are not normalized.
struct RawElements {
    std::vector<double> middle, scale, bound, is_normalized;
    std::vector<double> encoded;  ///< index in the encoded frame

    void add(std::span<const Field> list, int64_t& encoded_index) {
        for (const Field& f : list) {
            if (f.kind == FieldKind::kDict || f.kind == FieldKind::kArray) {
                for (int64_t i = 0; i < f.count; ++i) add(f.fields, encoded_index);
                continue;
            }
            const bool is_single = f.kind == FieldKind::kBox || f.kind == FieldKind::kPosition;
            for (int64_t i = 0; i < f.raw_size(); ++i) {
                middle.push_back(is_single ? (f.range.low + f.range.high) / 2 : 0);
                scale.push_back(is_single ? scale_of(f) : 1);
                bound.push_back(f.kind == FieldKind::kAngle ? kFarthestAngle : kFarthest);
                is_normalized.push_back(is_single && f.normalized ? 1 : 0);
                encoded.push_back(is_single ? static_cast<double>(encoded_index + i) : 0);
            }
            encoded_index += f.encoded_size();
        }
    }
};

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
    const Tensor elements = bounded(joined(parts));
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
    return bounded(joined(parts));
}

Tensor normalized_mask(Trace& trace, const AgentSpec& schema) {
    std::vector<float> marks;
    mark_normalized(schema.observations(), marks);
    return trace.constant(HostTensor::of({static_cast<int64_t>(marks.size())}, marks));
}

Tensor normalize_frame(const AgentSpec& schema, const Tensor& frame,
                       const RunningMeanStd& normalizer, double clip) {
    const Tensor seen = encode_frame(schema, frame);
    if (!seen.ok() || !normalizer.mean.ok()) return seen;
    return where(is_normalized(*seen.trace(), schema),
                 clamp(standardized(seen, normalizer), -clip, clip), seen);
}

LimitedElements elements_at_limit(const AgentSpec& schema, const Tensor& frame,
                                  const RunningMeanStd& normalizer, double clip) {
    if (!frame.ok()) return {frame, frame};
    RawElements elements;
    int64_t encoded_size = 0;
    elements.add(schema.observations(), encoded_size);
    Trace& trace = *frame.trace();
    const auto of_each = [&](const std::vector<double>& values, DType dtype = DType::kF32) {
        return trace.constant(HostTensor::of({schema.frame_size()}, values, dtype));
    };
    const Tensor scale = of_each(elements.scale);
    const Tensor encoded = (frame - of_each(elements.middle)) * scale;
    Tensor limited =
        logical_or(greater(abs(frame), of_each(elements.bound)), greater(abs(encoded), kFarthest));
    if (!normalizer.mean.ok()) return {number(limited), number(limited) * 0.0};
    const Tensor index = of_each(elements.encoded, DType::kI32);
    const RunningMeanStd own{take(normalizer.mean, index), take(normalizer.variance, index)};
    const Tensor is_normalized = greater(of_each(elements.is_normalized), 0);
    // Near a mean that is far away: before there are statistics, the mean is zero.
    const Tensor size = abs(frame) * scale;
    const Tensor is_near = less(abs(encoded - own.mean), size * 0.5);
    limited = logical_or(
        limited, logical_and(is_normalized, greater(abs(standardized(encoded, own)), clip)));
    const Tensor unresolved = logical_and(logical_and(greater(size, kFarFromRange), is_near),
                                          greater(size * kFewUnits, sqrt(own.variance)));
    return {number(limited), number(logical_and(is_normalized, unresolved))};
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
        parts.push_back(normalize_frame(schema, frame, options.normalizer, options.clip));
    }
    std::vector<SetPlace> sets;
    find_sets(schema.observations(), "", 0, sets);
    const Tensor newest = sound(columns(observation, 0, schema.frame_size()));
    for (const SetPlace& s : sets)
        parts.push_back(pooled(trace, nn::join_name(prefix, "sets." + s.path), *s.field, newest,
                               s.begin, options));
    return joined(parts);
}

}  // namespace hearth::agents
