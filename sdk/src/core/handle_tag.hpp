// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

#pragma once

#include <cstdint>

namespace hearth {

/// First base of what a handle of the C interface points to: a handle of another kind, or of
/// something freed, is recognized in most cases.  It cannot be in all: what is freed may be anything.
template <uint32_t Kind>
class HandleTag {
  public:
    bool is_intact() const { return tag_ == Kind; }

  protected:
    HandleTag() = default;
    ~HandleTag() { tag_ = 0; }

  private:
    volatile uint32_t tag_ = Kind;  // volatile: nobody may drop the last write
};

}  // namespace hearth
