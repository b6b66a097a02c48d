public import Foundation

/// A list of another API, which the mock serves beside the Endorser endpoints: `--json FILE` of the command.
public struct MockList: Sendable, Decodable {
    /// The order of the items.
    enum Order: String, Decodable {
        case newestFirst = "newest_first"
        case oldestFirst = "oldest_first"
        case none
    }

    /// The way to the next page: exactly one of them.
    struct Paging: Decodable {
        /// Whether the header `Link` has its URL.
        var linkHeader: Bool?
        /// The place of its URL.
        var nextURL: String?
        /// The place of a cursor, for ``parameter``.
        var cursor: String?
        var parameter: String?
        /// The parameter with the number of the page, which begins with ``first``.
        var page: String?
        var first: Int?

        enum CodingKeys: String, CodingKey {
            case linkHeader = "link_header"
            case nextURL = "next_url"
            case cursor, parameter, page, first
        }

        /// The parameter that a request for a page has.
        var name: String { page ?? parameter ?? "offset" }
    }

    /// A parameter that asks for newer items.
    struct Since: Decodable {
        var parameter: String
        var from: String
    }

    /// A header that requests must have.
    struct Header: Decodable {
        var header: String
        var value: String
    }

    /// The path, such as `/v1/releases`.
    public let path: String
    /// The place of the list in the answer; `nil`: the answer is the list.
    let place: String?
    /// The place of the id in an item; `nil`: `/id`.
    let id: String?
    let order: Order?
    /// The number of items of a page; `nil`: all.
    let pageSize: Int?
    let paging: Paging?
    let since: Since?
    /// Whether answers have an `ETag`; `nil`: yes.
    let etag: Bool?
    /// Whether answers have the `Last-Modified` of the list; `nil`: no.
    let lastModified: Bool?
    /// Further headers of each answer, such as `RateLimit`.
    let headers: [String: String]?
    /// The rest of the answer, around the list.
    let envelope: JSONValue?
    let requires: Header?
    private(set) var items: [JSONValue]
    /// The number of times that the items stand in the list, each time with another number in place of `{n}`; `nil`: once.
    private let copies: Int?
    /// The number of changes since the start.
    private(set) var changes = 0

    enum CodingKeys: String, CodingKey {
        case path, id, order, paging, since, etag, headers, envelope, requires, items
        case place = "items_at"
        case pageSize = "page_size"
        case lastModified = "last_modified"
        case copies = "repeat"
    }

    /// Reads the file of a list.
    ///
    /// - Throws: A `DecodingError` for another form.
    public init(json: Data) throws {
        self = try JSONDecoder().decode(MockList.self, from: json)
        guard let copies else { return }
        let numbers = Array(0..<max(copies, 0))
        items = (order == .newestFirst ? numbers.reversed() : numbers).flatMap { number in
            items.map { Self.filled($0, number + 1) }
        }
    }

    private func key(of item: JSONValue) -> String? { MockPointer(id ?? "/id").value(in: item)?.scalar }

    /// An item with its number in place of `{n}`.
    private static func filled(_ item: JSONValue, _ number: Int) -> JSONValue {
        switch item {
        case .string(let text): .string(text.replacingOccurrences(of: "{n}", with: "\(number)"))
        case .array(let values): .array(values.map { filled($0, number) })
        case .object(let members): .object(members.map { ($0.0, filled($0.1, number)) })
        case .null, .bool, .integer, .number, .encoded: item
        }
    }

    /// Adds an item, as JSON, at the newest end, in place of one with the same id.
    public mutating func put(json: String) {
        guard let item = try? JSONDecoder().decode(JSONValue.self, from: Data(json.utf8)) else {
            preconditionFailure("The item is no JSON.")
        }
        put(item)
    }

    mutating func put(_ item: JSONValue) {
        let known = key(of: item)
        items = items.filter { key(of: $0) != known }
        if order == .newestFirst { items.insert(item, at: 0) } else { items.append(item) }
        changes += 1
    }

    /// Removes the item with an id.
    public mutating func remove(_ id: String) {
        items = items.filter { key(of: $0) != id }
        changes += 1
    }
}
