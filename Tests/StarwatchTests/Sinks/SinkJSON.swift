import Foundation

/// A JSON value, for expectations.
struct SinkJSON: CustomStringConvertible {
    let value: Any?

    init(_ value: Any?) { self.value = value }

    /// - Throws: An error if `text` is not JSON.
    init(text: String) throws { value = try JSONSerialization.jsonObject(with: Data(text.utf8)) }

    subscript(key: String) -> SinkJSON { SinkJSON((value as? [String: Any])?[key]) }
    subscript(index: Int) -> SinkJSON {
        SinkJSON((value as? [Any]).flatMap { $0.indices.contains(index) ? $0[index] : nil })
    }
    var text: String? { value as? String }
    var number: Int? { (value as? NSNumber)?.intValue }
    var flag: Bool? { value as? Bool }
    var count: Int? { (value as? [Any])?.count }

    /// All texts in it.
    var description: String {
        switch value {
        case let object as [String: Any]: object.values.map { SinkJSON($0).description }.joined(separator: "\n")
        case let list as [Any]: list.map { SinkJSON($0).description }.joined(separator: "\n")
        case let text as String: text
        default: ""
        }
    }

    /// The paths of all values in it.
    var shape: [String] {
        switch value {
        case let object as [String: Any]:
            object.flatMap { key, value in SinkJSON(value).shape.map { "\(key).\($0)" } }.sorted()
        case let list as [Any]: list.flatMap { SinkJSON($0).shape.map { "[].\($0)" } }
        default: [""]
        }
    }
}
