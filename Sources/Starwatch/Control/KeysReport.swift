package import StarwatchCore
import StarwatchTransport

/// The keys of the database, without their secrets.
package struct KeysReport: Sendable, Codable, Hashable {
    /// The key that wraps the data keys.
    package struct MasterKey: Sendable, Codable, Hashable {
        /// The first 16 hexadecimal digits of a keyed hash. It names the key and does not reveal it.
        package var id: String
        /// Time since which this database uses it.
        package var since: TimeText
    }

    /// A key that encrypts values.
    package struct DataKey: Sendable, Codable, Hashable {
        package enum State: String, Sendable, Codable, CaseIterable {
            /// It encrypts new values.
            case active
            /// It only decrypts, until its values are encrypted again.
            case retiring
        }

        package var id: Int64
        /// The pseudonym of the account whose values it encrypts, `did:hash:…`; `nil` for values of no account.
        package var account: String?
        package var state: State
        /// An upper bound of the number of values that it has encrypted.
        package var uses: Int
        package var createdAt: TimeText
    }

    /// A key that signs tokens.
    package struct SigningKey: Sendable, Codable, Hashable {
        /// The name of the key in the header of tokens. It does not reveal the key.
        package var kid: String
        package var algorithm: SigningAlgorithm
        package var state: SigningKeyState
        /// The pseudonym of the identity that it signs for, `did:hash:…`.
        package var account: String
        package var createdAt: TimeText
        /// The time at which a retiring key is destroyed or a revoked one was; `nil` for an active key.
        package var endsAt: TimeText?
    }

    package var encrypted: Bool
    /// `nil` if the database is not encrypted.
    package var masterKey: MasterKey?
    package var dataKeys: [DataKey]
    /// The signing keys, newest first.
    package var signingKeys: [SigningKey]
}

/// The result of opening every encrypted value.
package struct KeyVerification: Sendable, Codable, Hashable {
    /// A value that does not open.
    package struct Fault: Sendable, Codable, Hashable {
        /// Table and column.
        package var column: String
        /// The primary key of its row, as it is stored.
        package var row: String
    }

    /// The number of values that open.
    package var opened: Int
    /// The number of values that do not open.
    package var failed: Int
    /// The first hundred values that do not open.
    package var faults: [Fault]
}

/// A change of the master key.
package struct MasterKeyChange: Sendable, Codable {
    /// The new key: 32 bytes in base64.
    package var key: String

    package init(key: String) { self.key = key }
}

/// The body of an import of a signing key.
package struct SigningKeyImport: Sendable, Codable {
    /// The content of a key file, in base64.
    package var key: String
    /// The name of the key; by default a keyed hash of it.
    package var kid: String?

    package init(content: [UInt8], kid: String?) {
        key = Base64.encode(content)
        self.kid = kid
    }
}

/// The body of a rotation of the signing key.
package struct SigningKeyRotation: Sendable, Codable {
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
package struct SigningKeyRevocation: Sendable, Codable {
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
    package var used: Bool
}
