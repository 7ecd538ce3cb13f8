// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Stores, hashes and prints the attributes of nodes.

#include <hearth/core/assert.hpp>
#include <hearth/op/attrs.hpp>

#include <algorithm>
#include <bit>
#include <cstdio>

namespace hearth {

namespace {

template <class T>
const T& get(const Attrs& attrs, std::string_view name) {
    const AttrValue* value = attrs.find(name);
    HEARTH_ASSERT(value != nullptr && std::holds_alternative<T>(*value));
    return *std::get_if<T>(value);
}

std::string to_text(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", value);
    return text;
}

}  // namespace

Attrs::Attrs(std::vector<Attr> list) {
    std::stable_sort(list.begin(), list.end(),
                     [](const Attr& a, const Attr& b) { return a.name < b.name; });
    for (Attr& a : list) {
        if (!list_.empty() && list_.back().name == a.name)
            list_.back().value = std::move(a.value);
        else
            list_.push_back(std::move(a));
    }
}

void Attrs::set(std::string_view name, AttrValue value) {
    auto at = std::lower_bound(list_.begin(), list_.end(), name,
                               [](const Attr& a, std::string_view n) { return a.name < n; });
    if (at != list_.end() && at->name == name)
        at->value = std::move(value);
    else
        list_.insert(at, {std::string(name), std::move(value)});
}

const AttrValue* Attrs::find(std::string_view name) const {
    const auto at = std::lower_bound(list_.begin(), list_.end(), name,
                                     [](const Attr& a, std::string_view n) { return a.name < n; });
    return at != list_.end() && at->name == name ? &at->value : nullptr;
}

int64_t Attrs::integer(std::string_view name) const {
    return get<int64_t>(*this, name);
}
double Attrs::real(std::string_view name) const {
    return get<double>(*this, name);
}
const std::string& Attrs::text(std::string_view name) const {
    return get<std::string>(*this, name);
}
const std::vector<int64_t>& Attrs::integers(std::string_view name) const {
    return get<std::vector<int64_t>>(*this, name);
}
const std::vector<double>& Attrs::floats(std::string_view name) const {
    return get<std::vector<double>>(*this, name);
}
DType Attrs::dtype(std::string_view name) const {
    return get<DType>(*this, name);
}
const Shape& Attrs::shape(std::string_view name) const {
    return get<Shape>(*this, name);
}

void add_to(Hash& hash, const Attrs& attrs) {
    hash.number(attrs.all().size());
    for (const Attr& a : attrs.all()) {
        hash.text(a.name).number(a.value.index());
        if (const auto* i = std::get_if<int64_t>(&a.value)) hash.number(*i);
        if (const auto* d = std::get_if<double>(&a.value)) hash.number(std::bit_cast<uint64_t>(*d));
        if (const auto* s = std::get_if<std::string>(&a.value)) hash.text(*s);
        if (const auto* list = std::get_if<std::vector<int64_t>>(&a.value)) {
            hash.number(list->size());
            for (int64_t v : *list) hash.number(v);
        }
        if (const auto* list = std::get_if<std::vector<double>>(&a.value)) {
            hash.number(list->size());
            for (double v : *list) hash.number(std::bit_cast<uint64_t>(v));
        }
        if (const auto* t = std::get_if<DType>(&a.value)) hash.number(static_cast<int>(*t));
        if (const auto* shape = std::get_if<Shape>(&a.value)) {
            hash.number(shape->rank());
            for (Dim d : shape->dims()) hash.number(d.count).number(d.is_batch ? 1 : 0);
        }
    }
}

std::string to_string(const AttrValue& value) {
    if (const auto* i = std::get_if<int64_t>(&value)) return std::to_string(*i);
    if (const auto* d = std::get_if<double>(&value)) return to_text(*d);
    if (const auto* s = std::get_if<std::string>(&value)) return '"' + *s + '"';
    if (const auto* t = std::get_if<DType>(&value)) return std::string(name_of(*t));
    if (const auto* shape = std::get_if<Shape>(&value)) return to_string(*shape);
    std::string text = "(";
    if (const auto* list = std::get_if<std::vector<int64_t>>(&value))
        for (int64_t v : *list) text += (text.size() > 1 ? ", " : "") + std::to_string(v);
    if (const auto* list = std::get_if<std::vector<double>>(&value))
        for (double v : *list) text += (text.size() > 1 ? ", " : "") + to_text(v);
    return text + ")";
}

std::string to_string(const Attrs& attrs) {
    std::string text;
    for (const Attr& a : attrs.all())
        text += (text.empty() ? "" : " ") + a.name + "=" + to_string(a.value);
    return text;
}

}  // namespace hearth
