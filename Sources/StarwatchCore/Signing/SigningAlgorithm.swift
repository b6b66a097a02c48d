/// The algorithm of a signing key, by its name in the header of a token (RFC 7518, RFC 8812).
package enum SigningAlgorithm: String, Sendable, Codable, CaseIterable {
    /// A secret shared with the server.
    case hs256 = "HS256"
    /// The private key of a `did:ethr`.
    case es256k = "ES256K"
}
