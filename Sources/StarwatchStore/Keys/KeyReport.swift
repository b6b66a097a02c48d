package import StarwatchCore

/// The encryption of a database: its keys, without their secrets.
package struct KeyReport: Sendable, Hashable {
    /// A key that encrypts values.
    package struct DataKey: Sendable, Hashable {
        package let id: Int64
        /// The account whose values it encrypts; `nil` for values of no account.
        package let account: DID?
        /// Whether it still encrypts. A key that is retiring only decrypts, until its values are encrypted again.
        package let isActive: Bool
        /// An upper bound of the number of values that it has encrypted.
        package let uses: Int
        package let createdAt: Timestamp
    }

    /// A key that signs tokens.
    package struct SigningKey: Sendable, Hashable {
        package let kid: String
        package let account: DID
        package let algorithm: SigningAlgorithm
        package let state: SigningKeyState
        package let createdAt: Timestamp
        /// The time at which a retiring key is destroyed or a revoked one was; `nil` for an active key.
        package let endsAt: Timestamp?
    }

    /// The id of the master key; `nil` if the database is not encrypted.
    package var masterKey: String?
    /// The time when the master key was first used here; `nil` if the database is not encrypted.
    package var masterKeySince: Timestamp?
    /// The data keys by id.
    package var dataKeys: [DataKey] = []
    /// The signing keys, newest first.
    package var signingKeys: [SigningKey] = []
}

/// The progress of encrypting values again under new data keys.
package struct Resealing: Sendable, Hashable {
    /// The rows that this step looked at.
    package var rows = 0
    /// The part of all rows that the pass has looked at, from 0 to 1. 1 if no key is retiring.
    package var progress = 1.0
    /// Whether no key is retiring.
    package var isFinished: Bool { progress >= 1 }
}

/// The result of opening every encrypted value.
package struct SealReport: Sendable {
    /// The table and column of a value that does not open, and the primary key of its row. Keys that are texts are shown as they
    /// are stored: as keyed hashes or ids of notifications.
    package typealias Fault = (column: String, row: String)

    /// The number of values that open.
    package var opened = 0
    /// The number of values that do not open.
    package var failed = 0
    /// The first hundred values that do not open.
    package var faults: [Fault] = []

    package init() {}

    mutating func add(_ fault: Fault) {
        failed += 1
        if faults.count < 100 { faults.append(fault) }
    }
}
