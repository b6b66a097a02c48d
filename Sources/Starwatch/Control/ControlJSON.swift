package import FoundationEssentials
import StarwatchCore

/// The JSON of the control API and of `--json`. The property `runID` has the key `run_id`.
package enum ControlJSON {
    package static func encode(_ value: some Encodable, isPretty: Bool = false) throws -> Data {
        let encoder = JSONEncoder.stable(isPretty: isPretty)
        if !(value is any HasOwnKeys) {
            encoder.keyEncodingStrategy = .custom { AnyKey(snake($0[$0.count - 1].stringValue)) }
        }
        return try encoder.encode(value)
    }

    package static func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        let decoder = JSONDecoder()
        if !(type is any HasOwnKeys.Type) {
            decoder.keyDecodingStrategy = .custom { AnyKey(camel($0[$0.count - 1].stringValue)) }
        }
        return try decoder.decode(type, from: Data(bytes))
    }

    /// The key of a property: `planIDs` is `plan_ids`, and `tookMilliseconds` is `took_ms`.
    package static func snake(_ property: String) -> String {
        guard property.utf8.contains(where: isCapital) else { return property }
        var key: [UInt8] = []
        var isInCapitals = false
        for byte in property.utf8 {
            let isCapital = isCapital(byte)
            if isCapital, !isInCapitals { key.append(UInt8(ascii: "_")) }
            key.append(isCapital ? byte | 0x20 : byte)
            isInCapitals = isCapital
        }
        let text = String(decoding: key, as: UTF8.self)
        return text.hasSuffix("_milliseconds") ? String(text.dropLast(12)) + "ms" : text
    }

    private static func isCapital(_ byte: UInt8) -> Bool { (0x41...0x5A).contains(byte) }

    /// The property of a key.
    package static func camel(_ key: String) -> String {
        let words = key.split(separator: "_", omittingEmptySubsequences: false)
        return words.dropFirst().reduce(into: String(words[0])) { property, word in
            switch word {
            case "id": property += "ID"
            case "ids": property += "IDs"
            case "ms": property += "Milliseconds"
            default: property += word.prefix(1).uppercased() + word.dropFirst()
            }
        }
    }
}

/// A value whose keys do not depend on the encoder, because it is also encoded elsewhere.
package protocol HasOwnKeys {}

extension AgentStatus: HasOwnKeys {}
extension FeedListing: HasOwnKeys {}

/// Keys of a public type, in snake case with any encoder.
protocol SnakeKey: CodingKey, RawRepresentable where RawValue == String {}

extension SnakeKey {
    var stringValue: String { ControlJSON.snake(rawValue) }
    var intValue: Int? { nil }

    init?(stringValue: String) { self.init(rawValue: ControlJSON.camel(stringValue)) }
    init?(intValue: Int) { return nil }
}
