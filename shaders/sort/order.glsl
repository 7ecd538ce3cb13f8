// SPDX-FileCopyrightText: 2026 The Hearth Authors
// SPDX-License-Identifier: MIT OR Apache-2.0

// The order of elements: by value, NaN as the largest, equal ones by place.  DESCENDING turns the
// values round, not the places.

bool value_precedes(float a, float b) {
    return DESCENDING ? a > b || (isnan(a) && !isnan(b)) : a < b || (isnan(b) && !isnan(a));
}
bool value_precedes(int a, int b) { return DESCENDING ? a > b : a < b; }
bool value_precedes(uint a, uint b) { return DESCENDING ? a > b : a < b; }
