import FoundationEssentials

/// The unique values of this installation.
package struct Installation: Sendable, Hashable {
    /// 32 hexadecimal digits; the seed of the splay.
    package let instanceID: String
    /// A key of 32 random bytes, with which logs hash identities. Never logged.
    package let key: [UInt8]
}

extension StoreIdentity {
    /// The installation's id and key, created with the database.
    package func installation() async throws(StoreError) -> Installation {
        try await store.direct(.read) { db in
            guard let row = try db.row("SELECT instance_id, installation_key FROM installation") else {
                throw StoreError.damaged
            }
            let key = try db.vault.installation.map { [UInt8]($0) } ?? row["installation_key"]
            return Installation(instanceID: try row["instance_id"], key: key)
        }
    }
}
