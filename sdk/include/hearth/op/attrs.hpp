// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// Named, typed attributes of a node: data that can be hashed, compared, printed and saved.

#pragma once

#include <hearth/core/cpp20.hpp>
#include <hearth/core/hash.hpp>
#include <hearth/types.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace hearth {

/// Never held.  Without this alternative libstdc++ 12 assumes that AttrValue is never valueless,
/// and destroys a value that does not exist when a copy runs out of memory.
struct NoAttrValue {
    NoAttrValue(const NoAttrValue&) {}
    NoAttrValue& operator=(const NoAttrValue&) { return *this; }
    friend bool operator==(const NoAttrValue&, const NoAttrValue&) { return true; }
};

using AttrValue = std::variant<int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, DType, Shape, NoAttrValue>;

struct Attr {
    std::string name = {};
    AttrValue value = {};
    friend bool operator==(const Attr&, const Attr&) = default;
};

/// A node's attributes, sorted by name, so that equal sets compare and hash equal.
class Attrs {
  public:
    Attrs() = default;
    Attrs(std::initializer_list<Attr> list) {
        for (const Attr& a : list) set(a.name, a.value);
    }
    /// In any order; the last of equal names wins.
    explicit Attrs(std::vector<Attr> list);

    void set(std::string_view name, AttrValue value);
    const AttrValue* find(std::string_view name) const;
    bool has(std::string_view name) const { return find(name) != nullptr; }

    /// The value; the attribute must exist with that type (OpDef's table guarantees it).
    int64_t integer(std::string_view name) const;
    bool flag(std::string_view name) const { return integer(name) != 0; }
    double real(std::string_view name) const;
    const std::string& text(std::string_view name) const;
    const std::vector<int64_t>& integers(std::string_view name) const;
    const std::vector<double>& floats(std::string_view name) const;
    DType dtype(std::string_view name) const;
    const Shape& shape(std::string_view name) const;

    std::span<const Attr> all() const { return list_; }
    friend bool operator==(const Attrs&, const Attrs&) = default;

  private:
    std::vector<Attr> list_;
};

void add_to(Hash& hash, const Attrs& attrs);
std::string to_string(const AttrValue& value);
/// "axis=1 keep=0", in name order.
std::string to_string(const Attrs& attrs);

}  // namespace hearth
