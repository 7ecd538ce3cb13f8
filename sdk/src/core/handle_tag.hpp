// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <cstdint>

namespace hearth {

/// First base class of objects behind C handles: detects most handles of another kind or of a freed
/// object.  It cannot detect all: freed memory may hold anything.
template <uint32_t Kind>
class HandleTag {
  public:
    bool is_intact() const { return tag_ == Kind; }

  protected:
    HandleTag() = default;
    ~HandleTag() { tag_ = 0; }

  private:
    volatile uint32_t tag_ = Kind;  // volatile: keeps the store in the destructor
};

}  // namespace hearth
