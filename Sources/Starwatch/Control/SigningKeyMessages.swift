import StarwatchCore
import StarwatchTransport

/// The body of an import of a signing key.
package struct SigningKeyImport: Sendable, Codable, ControlBody {
    package static let fields: Set<String> = ["key", "kid"]

    /// The content of a key file, in base64.
    package var key: String
    /// The name of the key; `nil` for a keyed hash of it.
    package var kid: String?

    package init(content: [UInt8], kid: String?) {
        key = Base64.encode(content)
        self.kid = kid
    }
}

/// The body of a rotation of the signing key.
package struct SigningKeyRotation: Sendable, Codable, ControlBody {
    package static let fields: Set<String> = ["key", "emergency"]

    /// The new secret, in base64.
    package var key: String
    /// Whether the former key signs nothing more.
    package var emergency: Bool?

    package init(content: [UInt8], emergency: Bool) {
        key = Base64.encode(content)
        self.emergency = emergency
    }
}

/// The body of a revocation of a signing key.
package struct SigningKeyRevocation: Sendable, Codable, ControlBody {
    package static let fields: Set<String> = ["kid", "force"]

    package var kid: String
    /// Whether to revoke the active key too.
    package var force: Bool?

    package init(kid: String, force: Bool) {
        self.kid = kid
        self.force = force
    }
}

/// The answer to a change of a signing key.
package struct SigningKeyReport: Sendable, Codable, Hashable {
    /// The key that was imported, made or revoked.
    package var key: KeysReport.SigningKey
    /// The keys of the same identity that are retiring now, newest first.
    package var retiring: [KeysReport.SigningKey]
    /// Whether tokens are signed with stored keys (`auth.stored_keys`).
    package var isUsed: Bool

    enum CodingKeys: String, CodingKey {
        case key, retiring
        case isUsed = "used"
    }
}
