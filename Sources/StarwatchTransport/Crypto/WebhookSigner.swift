internal import Crypto
package import StarwatchCore

/// Signs webhooks as Standard Webhooks 1.0 asks: HMAC-SHA-256 over `id.timestamp.body`.
package struct WebhookSigner: Sendable {
    private let keys: [SymmetricKey]

    /// Takes the secrets that are valid now, the newest first: several while one is being replaced.
    ///
    /// Each is `whsec_` and base 64, or else the raw bytes of the key. `nil` when there is none, one is empty, or what
    /// follows `whsec_` is not base 64.
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

    /// Takes what a `secret_file` holds: the bytes of one key, or one line for each secret that begins with `whsec_`, the
    /// newest first. `nil` as above, and when a line after the first is no such secret.
    package init?(file bytes: [UInt8]) {
        let isText = bytes.starts(with: "whsec_".utf8)
        let lines = isText ? bytes.split { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") } : []
        guard lines.allSatisfy({ $0.starts(with: "whsec_".utf8) }) else { return nil }
        self.init(secrets: isText ? lines.map(Array.init) : [bytes])
    }

    /// The three headers of a webhook. `id` is the notification's and the same for every retry; `timestamp` is the
    /// time of this try.
    package func headers(id: String, timestamp: Timestamp, body: [UInt8]) -> [(name: String, value: String)] {
        [
            ("webhook-id", id), ("webhook-timestamp", String(timestamp.wholeSeconds)),
            ("webhook-signature", signature(id: id, timestamp: timestamp, body: body)),
        ]
    }

    /// `v1,` and base 64, once for each secret, separated by spaces.
    package func signature(id: String, timestamp: Timestamp, body: [UInt8]) -> String {
        let message = Array("\(id).\(timestamp.wholeSeconds).".utf8) + body
        return keys.map { key in
            "v1," + Base64.encode(Array(HMAC<SHA256>.authenticationCode(for: message, using: key)))
        }.joined(separator: " ")
    }
}
