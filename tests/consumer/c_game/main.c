/* SPDX-FileCopyrightText: 2026 The Hearth Authors
 * SPDX-License-Identifier: MIT OR Apache-2.0
 */

#include <hearth/hearth.h>

#include <stdio.h>

int main(void) {
    /* Not more than a game's start, but it needs what creates contexts to be linked. */
    hearth_context_create_info info = hearth_context_create_info_default();
    hearth_context* context = NULL;
    static hearth_messages report;
    if (hearth_context_create(&info, &context, &report) == HEARTH_OK) return 1;
    puts(hearth_build_info());
    return 0;
}
