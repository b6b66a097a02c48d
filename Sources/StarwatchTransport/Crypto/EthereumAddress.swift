package import StarwatchCore

/// An Ethereum address: the last 20 bytes of the Keccak-256 of a public key.
struct EthereumAddress: Sendable, Hashable {
    let bytes: [UInt8]

    /// Creates the address of an uncompressed public key: the byte 4, x and y.
    init(publicKey: [UInt8]) { bytes = Array(Keccak256.hash(publicKey.dropFirst()).suffix(20)) }

    /// The address as `0x` and 40 digits, whose case is a checksum (EIP-55).
    var checksummed: String {
        let digits = Array(Hex.encode(bytes).utf8)
        let hash = Keccak256.hash(digits)
        let text = digits.enumerated().map { index, digit in
            let nibble = index % 2 == 0 ? hash[index / 2] >> 4 : hash[index / 2] & 15
            return digit > UInt8(ascii: "9") && nibble >= 8 ? digit - 32 : digit
        }
        return "0x" + String(decoding: text, as: UTF8.self)
    }

    /// Reads the address of `did:ethr:0x…`, ignoring case; `nil` for any other DID.
    ///
    /// The server does not support networks (`did:ethr:mainnet:…`) or public keys in a DID either.
    init?(_ did: DID) {
        let prefix = "did:ethr:0x"
        guard did.rawValue.hasPrefix(prefix), let bytes = Hex.decode(did.rawValue.utf8.dropFirst(prefix.utf8.count)),
            bytes.count == 20
        else { return nil }
        self.bytes = bytes
    }
}

extension DID {
    /// Other spellings of an Ethereum address that programs write: in lower and in upper case, and with the checksum of EIP-55.
    /// To the method the case of the digits has no meaning; servers compare it.
    package var otherSpellings: [DID] {
        ethereumSpellings.subtracting([self]).sorted { $0.rawValue < $1.rawValue }
    }

    /// Whether it is an Ethereum address with a mistake: capital and small letters, but not those of its checksum.
    package var hasWrongChecksum: Bool {
        let spellings = ethereumSpellings
        return !spellings.isEmpty && !spellings.contains(self)
    }

    /// All spellings that programs write; none if it is no Ethereum address.
    private var ethereumSpellings: Set<DID> {
        guard let address = EthereumAddress(self) else { return [] }
        let digits = Hex.encode(address.bytes)
        let spellings = ["0x" + digits, "0x" + digits.uppercased(), address.checksummed]
        return Set(spellings.compactMap { DID("did:ethr:" + $0) })
    }
}

/// Keccak-256 with the original padding, which Ethereum uses; SHA3-256 has the padding of FIPS 202.
enum Keccak256 {
    private static let rate = 136

    private static let roundConstants: [UInt64] = [
        0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808a, 0x8000_0000_8000_8000,
        0x0000_0000_0000_808b, 0x0000_0000_8000_0001, 0x8000_0000_8000_8081, 0x8000_0000_0000_8009,
        0x0000_0000_0000_008a, 0x0000_0000_0000_0088, 0x0000_0000_8000_8009, 0x0000_0000_8000_000a,
        0x0000_0000_8000_808b, 0x8000_0000_0000_008b, 0x8000_0000_0000_8089, 0x8000_0000_0000_8003,
        0x8000_0000_0000_8002, 0x8000_0000_0000_0080, 0x0000_0000_0000_800a, 0x8000_0000_8000_000a,
        0x8000_0000_8000_8081, 0x8000_0000_0000_8080, 0x0000_0000_8000_0001, 0x8000_0000_8000_8008,
    ]
    private static let rotations = [
        1, 3, 6, 10, 15, 21, 28, 36, 45, 55, 2, 14, 27, 41, 56, 8, 25, 43, 62, 18, 39, 61, 20, 44,
    ]
    private static let lanes = [10, 7, 11, 17, 18, 3, 5, 16, 8, 21, 24, 4, 15, 23, 19, 13, 12, 2, 20, 14, 22, 9, 6, 1]

    /// The 32-byte digest of `message`.
    static func hash(_ message: some Collection<UInt8>) -> [UInt8] {
        var padded = Array(message)
        padded.append(0x01)
        while padded.count % rate != 0 { padded.append(0) }
        padded[padded.count - 1] |= 0x80

        var state = [UInt64](repeating: 0, count: 25)
        for block in stride(from: 0, to: padded.count, by: rate) {
            for lane in 0..<rate / 8 {
                var word: UInt64 = 0
                for byte in 0..<8 { word |= UInt64(padded[block + lane * 8 + byte]) << UInt64(byte * 8) }
                state[lane] ^= word
            }
            permute(&state)
        }
        return (0..<32).map { UInt8(truncatingIfNeeded: state[$0 / 8] >> UInt64($0 % 8 * 8)) }
    }

    private static func permute(_ state: inout [UInt64]) {
        var column = [UInt64](repeating: 0, count: 5)
        for constant in roundConstants {
            for x in 0..<5 {
                column[x] = state[x] ^ state[x + 5] ^ state[x + 10] ^ state[x + 15] ^ state[x + 20]
            }
            for x in 0..<5 {
                let mix = column[(x + 4) % 5] ^ rotate(column[(x + 1) % 5], 1)
                for y in stride(from: 0, to: 25, by: 5) { state[x + y] ^= mix }
            }
            var moved = state[1]
            for step in 0..<24 {
                let next = state[lanes[step]]
                state[lanes[step]] = rotate(moved, rotations[step])
                moved = next
            }
            for y in stride(from: 0, to: 25, by: 5) {
                for x in 0..<5 { column[x] = state[y + x] }
                for x in 0..<5 { state[y + x] = column[x] ^ (~column[(x + 1) % 5] & column[(x + 2) % 5]) }
            }
            state[0] ^= constant
        }
    }

    private static func rotate(_ value: UInt64, _ count: Int) -> UInt64 {
        value << UInt64(count) | value >> UInt64(64 - count)
    }
}
