/// The facts about an account and its poll that decide what is read of a page beside its changes.
public struct PageContext: Sendable {
    /// The account's DID; `nil` if no item is compared with it.
    let author: String?
    /// The cursor from which the cycle began; `nil` if no former claim is read.
    let cursor: String?

    /// - Parameters:
    ///   - author: The account whose own claims are marked by ``FetchedChange/isOwn``; `nil` marks none.
    ///   - cursor: The cursor from which the cycle began. Former claims after it are in ``FetchedChange/previous``; `nil`
    ///     reads none.
    public init(author: DID? = nil, cursor: JWTID? = nil) {
        self.author = author?.rawValue
        self.cursor = cursor?.rawValue
    }

    /// Whether the account made an item's claim. Servers compare DIDs byte for byte. A hidden issuer is nobody's.
    ///
    /// An item of a plan says who made its last claim. Of the reports of offers one lacks the issuer, but names the
    /// person who offers, who is the issuer unless the claim says otherwise.
    func isOwn(_ item: JSONValue) -> Bool {
        guard let author, let issuer = Self.present(item[.issuerDid]) ?? Self.present(item[.offeredByDid]) else {
            return false
        }
        return issuer.withUTF8 { $0.elementsEqual(author.utf8) } ?? false
    }

    /// The identifier of the claim before a change, if it came after the cursor.
    func previous(_ claim: JSONValue?) -> JWTID? {
        guard let cursor, let id = claim?[.jwtId],
            id.withUTF8({ cursor.utf8.lexicographicallyPrecedes($0) }) == true
        else { return nil }
        return id.text.flatMap { JWTID($0) }
    }

    private static func present(_ value: JSONValue?) -> JSONValue? { value.flatMap { $0.isNull ? nil : $0 } }
}
