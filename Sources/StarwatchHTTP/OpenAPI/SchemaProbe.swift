import Starwatch

/// The form of a type in JSON, found by running its decoder. A new field shows here without anybody writing it down again.
final class SchemaProbe {
    enum Kind: Equatable {
        case text, integer, long, number, flag, list, object
        case words([String])
    }

    /// The type's name without its module, such as `AgentStatus.Poll`.
    private(set) var name = ""
    fileprivate(set) var kind = Kind.object
    private(set) var properties: [String: SchemaProbe] = [:]
    private(set) var required: Set<String> = []
    private(set) var items: SchemaProbe?
    fileprivate(set) var isNullable = false
    private var isRead = false
    /// Whether the keys of the type are those of the JSON.
    private var hasOwnKeys = false
    /// The name that stands for all names of a dictionary.
    static let anyName = "NAME"

    /// - Throws: The error of the decoder, for a type that does not decode from such values.
    init(_ type: any Decodable.Type) throws { _ = try read(type) }

    private init(in parent: SchemaProbe) { hasOwnKeys = parent.hasOwnKeys }

    static func name(of type: Any.Type) -> String {
        String(reflecting: type).split(separator: ".", maxSplits: 1).last.map(String.init) ?? ""
    }

    /// The name of a field in the JSON of the control API.
    private func name(_ key: some CodingKey) -> String {
        hasOwnKeys || key.stringValue == Self.anyName ? key.stringValue : ControlJSON.snake(key.stringValue)
    }

    fileprivate func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type is any HasOwnKeys.Type { hasOwnKeys = true }
        name = Self.name(of: type)
        if let cases = type as? any CaseIterable.Type, let value = words(cases) as? Value { return value }
        return try type.init(from: Reader(node: self))
    }

    private func words<Cases: CaseIterable>(_ type: Cases.Type) -> Any? {
        let words = type.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        guard !words.isEmpty else { return nil }
        kind = .words(words)
        return type.allCases.first
    }

    /// A decoder of a node, its value, or the only item of a list.
    private struct Reader: Decoder, SingleValueDecodingContainer, UnkeyedDecodingContainer {
        let node: SchemaProbe
        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }
        var count: Int? { 1 }
        var currentIndex: Int { node.isRead ? 1 : 0 }
        var isAtEnd: Bool { node.isRead }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
            KeyedDecodingContainer(Fields(node: node))
        }

        func unkeyedContainer() -> any UnkeyedDecodingContainer {
            node.kind = .list
            let items = node.items ?? SchemaProbe(in: node)
            node.items = items
            return Reader(node: items)
        }

        func decodeNil() -> Bool {
            node.isNullable = true
            return false
        }

        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
            let known: (kind: Kind, value: Any)? =
                switch type {
                case is Bool.Type: (.flag, true)
                case is String.Type: (.text, "")
                case is Double.Type: (.number, 1.0)
                case is Int64.Type: (.long, Int64(1))
                case let type as any FixedWidthInteger.Type: (.integer, type.init(truncatingIfNeeded: 1))
                default: nil
                }
            node.isRead = true
            guard let known, let value = known.value as? Value else { return try node.read(type) }
            node.kind = known.kind
            return value
        }

        func singleValueContainer() -> any SingleValueDecodingContainer { self }
        func superDecoder() -> any Decoder { self }
        func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { unkeyedContainer() }

        func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
            container(keyedBy: type)
        }
    }

    private struct Fields<Key: CodingKey>: KeyedDecodingContainerProtocol {
        let node: SchemaProbe
        var codingPath: [any CodingKey] { [] }
        /// A dictionary asks for these; an enumeration of keys knows no such name.
        var allKeys: [Key] { Key(stringValue: SchemaProbe.anyName).map { [$0] } ?? [] }

        private func child(_ key: Key) -> SchemaProbe {
            let name = node.name(key)
            let child = node.properties[name] ?? SchemaProbe(in: node)
            if node.properties[name] == nil { node.required.insert(name) }
            node.properties[name] = child
            return child
        }

        /// Asked before a field that may be left out.
        func contains(_ key: Key) -> Bool {
            _ = child(key)
            node.required.remove(node.name(key))
            return true
        }

        func decodeNil(forKey key: Key) -> Bool {
            child(key).isNullable = true
            return false
        }

        func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try child(key).read(type) }

        func nestedContainer<Nested: CodingKey>(
            keyedBy type: Nested.Type,
            forKey key: Key
        ) -> KeyedDecodingContainer<Nested> {
            KeyedDecodingContainer(Fields<Nested>(node: child(key)))
        }

        func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
            Reader(node: child(key)).unkeyedContainer()
        }

        func superDecoder() -> any Decoder { Reader(node: node) }
        func superDecoder(forKey key: Key) -> any Decoder { Reader(node: child(key)) }
    }
}
