/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

/* The digits network for page/digits.js. */

#include "digits.h"
#include "page.h"

PAGE_CLASSIFIER(DIGITS, digits, digit, 64)
