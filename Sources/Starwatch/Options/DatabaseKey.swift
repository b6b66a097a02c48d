package import StarwatchStore

/// The master key of the database in the memory of a host program: 32 bytes. It never appears in descriptions.
///
/// The host keeps it, and gives the same key at every start: without it the database is lost.
public struct DatabaseKey: Sendable, Hashable, CustomStringConvertible, CustomReflectable {
    package let master: MasterKey

    package init(_ master: MasterKey) { self.master = master }

    /// Creates a random key, for the first start.
    public init() { self.init(MasterKey()) }

    /// Reads a key in the form of ``base64``, also with an end of line.
    ///
    /// - Returns: `nil` for any other text than 32 bytes in base64.
    public init?(base64: String) {
        guard let master = MasterKey(text: Array(base64.utf8)) else { return nil }
        self.init(master)
    }

    /// The key as text, which is a secret: 32 bytes in base64.
    public var base64: String { String(master.text.dropLast()) }

    /// The name of the key, which does not reveal it. The error about a wrong key has it.
    public var id: String { master.id }

    public var description: String { "<master key \(id)>" }
    public var customMirror: Mirror { Mirror(self, children: []) }

    public static func == (lhs: DatabaseKey, rhs: DatabaseKey) -> Bool { lhs.id == rhs.id }
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}
