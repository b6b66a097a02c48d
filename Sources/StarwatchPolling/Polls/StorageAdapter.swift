import Synchronization

/// Where a host application keeps how far it has come.
///
/// A watermark only rises: text compares byte by byte, so it has to be written such that later is greater, as ISO 8601
/// dates, ULIDs and numbers of a fixed width are.
public protocol StorageAdapter: Sendable {
    /// The watermark of `key`; `nil` when there is none.
    func watermark(of key: String) async throws -> String?

    /// Moves the watermark from `expected` to `new`, if it still is `expected`, and `new` is greater.
    ///
    /// `false` is a normal answer: somebody else moved it first, or it would not rise. Read again and decide again.
    func advance(_ key: String, from expected: String?, to new: String) async throws -> Bool
}

/// Watermarks that end with the process.
public final class InMemoryStorage: StorageAdapter {
    private let watermarks = Mutex<[String: String]>([:])

    public init() {}

    public func watermark(of key: String) async throws -> String? { watermarks.withLock { $0[key] } }

    public func advance(_ key: String, from expected: String?, to new: String) async throws -> Bool {
        watermarks.withLock { watermarks in
            let current = watermarks[key]
            guard current == expected, current.map({ $0.utf8.lexicographicallyPrecedes(new.utf8) }) ?? true else {
                return false
            }
            watermarks[key] = new
            return true
        }
    }
}
