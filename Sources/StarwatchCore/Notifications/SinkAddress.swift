/// The part of a sink that an account brings: where its notifications go, and the secret that signs or allows them.
///
/// Its description never shows the content.
package struct SinkAddress: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
    /// A part of the address, by its name in `accounts add`.
    package enum Part: String, Sendable, CodingKey, CaseIterable {
        case url
        /// The receiver at a chat's service.
        case room
        /// The topic of an ntfy server, or of a chat's room.
        case topic
        /// The address of a mailbox.
        case to
        /// The key that signs a webhook, or the token of a service.
        case secret
    }

    private var values: [Part: String] = [:]
    /// Whether it was decoded from an object with other fields, such as a mistyped secret.
    package private(set) var hasUnknownFields = false

    package init(
        url: String? = nil,
        room: String? = nil,
        topic: String? = nil,
        to: String? = nil,
        secret: String? = nil
    ) {
        values = [Part.url: url, .room: room, .topic: topic, .to: to, .secret: secret].compactMapValues(\.self)
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: AnyKey.self).allKeys
        hasUnknownFields = !fields.allSatisfy { Part(stringValue: $0.stringValue) != nil }
        let container = try decoder.container(keyedBy: Part.self)
        for part in Part.allCases { values[part] = try container.decodeIfPresent(String.self, forKey: part) }
    }

    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Part.self)
        for part in parts { try container.encode(values[part], forKey: part) }
    }

    /// The parts that the account brought.
    package var parts: [Part] { Part.allCases.filter { values[$0] != nil } }

    package subscript(part: Part) -> String? {
        get { values[part] }
        set { values[part] = newValue }
    }

    package var description: String { "<sink address>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
