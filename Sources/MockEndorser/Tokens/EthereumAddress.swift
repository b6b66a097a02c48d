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

/// Keccak-256 with the original padding, which Ethereum uses; SHA3-256 has another padding.
enum Keccak256 {
    private static let rate = 136
    private static let rounds: [UInt64] = [
        0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808A, 0x8000_0000_8000_8000,
        0x0000_0000_0000_808B, 0x0000_0000_8000_0001, 0x8000_0000_8000_8081, 0x8000_0000_0000_8009,
        0x0000_0000_0000_008A, 0x0000_0000_0000_0088, 0x0000_0000_8000_8009, 0x0000_0000_8000_000A,
        0x0000_0000_8000_808B, 0x8000_0000_0000_008B, 0x8000_0000_0000_8089, 0x8000_0000_0000_8003,
        0x8000_0000_0000_8002, 0x8000_0000_0000_0080, 0x0000_0000_0000_800A, 0x8000_0000_8000_000A,
        0x8000_0000_8000_8081, 0x8000_0000_0000_8080, 0x0000_0000_8000_0001, 0x8000_0000_8000_8008,
    ]
    private static let rotations: [UInt64] = [
        1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
    ]
    private static let lanes = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1]

    /// Returns the 32-byte hash.
    static func hash(_ message: [UInt8]) -> [UInt8] {
        var padded = message + [0x01]
        padded += [UInt8](repeating: 0, count: (rate - padded.count % rate) % rate)
        padded[padded.count - 1] |= 0x80
        var state = [UInt64](repeating: 0, count: 25)
        for block in stride(from: 0, to: padded.count, by: rate) {
            for lane in 0..<(rate / 8) {
                for byte in 0..<8 {
                    state[lane] ^= UInt64(padded[block + lane * 8 + byte]) << UInt64(byte * 8)
                }
            }
            permute(&state)
        }
        return (0..<32).map { UInt8(truncatingIfNeeded: state[$0 / 8] >> UInt64($0 % 8 * 8)) }
    }

    private static func permute(_ state: inout [UInt64]) {
        for constant in rounds {
            var columns = [UInt64](repeating: 0, count: 5)
            for lane in 0..<25 { columns[lane % 5] ^= state[lane] }
            for x in 0..<5 {
                let mix: UInt64 = columns[(x + 4) % 5] ^ rotate(columns[(x + 1) % 5], 1)
                for y in stride(from: 0, to: 25, by: 5) { state[y + x] ^= mix }
            }
            var moving = state[1]
            for (lane, rotation) in zip(lanes, rotations) {
                let kept = state[lane]
                state[lane] = rotate(moving, rotation)
                moving = kept
            }
            for y in stride(from: 0, to: 25, by: 5) {
                let row = Array(state[y..<(y + 5)])
                for x in 0..<5 {
                    let others: UInt64 = ~row[(x + 1) % 5] & row[(x + 2) % 5]
                    state[y + x] = row[x] ^ others
                }
            }
            state[0] ^= constant
        }
    }

    private static func rotate(_ value: UInt64, _ count: UInt64) -> UInt64 {
        value << count | value >> (64 - count)
    }
}
