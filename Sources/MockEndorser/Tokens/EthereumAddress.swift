import CSecp256k1
import Foundation

/// Recovers the signer of a secp256k1 signature.
enum EthereumAddress {
    /// Returns the addresses whose keys could have made this signature, as `0x` and 40 lower-case digits.
    ///
    /// A 64-byte signature has no recovery identifier, so both are tried. A 65-byte one ends with it (`ES256K-R`).
    ///
    /// - Parameters:
    ///   - signature: r and s, 32 bytes each, and optionally the recovery identifier, 0 or 1.
    ///   - digest: The signed 32 bytes.
    static func candidates(signature: [UInt8], digest: [UInt8]) -> [String] {
        guard signature.count == 64 || signature.count == 65, digest.count == 32,
            let context = secp256k1_context_create(UInt32(SECP256K1_FLAGS_TYPE_CONTEXT))
        else { return [] }
        defer { secp256k1_context_destroy(context) }
        let recoveryIDs = signature.count == 65 ? [Int32(signature[64])] : [0, 1]
        return recoveryIDs.compactMap { recoveryID in
            guard recoveryID == 0 || recoveryID == 1 else { return nil }
            var parsed = secp256k1_ecdsa_recoverable_signature()
            var key = secp256k1_pubkey()
            var output = [UInt8](repeating: 0, count: 65)
            var length = output.count
            guard secp256k1_ecdsa_recoverable_signature_parse_compact(context, &parsed, signature, recoveryID) == 1,
                secp256k1_ecdsa_recover(context, &key, &parsed, digest) == 1,
                secp256k1_ec_pubkey_serialize(
                    context,
                    &output,
                    &length,
                    &key,
                    UInt32(SECP256K1_FLAGS_TYPE_COMPRESSION)
                ) == 1
            else { return nil }
            return "0x"
                + Keccak256.hash(Array(output.dropFirst())).suffix(20).map { String(format: "%02x", $0) }.joined()
        }
    }
}
