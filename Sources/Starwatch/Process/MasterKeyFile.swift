import StarwatchStore

/// A master key that is in a file.
package struct MasterKeyFile: Sendable {
    /// The name of the key, which does not reveal it.
    package let id: String
    /// The key in base64.
    package let text: String

    private init(_ key: MasterKey) { (id, text) = (key.id, key.text) }

    /// Writes a new key to a new file of mode 0600 that survives a power loss.
    ///
    /// - Parameter former: A file whose owner and mode the new one gets; `nil` for those of the caller.
    /// - Returns: `nil` if the file exists already; it is then unchanged.
    /// - Throws: ``AgentError`` with the system's reason.
    package static func create(_ path: String, like former: String? = nil) throws(AgentError) -> MasterKeyFile? {
        let key = MasterKey()
        return try KeyFile.create(path, key.text, like: former) ? MasterKeyFile(key) : nil
    }

    /// Reads the key in a file.
    ///
    /// - Throws: ``AgentError`` if others can read the file, or if it holds no key.
    package static func read(_ path: String) throws(AgentError) -> MasterKeyFile {
        MasterKeyFile(try MasterKeySource.read(path, nil))
    }

    /// The file in which a rotation keeps the new key until the database uses it.
    package static func pendingPath(of path: String) -> String { path + ".next" }

    /// Replaces a key file with another one, atomically.
    ///
    /// - Throws: ``AgentError`` with the system's reason.
    package static func replace(_ path: String, with new: String) throws(AgentError) {
        try KeyFile.replace(path, with: new)
    }
}
