import Foundation

/// A JSON pointer through objects.
struct MockPointer {
    private let steps: [String]

    init(_ text: String) { steps = text.split(separator: "/").map(String.init) }

    private init(steps: [String]) { self.steps = steps }

    /// The value at the place; `nil` if there is none.
    func value(in json: JSONValue) -> JSONValue? { steps.reduce(json) { value, step in value?[step] } }

    /// The same JSON with another value at the place.
    func setting(_ value: JSONValue, in json: JSONValue) -> JSONValue {
        guard let step = steps.first else { return value }
        var object = if case .object = json { json } else { JSONValue.object([]) }
        object[step] = MockPointer(steps: Array(steps.dropFirst())).setting(value, in: object[step] ?? .object([]))
        return object
    }
}

/// The content that the mock serves beside the Endorser endpoints.
struct OtherContent {
    /// The JSON body of `/content`.
    var digest = "{}"
    /// The lists of other APIs, by path.
    var lists: [String: MockList]

    init(_ lists: [MockList]) { self.lists = Dictionary(lists.map { ($0.path, $0) }) { $1 } }
}
