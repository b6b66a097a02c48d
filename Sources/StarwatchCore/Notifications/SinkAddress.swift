/// The part of a sink that an account brings: where its notifications go, and the secret that signs or allows them.
///
/// Its description never shows the content.
package struct SinkAddress: Sendable, Hashable, Codable, CustomStringConvertible, CustomReflectable {
    package var url: String?
    /// The receiver at a chat's service.
    package var room: String?
    /// The topic of an ntfy server.
    package var topic: String?
    /// The address of a mailbox.
    package var to: String?
    /// The key that signs a webhook, or the token of a service.
    package var secret: String?
    /// Whether it was decoded from an object with other fields, such as a mistyped secret.
    package private(set) var hasUnknownFields = false

    private enum CodingKeys: String, CodingKey, CaseIterable { case url, room, topic, to, secret }

    private struct Field: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package init(
        url: String? = nil,
        room: String? = nil,
        topic: String? = nil,
        to: String? = nil,
        secret: String? = nil
    ) {
        (self.url, self.room, self.topic, self.to, self.secret) = (url, room, topic, to, secret)
    }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        let known = Set(CodingKeys.allCases.map(\.rawValue))
        let given = try decoder.container(keyedBy: Field.self).allKeys.map(\.stringValue)
        hasUnknownFields = !known.isSuperset(of: given)
        url = try fields.decodeIfPresent(String.self, forKey: .url)
        room = try fields.decodeIfPresent(String.self, forKey: .room)
        topic = try fields.decodeIfPresent(String.self, forKey: .topic)
        to = try fields.decodeIfPresent(String.self, forKey: .to)
        secret = try fields.decodeIfPresent(String.self, forKey: .secret)
    }

    package var description: String { "<sink address>" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
