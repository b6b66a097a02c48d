import StarwatchCore

/// An Ethereum address: the last 20 bytes of the Keccak-256 of a public key.
struct EthereumAddress: Sendable, Hashable {
    let bytes: [UInt8]

    /// Creates the address of an uncompressed public key: the byte 4, x and y.
    init(publicKey: [UInt8]) {
        bytes = Array(Keccak256.hash(publicKey.dropFirst()).suffix(20))
    }

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
