package import StarwatchCore

/// The error of a store operation. Descriptions contain no row values.
package enum StoreError: Error, Sendable, Hashable {
    /// Another process held the write lock for longer than the busy timeout.
    case busy
    /// Another agent has this database open.
    case alreadyOpen
    /// No space is left for the database.
    case full
    /// The file is damaged or not a database. `detail` is SQLite's own text.
    case corrupt(detail: String)
    /// A file cannot be read, written, locked or trusted. `detail` is the system's or SQLite's text.
    case io(detail: String)
    /// The program does not support the schema version. `copy` is the file name of a copy from before the
    /// upgrade.
    case version(found: Int, supported: ClosedRange<Int>, copy: String? = nil)
    /// The database is of before the first release.
    case tooOld(found: Int, oldest: Int)
    /// The device has no room for the copy that is made before an upgrade. So many bytes must become free.
    case noRoomForCopy(version: Int, bytes: Int)
    /// A copy from before an upgrade contains clear text and cannot be deleted. It is given by its file name.
    case copyRemains(name: String)
    /// The file contains tables of another program.
    case foreign
    /// The file does not exist, and a host application must create it.
    case absent
    /// The encryption of the database does not fit the master key.
    case sealed(SealFault)
    /// Another owner has claimed the account since. The database works, so neither its health nor its metrics change.
    case leaseLost

    static let damaged = StoreError.corrupt(detail: "a stored value is invalid")

    package var kind: StoreErrorKind {
        switch self {
        case .busy, .alreadyOpen, .leaseLost: .busy
        case .full, .noRoomForCopy: .full
        case .corrupt: .corrupt
        case .io, .copyRemains: .io
        case .version, .tooOld, .foreign, .absent: .version
        case .sealed(let fault): fault == .damaged ? .corrupt : .version
        }
    }
}

extension StoreError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .busy:
            "the database is locked by another program: close that program, then retry"
        case .alreadyOpen:
            "another agent has this database open: stop it, or give this agent its own storage.path"
        case .full:
            "no space is left for the database: free space on its device; no stored data was lost"
        case .corrupt(let detail):
            "the database file is damaged or not a database (\(detail)): restore a backup, or move it away to start empty"
        case .io(let detail):
            "the database file cannot be used (\(detail)): check its path, owner and mode, and its device"
        case .version(let found, let supported, let copy) where found > supported.upperBound:
            """
            the database has schema version \(found), and this program supports versions up to \
            \(supported.upperBound): install the newer program\
            \(copy.map { ", or restore \($0), which was made before the upgrade" } ?? ""); nothing was written
            """
        case .noRoomForCopy(let version, let bytes):
            """
            there is no room for the copy of the database before the upgrade to schema version \(version): free \
            \((bytes + 999_999) / 1_000_000) MB on its device, or set storage.keep_before_upgrade to 0s; nothing was written
            """
        case .tooOld(let found, let oldest):
            """
            the database has schema version \(found), and the first release had \(oldest): move it away, and begin with a new \
            one; nothing was written
            """
        case .version(let found, let supported, _):
            """
            the database has schema version \(found), and this program needs at least \(supported.lowerBound): \
            run the statements of starwatch schema --from \(found) as its owner, with sqlite3 -bail or from a program, or set \
            storage.owner to agent; nothing was written
            """
        case .absent:
            """
            the database does not exist, and its owner must create it: run the statements of starwatch schema with \
            sqlite3 -bail or from a program, or set storage.owner to agent; nothing was written
            """
        case .copyRemains(let name):
            """
            the database is encrypted, and \(name) beside it has clear text from before an upgrade: it cannot be deleted, so \
            check the folder, then delete that file
            """
        case .sealed(let fault): fault.description
        case .leaseLost:
            "another worker serves this account now: retry in a minute; nothing was written"
        case .foreign:
            "the file is the database of another program: choose another storage.path; nothing was written"
        }
    }
}

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
    /// The database is encrypted and holds addresses of sinks, which are never stored in clear form.
    case sinkAddresses
    /// The database is encrypted and keeps what it handed out of accounts, which is never stored in clear form.
    case exportedAccounts
    /// The database is encrypted, and another program keeps its former pages.
    case notCleaned
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
        case .sinkAddresses:
            """
            the database holds addresses of sinks, which would be destroyed: erase those accounts with starwatch \
            accounts erase, or give --force; nothing was written
            """
        case .exportedAccounts:
            """
            the database keeps what it handed out of exported accounts, which would be destroyed: erase those accounts with \
            starwatch accounts erase, or give --force; nothing was written
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
        }
    }
}
