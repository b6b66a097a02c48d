/// The link and the fields of a list's item, in their stored form.
public struct ItemDetails: Sendable, Hashable, Codable {
    /// A JSON object of `link` and `fields`.
    package let stored: String

    package init(stored: String) { self.stored = stored }

    /// - Parameters:
    ///   - link: An `http` or `https` URL; `nil` for none.
    ///   - fields: The values by name, each as one line.
    public init?(link: String?, fields: [String: String]) {
        guard link != nil || !fields.isEmpty else { return nil }
        var members: [String: JSONTree] = [:]
        if let link { members["link"] = .text(link) }
        if !fields.isEmpty { members["fields"] = .object(fields.mapValues { .text($0) }) }
        stored = StableJSON.text(of: JSONTree.object(members))
    }

    private var members: [String: JSONTree] {
        guard case .object(let members)? = JSONTree(json: Array(stored.utf8)) else { return [:] }
        return members
    }

    /// The item's URL; `nil` if it has none.
    public var link: String? { members["link"]?.scalar }

    /// The values of its fields, by name.
    public var fields: [String: String] {
        guard case .object(let fields)? = members["fields"] else { return [:] }
        return fields.compactMapValues(\.scalar)
    }
}
