/// The facts about an account and its poll that decide what is read of a page beside its changes.
public struct PageContext: Sendable {
    /// The bytes of the account's DID; empty if no item is compared with it.
    let author: [UInt8]
    /// The bytes of the cursor from which the walk began; empty if no former claim is read.
    let cursor: [UInt8]

    /// - Parameters:
    ///   - author: The account whose own claims are listed in ``Page/own``; `nil` lists none.
    ///   - cursor: The cursor from which the walk began. Former claims after it are listed in ``Page/previous``; `nil`
    ///     lists none.
    public init(author: DID? = nil, cursor: JWTID? = nil) {
        self.author = author.map { Array($0.rawValue.utf8) } ?? []
        self.cursor = cursor.map { Array($0.rawValue.utf8) } ?? []
    }

    /// Whether the account made an item's claim. Servers compare DIDs byte for byte. A hidden issuer is nobody's.
    ///
    /// An item of a plan says who made its last claim. Of the reports of offers one lacks the issuer, but names the
    /// person who offers, who is the issuer unless the claim says otherwise.
    func isOwn(_ item: JSONValue) -> Bool {
        guard !author.isEmpty, let issuer = Self.present(item[.issuerDid]) ?? Self.present(item[.offeredByDid]) else {
            return false
        }
        return issuer.withUTF8 { $0.elementsEqual(author) } ?? false
    }

    /// The identifier of the claim before a change, if it came after the cursor.
    func previous(_ claim: JSONValue?) -> JWTID? {
        guard !cursor.isEmpty, let id = claim?[.jwtId],
            id.withUTF8({ cursor.lexicographicallyPrecedes($0) }) == true
        else { return nil }
        return id.text.flatMap { JWTID($0) }
    }

    private static func present(_ value: JSONValue?) -> JSONValue? { value.flatMap { $0.isNull ? nil : $0 } }
}
