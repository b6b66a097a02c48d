import CSecp256k1
import Crypto

/// The curve of `did:ethr` keys, by libsecp256k1, with RFC 6979 nonces and low-S signatures.
enum Secp256k1 {
    /// `nonisolated(unsafe)` because the context is immutable after creation, and libsecp256k1 documents concurrent
    /// reads as safe.
    nonisolated(unsafe) static let context: OpaquePointer = {
        // Not from `RandomID`: a simulation's words must not depend on which run signs first.
        var random = SystemRandomNumberGenerator()
        let seed = (0..<32).map { _ in UInt8.random(in: .min ... .max, using: &random) }
        guard let context = makeContext(seed: seed) else {
            preconditionFailure("no memory for a context")
        }
        return context
    }()

    /// Creates a context blinded with `seed`, 32 random bytes.
    ///
    /// Blinding makes the values that the library computes with a key differ from process to process, so that the
    /// time, power and memory accesses of signatures tell less about the key. Signatures are the same with any seed.
    static func makeContext(seed: [UInt8]) -> OpaquePointer? {
        precondition(seed.count == 32)
        return starwatch_secp256k1_context(seed)
    }

    /// Encodes `key` as 65 bytes: the byte 4, x and y.
    static func serialize(_ key: inout secp256k1_pubkey) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65)
        starwatch_secp256k1_uncompressed(context, &key, &bytes)
        return bytes
    }
}

/// A secp256k1 private key. Prints as `<key>`; its memory is cleared on release.
struct Secp256k1PrivateKey: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    private let secret: SymmetricKey
    /// The Ethereum address of the key's public half.
    let address: EthereumAddress

    /// Creates a key of 32 bytes; `nil` unless they are a number between 1 and the group order.
    init?(_ bytes: [UInt8]) {
        var key = secp256k1_pubkey()
        guard bytes.count == 32, secp256k1_ec_pubkey_create(Secp256k1.context, &key, bytes) == 1 else { return nil }
        secret = SymmetricKey(data: bytes)
        address = EthereumAddress(publicKey: Secp256k1.serialize(&key))
    }

    /// Signs a 32-byte digest. The signature has 64 bytes, r then s, with s in the lower half; `nil` for a digest of
    /// another length, or when libsecp256k1 fails, which no valid key causes.
    func sign(_ digest: [UInt8]) -> [UInt8]? {
        guard digest.count == 32 else { return nil }
        var signature = secp256k1_ecdsa_signature()
        let isSigned = secret.withUnsafeBytes { key in
            guard let base = key.bindMemory(to: UInt8.self).baseAddress else { return false }
            return secp256k1_ecdsa_sign(Secp256k1.context, &signature, digest, base, nil, nil) == 1
        }
        guard isSigned else { return nil }
        var compact = [UInt8](repeating: 0, count: 64)
        secp256k1_ecdsa_signature_serialize_compact(Secp256k1.context, &compact, &signature)
        return compact
    }

    var description: String { "<key>" }
    var debugDescription: String { "<key>" }
    var customMirror: Mirror { Mirror(self, children: []) }
}
