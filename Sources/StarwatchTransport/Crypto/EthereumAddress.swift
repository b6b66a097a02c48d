import StarwatchCore

/// The last 20 bytes of the Keccak-256 of a public key.
struct EthereumAddress: Sendable, Hashable {
    let bytes: [UInt8]

    /// Takes an uncompressed public key: 4, x, y.
    init(publicKey: [UInt8]) {
        bytes = Array(Keccak256.hash(publicKey.dropFirst()).suffix(20))
    }

    /// Takes the address out of `did:ethr:0x…`, in either case; `nil` for any other DID.
    ///
    /// Networks (`did:ethr:mainnet:…`) and public keys in the DID are not understood by the server either.
    init?(_ did: DID) {
        let prefix = "did:ethr:0x"
        guard did.rawValue.hasPrefix(prefix), let bytes = Hex.decode(did.rawValue.utf8.dropFirst(prefix.utf8.count)),
            bytes.count == 20
        else { return nil }
        self.bytes = bytes
    }
}
