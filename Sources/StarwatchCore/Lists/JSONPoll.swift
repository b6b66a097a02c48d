/// The settings of a poll of the kind `json`: where a list is, and what its items are.
public struct JSONPoll: Sendable, Hashable {
    /// The order of a list.
    public enum Order: String, Sendable, CaseIterable {
        /// The newest item is the first one. The poll asks for pages until one has nothing new.
        case newestFirst = "newest_first"
        /// The newest item is the last one. The poll asks for all pages.
        case oldestFirst = "oldest_first"
        /// There is no order. The poll asks for all pages.
        case none
    }

    /// The way to the next page.
    public enum Next: Sendable, Hashable {
        /// The URL with `rel="next"` in the header `Link` (RFC 8288).
        case linkHeader
        /// The URL at a place of the answer.
        case url(at: JSONPointer)
        /// The value at a place of the answer, for a parameter.
        case cursor(at: JSONPointer, parameter: String)
        /// The number of the page, for a parameter. A page without items is the last one.
        case number(parameter: String, first: Int)
    }

    /// A parameter that asks only for items from a time or a number on.
    public struct Since: Sendable, Hashable {
        /// The name of the parameter.
        public var parameter: String
        /// The place in an item of the value that the server compares: ISO 8601, or a whole number.
        public var from: JSONPointer
        /// The time before the greatest value from which on items are asked for again. By default 10 min. A number that is no
        /// time is not reduced.
        public var overlap: Duration = .seconds(600)

        public init(parameter: String = "", from: JSONPointer = .whole) {
            (self.parameter, self.from) = (parameter, from)
        }
    }

    /// A condition of a well-formed answer. One that breaks it is a failure.
    public struct Expectation: Sendable, Hashable {
        /// The test of the value at ``place``.
        public enum Test: Sendable, Hashable {
            /// There is a value, which can be `null`.
            case exists
            /// The value, as text, is this one.
            case equals(String)
            /// The value is a number of at least this.
            case atLeast(Double)
        }

        /// The place in the answer.
        public var place: JSONPointer
        public var test: Test

        public init(_ place: JSONPointer, _ test: Test) { (self.place, self.test) = (place, test) }
    }

    /// The URL of the list, without its query. `https`; `http` only to this machine.
    public var url = ""
    /// The parameters of each request, before percent-encoding. Empty by default.
    public var query: [String: String] = [:]
    /// A file of mode 0600 with headers of each request, one `Name: value` a line. `nil`, the default: none.
    public var headersFile: String?
    /// The place of the list. By default the answer is the list.
    public var items = JSONPointer.whole
    /// The place in an item of what makes it one: a text or a number.
    public var id = JSONPointer.whole
    /// The place of its version: another one is an edit. `nil`, the default: a digest of the item.
    public var version: JSONPointer?
    /// The place of its name. `nil`, the default: its id is its name.
    public var name: JSONPointer?
    /// The place of its URL. `nil`, the default: it has none.
    public var link: JSONPointer?
    /// The places of other values, by name, for texts and bodies. Empty by default.
    public var fields: [String: JSONPointer] = [:]
    /// The order of the list. By default `none`.
    public var order = Order.none
    /// The way to the next page. `nil`, the default: there is one page.
    public var next: Next?
    /// The largest number of pages of a poll. By default 20.
    public var maxPages = 20
    /// A parameter that asks only for newer items. `nil`, the default: none.
    public var since: Since?
    /// The conditions of a well-formed answer, in their order. Empty by default.
    public var expect: [Expectation] = []

    public init() {}

    /// Scheme, host and port of ``url``; `nil` if it is no URL.
    package var origin: String? { ListURL.origin(of: url) }

    /// The largest number of items of a list, and of those that are remembered.
    package static let largestList = 10_000
}

/// Texts of a poll's own in notifications, in place of those of the catalogue. Each is a pattern as in a catalogue.
public struct PollTexts: Sendable, Hashable {
    /// The title. `nil`, the default: the catalogue's.
    public var title: String?
    /// The text of one change, with `{name}`, `{id}`, `{link}` and the names of fields. `nil`, the default: the catalogue's.
    public var single: String?
    /// The text of several changes, with `{count}`. `nil`, the default: the catalogue's.
    public var several: String?

    public init() {}
}
