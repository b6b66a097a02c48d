import StarwatchCore

/// An Ethereum address: the last 20 bytes of the Keccak-256 of a public key.
struct EthereumAddress: Sendable, Hashable {
    let bytes: [UInt8]

    /// Creates the address of an uncompressed public key: the byte 4, x and y.
    init(publicKey: [UInt8]) {
        bytes = Array(Keccak256.hash(publicKey.dropFirst()).suffix(20))
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
