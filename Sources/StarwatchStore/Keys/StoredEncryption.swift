import GRDB
import StarwatchCore

extension StoreOptions {
    /// Reads the id of the master key of a database of any version, beside an agent that can have it open. Needs no key.
    ///
    /// - Returns: `nil` if the database is not encrypted.
    /// - Throws: ``StoreError/absent`` if there is no file yet, or an empty one.
    package func storedMasterKey() throws(StoreError) -> String? {
        var options = self
        options.reads = true
        do {
            try DatabaseFile.mustExist(path: path)
            let queue = try DatabaseQueue(path: path, configuration: options.configuration)
            defer { try? queue.close() }
            return try queue.read { db in
                guard try db.tableExists("installation") else { throw StoreError.absent }
                // Versions before 5 have no encryption.
                guard try db.tableExists("sealing") else { return nil }
                return try String.fetchOne(db, sql: "SELECT master_key FROM sealing")
            }
        } catch { throw StoreError(error) }
    }
}
