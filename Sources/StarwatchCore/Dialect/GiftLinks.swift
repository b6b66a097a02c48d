/// The links from the claim of a gift to what it fulfills, such as a plan and an offer.
///
/// Anybody can give and writes the claim, so nothing in it is an error. A claim has one link or an array of them. The reader
/// of a page skips arrays, so the claim is parsed again for this one.
enum GiftLinks {
    private enum Key: UInt8, CaseIterable {
        case fulfills, type, identifier, lastClaimId

        var name: String { self == .type ? "@type" : String(describing: self) }
    }

    private static let keys = JSONKeys(Key.allCases.map(\.name), list: Key.fulfills.name)

    /// Whether a claim has a link that names an offer.
    static func haveOffer(_ claim: JSONValue) -> Bool {
        claim.readObject(keys: keys) { claim in
            guard let links = claim[Key.fulfills.rawValue] else { return false }
            return links.count == nil ? isToOffer(links) : links.elements.contains(where: isToOffer)
        } ?? false
    }

    /// Whether the type of a link is that of an offer.
    static func isOffer(_ type: UnsafeBufferPointer<UInt8>) -> Bool { type.elementsEqual("Offer".utf8) }

    private static func isToOffer(_ link: JSONValue) -> Bool {
        guard link[Key.type.rawValue]?.withUTF8(isOffer) == true else { return false }
        return [Key.identifier, .lastClaimId].contains { link[$0.rawValue]?.withUTF8 { !$0.isEmpty } == true }
    }
}
