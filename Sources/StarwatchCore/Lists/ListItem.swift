/// An item of a list: what a poll of the kind `json` can announce.
public struct ListItem: Sendable, Hashable {
    /// The text that makes it one item.
    public let id: String
    public let version: ItemVersion
    /// The name to show, as one line; `nil` if it has none.
    public let name: String?
    /// The link and the fields; `nil` if it has neither.
    public let details: ItemDetails?

    public init(id: String, version: ItemVersion, name: String? = nil, details: ItemDetails? = nil) {
        (self.id, self.version, self.name, self.details) = (id, version, name, details)
    }

    /// The bytes of the identifier. Swift holds two spellings of é for equal, and a server does not.
    var key: [UInt8] { Array(id.utf8) }
}

/// The version of an item.
public struct ItemVersion: Sendable, Hashable {
    /// The version, or a digest of the item.
    public let text: String
    /// The place among the versions: milliseconds of a time, or a whole number; `nil` if versions have no order.
    public let rank: Int64?

    public init(_ text: String, rank: Int64? = nil) { (self.text, self.rank) = (text, rank) }

    /// Whether an item with this version is news to someone who knows a former one. A version that goes back is not, because
    /// an old copy of the list has it.
    ///
    /// - Parameters:
    ///   - isSame: Whether the former one is the same.
    ///   - former: The former one's ``rank``.
    package func isNews(after former: Int64?, isSame: Bool) -> Bool {
        guard !isSame else { return false }
        guard let rank, let former else { return true }
        return rank >= former
    }
}

/// A page of a list.
public struct ListPage: Sendable, Hashable {
    /// The next page.
    public enum Next: Sendable, Hashable {
        /// A URL of the same origin.
        case url(String)
        /// A parameter that replaces or adds one.
        case parameter(name: String, value: String)
    }

    /// The items in the order of the page, without those that were set aside.
    public var items: [ListItem] = []
    /// The number of items on the page, with those that were set aside.
    public var fetched = 0
    /// The items that were set aside.
    public var refused: [RefusedItem] = []
    /// The next page; `nil` for the last one.
    public var next: Next?
    /// The greatest value of ``JSONPoll/Since/from``; `nil` if there is none.
    public var since: SinceValue?

    public init() {}
}

/// A value of the parameter ``JSONPoll/Since``.
public struct SinceValue: Sendable, Hashable, Codable {
    /// The forms of the value.
    public enum Form: String, Sendable, Codable { case iso8601, seconds, milliseconds, number }

    /// Milliseconds of a time, or a number that is no time.
    public let value: Int64
    public let form: Form

    public init(_ value: Int64, _ form: Form) { (self.value, self.form) = (value, form) }
}

/// The state of a list as its poll knows it, beside the items it has seen.
public struct ListState: Sendable, Hashable, Codable {
    /// The `ETag` of the first page; `nil` for none.
    public var etag: String?
    /// Its `Last-Modified`; `nil` for none.
    public var lastModified: String?
    /// The greatest value seen of the parameter ``JSONPoll/Since``; `nil` for none.
    public var since: SinceValue?
    /// The settings under which the rest is true, as a number that tells them apart.
    public var settings: Int64?
    /// The settings that say which items and versions are the same, as such a number.
    public var meaning: Int64?

    public init() {}
}
