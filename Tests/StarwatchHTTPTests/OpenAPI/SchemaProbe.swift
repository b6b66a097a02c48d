@testable import Starwatch

/// Keys and types that a type decodes, found by running its decoder.
///
/// A type that gets a field of its own shows it here, without anybody writing it down again.
final class SchemaProbe {
    enum Kind: Equatable {
        case string, integer, number, boolean, array, object
        case words([String])
    }

    private(set) var kind = Kind.object
    private(set) var properties: [String: SchemaProbe] = [:]
    private(set) var required: Set<String> = []
    private(set) var items: SchemaProbe?
    fileprivate(set) var isNullable = false
    /// Whether the keys of the type are those of the JSON.
    private var hasOwnKeys = false
    /// The name that stands for all names of a dictionary.
    static let anyName = "NAME"

    init(_ type: any Decodable.Type) throws { _ = try read(type) }

    private init(in parent: SchemaProbe) { hasOwnKeys = parent.hasOwnKeys }

    /// The name of a field in the JSON of the control API.
    private func name(_ key: some CodingKey) -> String {
        hasOwnKeys || key.stringValue == Self.anyName ? key.stringValue : ControlJSON.snake(key.stringValue)
    }

    fileprivate func read<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if type is any HasOwnKeys.Type { hasOwnKeys = true }
        if let cases = type as? any CaseIterable.Type, let value = words(cases) as? Value { return value }
        return try type.init(from: Reader(node: self))
    }

    private func words<Cases: CaseIterable>(_ type: Cases.Type) -> Any? {
        let words = type.allCases.compactMap { ($0 as? any RawRepresentable)?.rawValue as? String }
        guard !words.isEmpty else { return nil }
        kind = .words(words)
        return type.allCases.first
    }

    private struct Reader: Decoder {
        let node: SchemaProbe
        var codingPath: [any CodingKey] { [] }
        var userInfo: [CodingUserInfoKey: Any] { [:] }

        func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
            KeyedDecodingContainer(Fields(node: node))
        }

        func unkeyedContainer() -> any UnkeyedDecodingContainer {
            node.kind = .array
            return Items(node: node)
        }

        func singleValueContainer() -> any SingleValueDecodingContainer { Single(node: node) }
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

    private struct Items: UnkeyedDecodingContainer {
        let node: SchemaProbe
        var currentIndex = 0
        var codingPath: [any CodingKey] { [] }
        var count: Int? { 1 }
        var isAtEnd: Bool { currentIndex > 0 }

        init(node: SchemaProbe) { self.node = node }

        private mutating func next() -> SchemaProbe {
            currentIndex += 1
            let child = node.items ?? SchemaProbe(in: node)
            node.items = child
            return child
        }

        mutating func decodeNil() -> Bool { false }
        mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().read(type) }

        mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
            Reader(node: next()).container(keyedBy: type)
        }

        mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer {
            Reader(node: next()).unkeyedContainer()
        }

        mutating func superDecoder() -> any Decoder { Reader(node: next()) }
    }

    private struct Single: SingleValueDecodingContainer {
        let node: SchemaProbe
        var codingPath: [any CodingKey] { [] }

        private func note<Value>(_ kind: Kind, _ value: Value) -> Value {
            node.kind = kind
            return value
        }

        func decodeNil() -> Bool { false }
        func decode(_ type: Bool.Type) -> Bool { note(.boolean, true) }
        func decode(_ type: String.Type) -> String { note(.string, "") }
        func decode(_ type: Double.Type) -> Double { note(.number, 1) }
        func decode(_ type: Float.Type) -> Float { note(.number, 1) }
        func decode(_ type: Int.Type) -> Int { note(.integer, 1) }
        func decode(_ type: Int8.Type) -> Int8 { note(.integer, 1) }
        func decode(_ type: Int16.Type) -> Int16 { note(.integer, 1) }
        func decode(_ type: Int32.Type) -> Int32 { note(.integer, 1) }
        func decode(_ type: Int64.Type) -> Int64 { note(.integer, 1) }
        func decode(_ type: UInt.Type) -> UInt { note(.integer, 1) }
        func decode(_ type: UInt8.Type) -> UInt8 { note(.integer, 1) }
        func decode(_ type: UInt16.Type) -> UInt16 { note(.integer, 1) }
        func decode(_ type: UInt32.Type) -> UInt32 { note(.integer, 1) }
        func decode(_ type: UInt64.Type) -> UInt64 { note(.integer, 1) }
        func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try node.read(type) }
    }
}
