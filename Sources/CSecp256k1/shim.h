#ifndef STARWATCH_CSECP256K1_SHIM_H
#define STARWATCH_CSECP256K1_SHIM_H

#include <secp256k1.h>
#include <secp256k1_recovery.h>

// Swift does not import the context flags, which are macros with shift expressions.

/// Creates a context that signs and verifies, blinded with `seed32`. It is immutable afterwards, so threads may share it. NULL
/// if libsecp256k1 fails.
static inline secp256k1_context *starwatch_secp256k1_context(const unsigned char *seed32) {
    secp256k1_context *context = secp256k1_context_create(SECP256K1_CONTEXT_SIGN | SECP256K1_CONTEXT_VERIFY);
    if (context != NULL && secp256k1_context_randomize(context, seed32) != 1) {
        secp256k1_context_destroy(context);
        return NULL;
    }
    return context;
}

/// Writes `key` as 65 bytes: the byte 4, x and y.
static inline void starwatch_secp256k1_uncompressed(
    const secp256k1_context *context, const secp256k1_pubkey *key, unsigned char *output65) {
    size_t length = 65;
    secp256k1_ec_pubkey_serialize(context, output65, &length, key, SECP256K1_EC_UNCOMPRESSED);
}

#endif
