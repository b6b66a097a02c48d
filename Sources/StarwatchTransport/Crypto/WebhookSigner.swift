internal import Crypto
package import StarwatchCore

/// Signs webhooks according to Standard Webhooks 1.0: HMAC-SHA-256 over `id.timestamp.body`.
package struct WebhookSigner: Sendable {
    private let keys: [SymmetricKey]

    /// Creates a signer with all valid secrets, newest first; there are several during a rotation.
    ///
    /// Each secret is `whsec_` followed by base 64, or the raw bytes of the key. `nil` when there is no secret, a
    /// secret is empty, or the text after `whsec_` is not base 64.
    package init?(secrets: [[UInt8]]) {
        let keys = secrets.compactMap { secret -> SymmetricKey? in
            let prefix = "whsec_".utf8
            guard secret.starts(with: prefix) else { return secret.isEmpty ? nil : SymmetricKey(data: secret) }
            let text = String(decoding: secret.dropFirst(prefix.count), as: UTF8.self)
            guard let decoded = Base64.decode(text), !decoded.isEmpty else { return nil }
            return SymmetricKey(data: decoded)
        }
        guard !keys.isEmpty, keys.count == secrets.count else { return nil }
        self.keys = keys
    }

    /// Creates a signer with the content of a `secret_file`: one raw key, or one line per `whsec_` secret, newest
    /// first. `nil` for an invalid secret, or when a line after the first does not begin with `whsec_`.
    package init?(file bytes: [UInt8]) {
        let isText = bytes.starts(with: "whsec_".utf8)
        let lines = isText ? bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } : []
        guard lines.allSatisfy({ $0.starts(with: "whsec_".utf8) }) else { return nil }
        self.init(secrets: isText ? lines.map(Array.init) : [bytes])
    }

    /// The three headers of a webhook.
    ///
    /// - Parameters:
    ///   - id: The notification's identifier, the same for every retry.
    ///   - timestamp: The time of this attempt.
    ///   - body: The bytes to send.
    package func headers(id: String, timestamp: Timestamp, body: [UInt8]) -> [(name: String, value: String)] {
        [
            ("webhook-id", id), ("webhook-timestamp", String(timestamp.wholeSeconds)),
            ("webhook-signature", signature(id: id, timestamp: timestamp, body: body)),
        ]
    }

    /// The signatures of all secrets, separated by spaces. Each is `v1,` followed by base 64.
    package func signature(id: String, timestamp: Timestamp, body: [UInt8]) -> String {
        let message = Array("\(id).\(timestamp.wholeSeconds).".utf8) + body
        return keys.map { key in
            "v1," + Base64.encode(Array(HMAC<SHA256>.authenticationCode(for: message, using: key)))
        }.joined(separator: " ")
    }
}
