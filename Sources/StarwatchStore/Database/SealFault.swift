/// The reason why an encrypted database cannot be used.
package enum SealFault: Sendable, Hashable {
    /// The database is encrypted, and there is no master key.
    case noMasterKey
    /// The database was encrypted with another master key. Both are given by their ids.
    case otherMasterKey(found: String, given: String)
    /// There is a master key, and the database has data that is not encrypted.
    case notEncrypted
    /// A value or a key does not open. It was changed, or moved from another place.
    case damaged
    /// The database holds signing keys, which exist only encrypted.
    case signingKeys
    /// The database is encrypted, and another program keeps its former pages.
    case notCleaned
    /// A host application owns the database, and the agent does not encrypt it.
    case hostOwned
}

extension SealFault: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noMasterKey:
            """
            the database is encrypted, and no master key is configured: set security.master_key_file or \
            security.master_key_command; nothing was written
            """
        case .otherMasterKey(let found, let given):
            """
            the database is encrypted with the master key \(found), and the configured one is \(given): configure the \
            right key; nothing was written
            """
        case .notEncrypted:
            """
            a master key is configured, and the database is not encrypted: run starwatch keys encrypt-database, or \
            remove the setting of the master key; nothing was written
            """
        case .damaged:
            """
            an encrypted value of the database does not open, because it was changed or moved: run starwatch keys \
            verify, or restore a backup
            """
        case .signingKeys:
            """
            the database holds signing keys, which would be destroyed: revoke them with starwatch keys revoke, or give \
            --force; nothing was written
            """
        case .notCleaned:
            """
            the database is encrypted, and clear text is still in its files because another program reads it: close that \
            program, then run starwatch keys encrypt-database again
            """
        case .hostOwned:
            "storage.owner host and a master key exclude each other: the owner of the database encrypts it itself"
        }
    }
}
