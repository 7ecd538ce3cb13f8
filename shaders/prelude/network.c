/* SPDX-FileCopyrightText: 2026 The Hearth Authors
   SPDX-License-Identifier: MIT OR Apache-2.0 */

/* -------------------------------------------------------------------------------- errors */

typedef struct {
    hearth_c_error* error;
    size_t at;
} hearth_text;

HEARTH_FUNCTION void hearth_add(hearth_text* text, const char* add, size_t count) {
    if (text->error == 0) return;
    for (size_t i = 0; i < count && text->at + 1 < sizeof text->error->text; ++i) {
        const char c = add[i];
        text->error->text[text->at++] = (unsigned char)c < 32 ? '?' : c;
    }
    text->error->text[text->at] = 0;
}
HEARTH_FUNCTION void hearth_add_text(hearth_text* text, const char* add) {
    size_t count = 0;
    while (add[count] != 0) ++count;
    hearth_add(text, add, count);
}
HEARTH_FUNCTION void hearth_add_number(hearth_text* text, uint64_t number) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    hearth_add(text, digits + at, sizeof digits - at);
}
HEARTH_FUNCTION void hearth_add_hash(hearth_text* text, uint64_t hash) {
    for (int shift = 60; shift >= 0; shift -= 4)
        hearth_add(text, &"0123456789abcdef"[hash >> shift & 15], 1);
}
HEARTH_FUNCTION hearth_text hearth_say(hearth_c_error* error, const char* what) {
    hearth_text text = {error, 0};
    hearth_add_text(&text, what);
    return text;
}
HEARTH_FUNCTION hearth_c_result hearth_refuse(hearth_c_error* error, hearth_c_result result,
                                              const char* what) {
    hearth_say(error, what);
    return result;
}
/* "WHAT has FOUND bytes, expected at least LEAST" */
HEARTH_FUNCTION hearth_c_result hearth_refuse_size(hearth_c_error* error, const char* what,
                                                   uint64_t found, uint64_t least) {
    hearth_text text = hearth_say(error, what);
    hearth_add_text(&text, " has ");
    hearth_add_number(&text, found);
    hearth_add_text(&text, " bytes, expected at least ");
    hearth_add_number(&text, least);
    return HEARTH_C_OUT_OF_RANGE;
}

/* -------------------------------------------------------------------------------- memory */

typedef struct {
    const char* name;
    uint32_t name_bytes, kind, dtype, rank;
    int64_t counts[8];
    uint64_t offset, bytes; /* in the weights */
    uint64_t first;         /* in the cooked contents; hearth_no_first: zeros */
} hearth_slot;

enum { hearth_kind_state = 1 }; /* params and states are in brains; what comes behind is not */
#define hearth_no_first UINT64_MAX

/* A slot's name in brains of another version. */
typedef struct {
    uint32_t slot, name_bytes;
    const char* name;
    uint64_t parent_change; /* added to the parent hash if the brain has this name */
} hearth_alias;

typedef struct {
    const hearth_slot* slots; /* in ascending order of names */
    uint32_t slot_count, alias_count;
    const hearth_alias* aliases;
    uint64_t weights_bytes, arena_bytes, cooked_bytes;
    uint64_t graph_hash, schema_hash, parent_hash;
    uint64_t alias_schema_hash; /* of brains of another version */
} hearth_net;

typedef struct {
    uint32_t magic, format_version;
    uint64_t graph_hash, checksum, bytes;
} hearth_cooked_header;

HEARTH_FUNCTION uint64_t hearth_rotate(uint64_t value, int by) {
    return value << by | value >> (64 - by);
}

HEARTH_FUNCTION uint64_t hearth_checksum(const unsigned char* data, uint64_t size) {
    const uint64_t step = UINT64_C(0x9e3779b185ebca87), finish = UINT64_C(0xc2b2ae3d27d4eb4f);
    uint64_t lanes[4] = {step, finish, 0, ~step}, at = 0;
    for (int i = 0; at < size; i = (i + 1) & 3) {
        const uint64_t left = size - at < 8 ? size - at : 8;
        uint64_t word = 0;
        memcpy(&word, data + at, (size_t)left);
        lanes[i] = hearth_rotate(lanes[i] ^ word, 29) * step;
        at += left;
    }
    uint64_t sum = size * finish;
    for (int i = 0; i < 4; ++i) sum = (hearth_rotate(sum ^ lanes[i], 31) + finish) * step;
    sum = (sum ^ (sum >> 33)) * finish;
    return sum ^ (sum >> 29);
}

HEARTH_FUNCTION hearth_c_result hearth_check_memory(const hearth_net* net,
                                                    const hearth_c_memory* memory,
                                                    uint64_t arena_bytes, hearth_c_error* error) {
    if (memory == 0) return hearth_refuse(error, HEARTH_C_INVALID_ARGUMENT, "memory is null");
    if (memory->weights_bytes < net->weights_bytes)
        return hearth_refuse_size(error, "memory for weights", memory->weights_bytes,
                                  net->weights_bytes);
    if (memory->arena_bytes < arena_bytes)
        return hearth_refuse_size(error, "the arena", memory->arena_bytes, arena_bytes);
    if ((memory->weights == 0 && net->weights_bytes > 0) || (memory->arena == 0 && arena_bytes > 0))
        return hearth_refuse(error, HEARTH_C_INVALID_ARGUMENT, "weights or arena are null");
    if (((uintptr_t)memory->weights | (uintptr_t)memory->arena) % HEARTH_ALIGNMENT != 0)
        return hearth_refuse(error, HEARTH_C_INVALID_ARGUMENT,
                             "weights or arena do not begin at a multiple of " HEARTH_ALIGNMENT_TEXT
                             " bytes");
    return HEARTH_C_OK;
}

HEARTH_FUNCTION hearth_c_result hearth_check_cooked(const hearth_net* net,
                                                    const hearth_c_memory* memory,
                                                    hearth_c_error* error) {
    const hearth_cooked_header* header = (const hearth_cooked_header*)memory->cooked;
    if (header == 0 || memory->cooked_bytes < sizeof *header)
        return hearth_refuse_size(error, "cooked weights", header == 0 ? 0 : memory->cooked_bytes,
                                  sizeof *header + net->cooked_bytes);
    if ((uintptr_t)header % 8 != 0)
        return hearth_refuse(error, HEARTH_C_INVALID_ARGUMENT,
                             "cooked weights are not 8-byte aligned");
    if (header->magic != 0x57435248u)
        return hearth_refuse(
            error, HEARTH_C_CORRUPT_DATA,
            "these are no weights that were cooked for C (a package or a brain, perhaps)");
    if (header->format_version != 1)
        return hearth_refuse(error, HEARTH_C_UNSUPPORTED,
                             "cooked weights of another format version than 1");
    if (header->graph_hash != net->graph_hash) {
        hearth_text text = hearth_say(error, "cooked weights of graph ");
        hearth_add_hash(&text, header->graph_hash);
        hearth_add_text(&text, ", expected those of graph ");
        hearth_add_hash(&text, net->graph_hash);
        return HEARTH_C_MISMATCH;
    }
    if (header->bytes != net->cooked_bytes ||
        memory->cooked_bytes < sizeof *header + net->cooked_bytes)
        return hearth_refuse_size(error, "cooked weights", memory->cooked_bytes,
                                  sizeof *header + net->cooked_bytes);
    if (header->checksum != hearth_checksum((const unsigned char*)(header + 1), header->bytes))
        return hearth_refuse(error, HEARTH_C_CORRUPT_DATA,
                             "cooked weights: the checksum does not match");
    return HEARTH_C_OK;
}

/* A slot's first contents, or null: zeros. */
HEARTH_FUNCTION const unsigned char* hearth_first(const hearth_slot* slot,
                                                  const hearth_c_memory* memory) {
    if (slot->first == hearth_no_first) return 0;
    return (const unsigned char*)memory->cooked + sizeof(hearth_cooked_header) + slot->first;
}
HEARTH_FUNCTION void hearth_forget_slot(const hearth_slot* slot, const hearth_c_memory* memory) {
    unsigned char* const to = (unsigned char*)memory->weights + slot->offset;
    const unsigned char* const first = hearth_first(slot, memory);
    if (first != 0)
        memcpy(to, first, (size_t)slot->bytes);
    else
        memset(to, 0, (size_t)slot->bytes);
}
HEARTH_FUNCTION void hearth_forget(const hearth_net* net, const hearth_c_memory* memory) {
    for (uint32_t i = 0; i < net->slot_count; ++i) hearth_forget_slot(&net->slots[i], memory);
}

HEARTH_FUNCTION hearth_c_result hearth_init(const hearth_net* net, const hearth_c_memory* memory,
                                            hearth_c_error* error) {
    hearth_c_result result = hearth_check_memory(net, memory, 0, error);
    if (result == HEARTH_C_OK) result = hearth_check_cooked(net, memory, error);
    if (result != HEARTH_C_OK) return result;
    memset(memory->weights, 0, (size_t)net->weights_bytes);
    hearth_forget(net, memory);
    return HEARTH_C_OK;
}

/* -------------------------------------------------------------------------------- brains */

typedef struct {
    uint32_t magic, format_version;
    uint64_t total_bytes, checksum, graph_hash, schema_hash, parent_hash, host_schema_hash;
    uint64_t texts_offset, texts_bytes, host_offset, host_bytes;
    uint32_t tensor_count, reserved;
} hearth_brain_header;

typedef struct {
    uint32_t name_offset, name_bytes, kind, dtype, encoding, reserved;
    int64_t counts[8];
    uint32_t rank, per_row_mask;
    uint64_t offset, stored_bytes, bytes, checksum;
} hearth_brain_tensor;

enum { hearth_raw, hearth_packed, hearth_parent, hearth_delta };
enum { hearth_brain_version = 1, hearth_brain_checksum_end = 24, hearth_brain_alignment = 16 };
static const uint32_t hearth_brain_magic = 0x4e425248u;

static const struct {
    const char* name;
    uint32_t bytes;
    uint32_t
        exponent; /* bits of the highest two bytes that are all set in NaN and infinities alone */
    uint32_t is_float;
} hearth_dtypes[] = {HEARTH_DTYPES};
enum { hearth_dtype_count = sizeof hearth_dtypes / sizeof *hearth_dtypes };

/* Negative, zero or positive, as the first name comes before, is, or comes behind the second one. */
HEARTH_FUNCTION int hearth_compare(const char* a, uint32_t a_bytes, const char* b,
                                   uint32_t b_bytes) {
    for (uint32_t i = 0; i < a_bytes && i < b_bytes; ++i)
        if (a[i] != b[i]) return (unsigned char)a[i] < (unsigned char)b[i] ? -1 : 1;
    return a_bytes == b_bytes ? 0 : a_bytes < b_bytes ? -1 : 1;
}

HEARTH_FUNCTION void hearth_add_tensor_type(hearth_text* text, uint32_t dtype, uint32_t rank,
                                            const int64_t* counts) {
    hearth_add_text(text, hearth_dtypes[dtype].name);
    hearth_add_text(text, "[");
    for (uint32_t i = 0; i < rank; ++i) {
        if (i > 0) hearth_add_text(text, ", ");
        hearth_add_number(text, (uint64_t)counts[i]);
    }
    hearth_add_text(text, "]");
}

/* "BEFORE'NAME'BEHIND" */
HEARTH_FUNCTION hearth_text hearth_say_name(hearth_c_error* error, const char* before,
                                            const char* name, uint32_t name_bytes,
                                            const char* behind) {
    hearth_text text = hearth_say(error, before);
    hearth_add_text(&text, "'");
    hearth_add(&text, name, name_bytes < 100 ? name_bytes : 100);
    hearth_add_text(&text, "'");
    hearth_add_text(&text, behind);
    return text;
}

HEARTH_FUNCTION int hearth_is_inside(uint64_t offset, uint64_t size, uint64_t whole) {
    return offset <= whole && size <= whole - offset;
}

/* The first element that is NaN or infinite, or -1. */
HEARTH_FUNCTION int64_t hearth_not_finite(uint32_t dtype, const unsigned char* bytes,
                                          uint64_t size) {
    const uint32_t element = hearth_dtypes[dtype].bytes, mask = hearth_dtypes[dtype].exponent;
    if (mask == 0) return -1;
    for (uint64_t at = element; at <= size; at += element) {
        const uint32_t top = (uint32_t)bytes[at - 1] << 8 | bytes[at - 2];
        if ((top & mask) == mask) return (int64_t)(at / element - 1);
    }
    return -1;
}
HEARTH_FUNCTION hearth_c_result hearth_refuse_not_finite(hearth_c_error* error,
                                                         const hearth_slot* slot, int64_t element) {
    hearth_text text = hearth_say_name(error, "", slot->name, slot->name_bytes, ": element ");
    hearth_add_number(&text, (uint64_t)element);
    hearth_add_text(&text, " is NaN or infinite");
    return HEARTH_C_NOT_FINITE;
}

/* Header, places and shapes: everything that the rest relies on. */
HEARTH_FUNCTION hearth_c_result hearth_open_brain(const unsigned char* brain, uint64_t size,
                                                  hearth_c_error* error) {
    const hearth_brain_header* const header = (const hearth_brain_header*)brain;
    if (brain == 0 || size < sizeof *header)
        return hearth_refuse_size(error, "the brain", brain == 0 ? 0 : size, sizeof *header);
    if ((uintptr_t)brain % 8 != 0)
        return hearth_refuse(error, HEARTH_C_INVALID_ARGUMENT,
                             "the brain's bytes are not 8-byte aligned");
    if (header->magic != hearth_brain_magic)
        return hearth_refuse(error, HEARTH_C_CORRUPT_DATA, "this is no Hearth brain");
    if (header->format_version == 0 || header->format_version > hearth_brain_version) {
        hearth_text text = hearth_say(error, "a brain of format version ");
        hearth_add_number(&text, header->format_version);
        hearth_add_text(&text, "; 1 is known");
        return HEARTH_C_UNSUPPORTED;
    }
    if (header->total_bytes != size) {
        hearth_text text = hearth_say(error, "the brain has ");
        hearth_add_number(&text, size);
        hearth_add_text(&text, " bytes, its header says ");
        hearth_add_number(&text, header->total_bytes);
        return HEARTH_C_CORRUPT_DATA;
    }
    if (header->checksum !=
        hearth_checksum(brain + hearth_brain_checksum_end, size - hearth_brain_checksum_end))
        return hearth_refuse(error, HEARTH_C_CORRUPT_DATA, "the brain's checksum does not match");
    if (header->reserved != 0 ||
        header->tensor_count > (size - sizeof *header) / sizeof(hearth_brain_tensor) ||
        !hearth_is_inside(header->texts_offset, header->texts_bytes, size) ||
        !hearth_is_inside(header->host_offset, header->host_bytes, size))
        return hearth_refuse(error, HEARTH_C_CORRUPT_DATA, "the brain's parts lie outside of it");
    const hearth_brain_tensor* const tensors = (const hearth_brain_tensor*)(header + 1);
    const char* const texts = (const char*)brain + header->texts_offset;
    for (uint32_t i = 0; i < header->tensor_count; ++i) {
        const hearth_brain_tensor* const t = &tensors[i];
        int is_good = hearth_is_inside(t->name_offset, t->name_bytes, header->texts_bytes) &&
                      t->kind <= hearth_kind_state && t->dtype < hearth_dtype_count &&
                      t->reserved == 0 && t->rank <= 8 && t->per_row_mask == 0 &&
                      t->encoding <= hearth_delta &&
                      hearth_is_inside(t->offset, t->stored_bytes, size);
        is_good = is_good && (t->encoding != hearth_raw || t->stored_bytes == t->bytes) &&
                  (t->encoding != hearth_parent || t->stored_bytes == 0);
        for (uint32_t d = 0; is_good && d < 8; ++d)
            is_good = t->counts[d] >= 0 && (d < t->rank || t->counts[d] == 0);
        if (is_good && i > 0)
            is_good = hearth_compare(texts + t[-1].name_offset, t[-1].name_bytes,
                                     texts + t->name_offset, t->name_bytes) < 0;
        if (is_good) continue;
        hearth_text text = hearth_say(error, "the brain's tensor ");
        hearth_add_number(&text, i);
        hearth_add_text(&text, " is damaged");
        return HEARTH_C_CORRUPT_DATA;
    }
    return HEARTH_C_OK;
}

/* Whether the brain's tensor may become the slot's contents. */
HEARTH_FUNCTION hearth_c_result hearth_match(const hearth_slot* slot, const hearth_brain_tensor* t,
                                             const hearth_c_memory* memory, hearth_c_error* error) {
    const uint32_t size = hearth_dtypes[t->dtype].bytes;
    const int is_other = t->dtype != slot->dtype;
    int fits =
        t->rank == slot->rank &&
        (!is_other || (hearth_dtypes[t->dtype].is_float && hearth_dtypes[slot->dtype].is_float)) &&
        t->bytes == slot->bytes / hearth_dtypes[slot->dtype].bytes * size;
    for (uint32_t d = 0; fits && d < slot->rank; ++d) fits = t->counts[d] == slot->counts[d];
    if (!fits) {
        hearth_text text = hearth_say_name(error, "", slot->name, slot->name_bytes, " is ");
        hearth_add_tensor_type(&text, slot->dtype, slot->rank, slot->counts);
        hearth_add_text(&text, " here, the brain has ");
        hearth_add_tensor_type(&text, t->dtype, t->rank, t->counts);
        return HEARTH_C_MISMATCH;
    }
    if (t->kind != slot->kind) {
        hearth_say_name(error, "", slot->name, slot->name_bytes,
                        " is a param on one side and a state on the other");
        return HEARTH_C_MISMATCH;
    }
    if (is_other && t->encoding >= hearth_parent) {
        hearth_say_name(error, "", slot->name, slot->name_bytes,
                        " is a difference of elements of another type");
        return HEARTH_C_MISMATCH;
    }
    if (is_other && t->encoding == hearth_packed && t->bytes > slot->bytes &&
        memory->arena_bytes < t->bytes)
        return hearth_refuse_size(error, "the arena, in which a packed tensor is narrowed,",
                                  memory->arena_bytes, t->bytes);
    return HEARTH_C_OK;
}

HEARTH_FUNCTION int hearth_take_length(const unsigned char** in, const unsigned char* end,
                                       uint64_t* value) {
    *value = 0;
    for (unsigned shift = 0; shift < 63; shift += 7) {
        if (*in == end) return 0;
        const uint64_t byte = *(*in)++;
        *value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return 1;
    }
    return 0;
}

/* Undoes the packing: runs of zeros and of bytes that follow, plane by plane; exclusive or with what is there. */
HEARTH_FUNCTION int hearth_unpack(const unsigned char* in, uint64_t in_bytes, uint32_t element,
                                  unsigned char* out, uint64_t out_bytes) {
    const unsigned char* const end = in + in_bytes;
    const uint64_t count = out_bytes / element;
    uint64_t at = 0; /* of the planes' bytes, one plane behind the other */
    while (at < out_bytes) {
        uint64_t zeros, literals;
        if (!hearth_take_length(&in, end, &zeros) || !hearth_take_length(&in, end, &literals))
            return 0;
        if (zeros > out_bytes - at || literals > out_bytes - at - zeros ||
            literals > (uint64_t)(end - in) || zeros + literals == 0)
            return 0;
        at += zeros;
        for (; literals > 0; --literals, ++at) out[at % count * element + at / count] ^= *in++;
    }
    return in == end;
}

HEARTH_FUNCTION int hearth_decode(const unsigned char* brain, const hearth_brain_tensor* t,
                                  const unsigned char* parent, unsigned char* out) {
    const unsigned char* const stored = brain + t->offset;
    const int has_parent = t->encoding >= hearth_parent && parent != 0;
    if (t->encoding == hearth_raw || has_parent)
        memcpy(out, has_parent ? parent : stored, (size_t)t->bytes);
    else
        memset(out, 0, (size_t)t->bytes);
    if ((t->encoding == hearth_packed || t->encoding == hearth_delta) &&
        !hearth_unpack(stored, t->stored_bytes, hearth_dtypes[t->dtype].bytes, out, t->bytes))
        return 0;
    return hearth_checksum(out, t->bytes) == t->checksum;
}

HEARTH_FUNCTION float hearth_load_float(uint32_t dtype, const unsigned char* at) {
    uint32_t word = 0;
    memcpy(&word, at, hearth_dtypes[dtype].bytes);
    if (dtype == HEARTH_DTYPE_F16) return hearth_of_f16((uint16_t)word);
    return dtype == HEARTH_DTYPE_BF16 ? hearth_of_bf16((uint16_t)word) : hearth_f32_of_bits(word);
}
HEARTH_FUNCTION void hearth_store_float(uint32_t dtype, float value, unsigned char* at) {
    uint32_t word = hearth_bits_of_f32(value);
    if (dtype == HEARTH_DTYPE_F16) word = hearth_f16_of(value);
    if (dtype == HEARTH_DTYPE_BF16) word = hearth_bf16_of(value);
    memcpy(at, &word, hearth_dtypes[dtype].bytes);
}

HEARTH_FUNCTION hearth_c_result hearth_load_slot(const unsigned char* brain,
                                                 const hearth_slot* slot,
                                                 const hearth_brain_tensor* t,
                                                 const hearth_c_memory* memory,
                                                 hearth_c_error* error) {
    unsigned char* const to = (unsigned char*)memory->weights + slot->offset;
    const int is_other = t->dtype != slot->dtype;
    /* Narrower elements lie at the end of their own place, and are widened from its beginning on. */
    const unsigned char* decoded =
        t->bytes > slot->bytes ? (unsigned char*)memory->arena : to + (slot->bytes - t->bytes);
    int is_good;
    if (is_other && t->encoding == hearth_raw) {
        decoded = brain + t->offset;
        is_good = hearth_checksum(decoded, t->bytes) == t->checksum;
    } else {
        is_good = hearth_decode(brain, t, hearth_first(slot, memory), (unsigned char*)decoded);
    }
    if (!is_good) {
        hearth_say_name(error, "the brain's bytes of ", slot->name, slot->name_bytes,
                        " are damaged");
        return HEARTH_C_CORRUPT_DATA;
    }
    if (is_other) {
        const uint32_t from = hearth_dtypes[t->dtype].bytes,
                       step = hearth_dtypes[slot->dtype].bytes;
        for (uint64_t i = 0; i < slot->bytes / step; ++i)
            hearth_store_float(slot->dtype, hearth_load_float(t->dtype, decoded + i * from),
                               to + i * step);
    }
    const int64_t lost = hearth_not_finite(slot->dtype, to, slot->bytes);
    return lost < 0 ? HEARTH_C_OK : hearth_refuse_not_finite(error, slot, lost);
}

/* The brain's tensor of this name, or null. */
HEARTH_FUNCTION const hearth_brain_tensor* hearth_find(const unsigned char* brain, const char* name,
                                                       uint32_t name_bytes) {
    const hearth_brain_header* const header = (const hearth_brain_header*)brain;
    const hearth_brain_tensor* const tensors = (const hearth_brain_tensor*)(header + 1);
    const char* const texts = (const char*)brain + header->texts_offset;
    uint32_t first = 0, end = header->tensor_count;
    while (first < end) {
        const uint32_t middle = first + (end - first) / 2;
        const hearth_brain_tensor* const t = &tensors[middle];
        const int order = hearth_compare(name, name_bytes, texts + t->name_offset, t->name_bytes);
        if (order == 0) return t;
        if (order < 0)
            end = middle;
        else
            first = middle + 1;
    }
    return 0;
}
/* The brain's tensor for a slot, by the slot's name or its alias; or null. */
HEARTH_FUNCTION const hearth_brain_tensor* hearth_find_slot(const hearth_net* net,
                                                            const unsigned char* brain,
                                                            uint32_t slot) {
    const hearth_brain_tensor* t =
        hearth_find(brain, net->slots[slot].name, net->slots[slot].name_bytes);
    for (uint32_t i = 0; t == 0 && i < net->alias_count; ++i)
        if (net->aliases[i].slot == slot)
            t = hearth_find(brain, net->aliases[i].name, net->aliases[i].name_bytes);
    return t;
}
/* The parent hash with the names that the brain has. */
HEARTH_FUNCTION uint64_t hearth_parent_hash(const hearth_net* net, const unsigned char* brain) {
    uint64_t hash = net->parent_hash;
    for (uint32_t i = 0; i < net->alias_count; ++i) {
        const hearth_slot* const slot = &net->slots[net->aliases[i].slot];
        if (hearth_find(brain, slot->name, slot->name_bytes) == 0)
            hash += net->aliases[i].parent_change;
    }
    return hash;
}

/* Compares if is_loading is 0, and loads what was compared if it is 1. */
HEARTH_FUNCTION hearth_c_result hearth_walk_brain(const hearth_net* net,
                                                  const hearth_c_memory* memory,
                                                  const unsigned char* brain, int is_loading,
                                                  hearth_c_error* error) {
    const hearth_brain_header* const header = (const hearth_brain_header*)brain;
    const hearth_brain_tensor* const tensors = (const hearth_brain_tensor*)(header + 1);
    const char* const texts = (const char*)brain + header->texts_offset;
    uint32_t found = 0;
    for (uint32_t i = 0; i < net->slot_count; ++i) {
        const hearth_slot* const slot = &net->slots[i];
        if (slot->kind > hearth_kind_state) continue;
        const hearth_brain_tensor* const t = hearth_find_slot(net, brain, i);
        if (t == 0) {
            hearth_say_name(error, "the brain has no ", slot->name, slot->name_bytes, "");
            return HEARTH_C_MISMATCH;
        }
        const hearth_c_result result = is_loading ? hearth_load_slot(brain, slot, t, memory, error)
                                                  : hearth_match(slot, t, memory, error);
        if (result != HEARTH_C_OK) return result;
        ++found;
    }
    if (found == header->tensor_count) return HEARTH_C_OK;
    for (uint32_t i = 0; i < header->tensor_count; ++i) {
        int is_known = 0;
        for (uint32_t s = 0; s < net->slot_count && !is_known; ++s)
            is_known = net->slots[s].kind <= hearth_kind_state &&
                       hearth_find_slot(net, brain, s) == &tensors[i];
        if (is_known) continue;
        hearth_say_name(error, "the network has no ", texts + tensors[i].name_offset,
                        tensors[i].name_bytes, ", which the brain has");
        break;
    }
    return HEARTH_C_MISMATCH;
}

HEARTH_FUNCTION hearth_c_result hearth_load(const hearth_net* net, const hearth_c_memory* memory,
                                            const void* bytes, size_t size, hearth_c_error* error) {
    const unsigned char* const brain = (const unsigned char*)bytes;
    hearth_c_result result = hearth_check_memory(net, memory, 0, error);
    if (result == HEARTH_C_OK) result = hearth_check_cooked(net, memory, error);
    if (result == HEARTH_C_OK) result = hearth_open_brain(brain, size, error);
    if (result != HEARTH_C_OK) return result;
    const hearth_brain_header* const header = (const hearth_brain_header*)brain;
    result = hearth_walk_brain(net, memory, brain, 0, error);
    if (result != HEARTH_C_OK) return result;
    if (header->schema_hash != net->schema_hash && header->schema_hash != net->alias_schema_hash) {
        hearth_text text = hearth_say(error, "the brain is of schema ");
        hearth_add_hash(&text, header->schema_hash);
        hearth_add_text(&text, ", the network of ");
        hearth_add_hash(&text, net->schema_hash);
        hearth_add_text(&text, ": they have other inputs or outputs");
        return HEARTH_C_MISMATCH;
    }
    const hearth_brain_tensor* const tensors = (const hearth_brain_tensor*)(header + 1);
    const int is_of_parent = header->parent_hash == net->parent_hash ||
                             header->parent_hash == hearth_parent_hash(net, brain);
    for (uint32_t i = 0; i < header->tensor_count; ++i)
        if (tensors[i].encoding >= hearth_parent && !is_of_parent) {
            hearth_text text = hearth_say(error, "the brain is a difference from parent ");
            hearth_add_hash(&text, header->parent_hash);
            hearth_add_text(&text, ", the first contents here are ");
            hearth_add_hash(&text, net->parent_hash);
            return HEARTH_C_MISMATCH;
        }
    result = hearth_walk_brain(net, memory, brain, 1, error);
    if (result != HEARTH_C_OK) {
        hearth_forget(net, memory);
        return result;
    }
    for (uint32_t i = 0; i < net->slot_count; ++i)
        if (net->slots[i].kind > hearth_kind_state) hearth_forget_slot(&net->slots[i], memory);
    return HEARTH_C_OK;
}

HEARTH_FUNCTION uint64_t hearth_aligned(uint64_t at) {
    return (at + hearth_brain_alignment - 1) / hearth_brain_alignment * hearth_brain_alignment;
}

HEARTH_FUNCTION hearth_c_result hearth_save(const hearth_net* net, const hearth_c_memory* memory,
                                            void* bytes, size_t size, uint64_t needed,
                                            hearth_c_error* error) {
    hearth_c_result result = hearth_check_memory(net, memory, 0, error);
    if (result != HEARTH_C_OK) return result;
    unsigned char* const brain = (unsigned char*)bytes;
    if (brain == 0 || size < needed)
        return hearth_refuse_size(error, "memory for the brain", brain == 0 ? 0 : size, needed);
    hearth_brain_header header;
    memset(&header, 0, sizeof header);
    header.magic = hearth_brain_magic;
    header.format_version = hearth_brain_version;
    header.total_bytes = header.host_offset = needed;
    header.graph_hash = net->graph_hash;
    header.schema_hash = net->schema_hash;
    header.parent_hash = net->parent_hash;
    for (uint32_t i = 0; i < net->slot_count; ++i)
        if (net->slots[i].kind <= hearth_kind_state) {
            ++header.tensor_count;
            header.texts_bytes += net->slots[i].name_bytes;
        }
    header.texts_offset = sizeof header + header.tensor_count * sizeof(hearth_brain_tensor);
    memset(brain, 0, (size_t)needed);
    uint64_t record_at = sizeof header, name_at = 0, at = header.texts_offset + header.texts_bytes;
    for (uint32_t i = 0; i < net->slot_count; ++i) {
        const hearth_slot* const slot = &net->slots[i];
        if (slot->kind > hearth_kind_state) continue;
        const unsigned char* const from = (const unsigned char*)memory->weights + slot->offset;
        const int64_t lost = hearth_not_finite(slot->dtype, from, slot->bytes);
        if (lost >= 0) return hearth_refuse_not_finite(error, slot, lost);
        at = hearth_aligned(at);
        hearth_brain_tensor t;
        memset(&t, 0, sizeof t);
        t.name_offset = (uint32_t)name_at;
        t.name_bytes = slot->name_bytes;
        t.kind = slot->kind;
        t.dtype = slot->dtype;
        t.rank = slot->rank;
        memcpy(t.counts, slot->counts, sizeof t.counts);
        t.offset = at;
        t.stored_bytes = t.bytes = slot->bytes;
        t.checksum = hearth_checksum(from, slot->bytes);
        memcpy(brain + record_at, &t, sizeof t);
        memcpy(brain + header.texts_offset + name_at, slot->name, slot->name_bytes);
        memcpy(brain + at, from, (size_t)slot->bytes);
        record_at += sizeof t;
        name_at += slot->name_bytes;
        at += slot->bytes;
    }
    memcpy(brain, &header, sizeof header);
    header.checksum =
        hearth_checksum(brain + hearth_brain_checksum_end, needed - hearth_brain_checksum_end);
    memcpy(brain, &header, sizeof header);
    return HEARTH_C_OK;
}
