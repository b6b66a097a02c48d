#ifndef STARWATCH_CSECP256K1_SHIM_H
#define STARWATCH_CSECP256K1_SHIM_H

#include <secp256k1.h>
#include <secp256k1_recovery.h>

// The context flags are macros of shifted expressions, which Swift does not import.

/// A context that signs and verifies. Once made it is only read, so any number of threads may share it.
static inline secp256k1_context *starwatch_secp256k1_context(void) {
    return secp256k1_context_create(SECP256K1_CONTEXT_SIGN | SECP256K1_CONTEXT_VERIFY);
}

/// Writes `key` as 65 bytes: 4, x, y.
static inline void starwatch_secp256k1_uncompressed(
    const secp256k1_context *context, const secp256k1_pubkey *key, unsigned char *output65) {
    size_t length = 65;
    secp256k1_ec_pubkey_serialize(context, output65, &length, key, SECP256K1_EC_UNCOMPRESSED);
}

#endif
