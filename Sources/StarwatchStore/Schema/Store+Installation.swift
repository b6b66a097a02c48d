import GRDB

/// What makes this installation different from every other.
package struct Installation: Sendable, Hashable {
    /// 32 hex digits; the seed of the splay.
    package let instanceID: String
    /// 32 random bytes: the key under which logs hash identities. Never logged.
    package let key: [UInt8]
}

extension Store {
    /// The installation's id and key, made when the database was.
    package func installation() throws(StoreError) -> Installation {
        try direct(.read) { db in
            guard let row = try db.row("SELECT instance_id, installation_key FROM installation") else {
                throw Row.damaged
            }
            return Installation(instanceID: row[0], key: row.bytes(1))
        }
    }
}
