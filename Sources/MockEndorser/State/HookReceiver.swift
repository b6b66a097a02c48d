import Crypto
public import Foundation

/// A notification received by the webhook receiver, with all its deliveries.
public struct ReceivedNotification: Sendable {
    /// The `webhook-id` header.
    public let id: String
    /// The body of each delivery, in the order of arrival.
    public internal(set) var bodies: [Data]
    /// The identifiers in the first body's `changes`; empty if it has none.
    public let jwtIDs: [String]

    /// The SHA-256 of the first body, in hexadecimal.
    public var sha256: String {
        SHA256.hash(data: bodies[0]).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    /// Whether all deliveries have the same bytes.
    public var bodiesAgree: Bool { bodies.allSatisfy { $0 == bodies[0] } }
}

/// Receives and records notifications according to Standard Webhooks.
struct HookReceiver: Sendable {
    /// Greatest difference between `webhook-timestamp` and the mock's clock, in seconds.
    private static let tolerance: TimeInterval = 300

    private let secret: [UInt8]?
    /// Notifications in the order of their first delivery.
    private(set) var notifications: [ReceivedNotification] = []
    private(set) var refused = 0
    private var indexOfID: [String: Int] = [:]

    init(secret: [UInt8]?) { self.secret = secret }

    /// Checks and records one delivery. Responds 204; 400 without an identifier; 401 for a wrong signature or time.
    mutating func receive(_ request: IncomingRequest, now: Date) -> Reply {
        guard request.method == "POST" else { return .json(404, ["error": "POST only"]) }
        guard let id = request.header("webhook-id"), !id.isEmpty, !request.isBodyTooLong else {
            refused += 1
            return .json(400, ["error": "webhook-id is required"])
        }
        if let secret, !isSigned(request, id: id, secret: secret, now: now) {
            refused += 1
            return .json(401, ["error": "signature or timestamp does not match"])
        }
        let body = Data(request.body)
        if let index = indexOfID[id] {
            notifications[index].bodies.append(body)
        } else {
            indexOfID[id] = notifications.count
            notifications.append(ReceivedNotification(id: id, bodies: [body], jwtIDs: Self.jwtIDs(in: body)))
        }
        return Reply(status: 204)
    }

    private func isSigned(_ request: IncomingRequest, id: String, secret: [UInt8], now: Date) -> Bool {
        guard let timestamp = request.header("webhook-timestamp"), let seconds = Double(timestamp),
            abs(now.timeIntervalSince1970 - seconds) <= Self.tolerance,
            let signatures = request.header("webhook-signature")
        else { return false }
        let signed = Array("\(id).\(timestamp).".utf8) + request.body
        return signatures.split(separator: " ").contains { entry in
            guard entry.hasPrefix("v1,"), let code = Data(base64Encoded: String(entry.dropFirst(3))) else {
                return false
            }
            return HMAC<SHA256>.isValidAuthenticationCode(
                code,
                authenticating: signed,
                using: SymmetricKey(data: secret)
            )
        }
    }

    private static func jwtIDs(in body: Data) -> [String] {
        struct Body: Decodable {
            struct Change: Decodable {
                let jwt_id: String
            }
            let changes: [Change]
        }
        return (try? JSONDecoder().decode(Body.self, from: body))?.changes.map(\.jwt_id) ?? []
    }
}

/// A parser for webhook secrets.
public enum HookSecret {
    /// The key in a secret file: `whsec_` followed by base64, or the raw bytes without one trailing newline.
    ///
    /// - Returns: `nil` if the text after `whsec_` is not base64.
    public static func key(in file: Data) -> [UInt8]? {
        let bytes = file.last == UInt8(ascii: "\n") ? Array(file.dropLast()) : Array(file)
        let prefix = Array("whsec_".utf8)
        guard bytes.starts(with: prefix) else { return bytes }
        return Data(base64Encoded: Data(bytes.dropFirst(prefix.count))).map { Array($0) }
    }
}
