import GRDBSQLite

/// The locks on one file, by SQLite's rules: of the database, and of the parts of its write-ahead log's index.
final class FileLocks: Sendable {
    /// A connection of a process.
    struct Holder: Hashable {
        let process: Int
        let connection: Int
    }

    private struct State {
        var levels: [Holder: Int32] = [:]
        /// The connections that share a part of the index, or have it alone.
        var shared: [Int: Set<Holder>] = [:]
        var exclusive: [Int: Holder] = [:]
    }

    private let state = Confined(State())

    /// Whether a connection wants to write.
    var isReserved: Bool { state.value.levels.values.contains { $0 >= SQLITE_LOCK_RESERVED } }

    /// Raises a connection's lock of the database; `false` if those of others forbid it.
    func raise(_ holder: Holder, to level: Int32) -> Bool {
        guard level > state.value.levels[holder, default: SQLITE_LOCK_NONE] else { return true }
        let others = state.value.levels.filter { $0.key != holder }.values.max() ?? SQLITE_LOCK_NONE
        switch level {
        case SQLITE_LOCK_SHARED: guard others < SQLITE_LOCK_PENDING else { return false }
        case SQLITE_LOCK_RESERVED: guard others < SQLITE_LOCK_RESERVED else { return false }
        default: guard others == SQLITE_LOCK_NONE else { return false }
        }
        state.value.levels[holder] = level
        return true
    }

    func lower(_ holder: Holder, to level: Int32) {
        guard let former = state.value.levels[holder], level < former else { return }
        state.value.levels[holder] = level > SQLITE_LOCK_NONE ? level : nil
    }

    /// Locks parts of the index; `false` if another connection has a lock that forbids it.
    func lock(_ parts: Range<Int>, of holder: Holder, isShared: Bool) -> Bool {
        for part in parts {
            if let owner = state.value.exclusive[part], owner != holder { return false }
            if !isShared, state.value.shared[part]?.contains(where: { $0 != holder }) == true { return false }
        }
        for part in parts {
            if isShared {
                state.value.shared[part, default: []].insert(holder)
            } else {
                state.value.exclusive[part] = holder
            }
        }
        return true
    }

    func unlock(_ parts: Range<Int>, of holder: Holder) {
        for part in parts {
            state.value.shared[part]?.remove(holder)
            if state.value.exclusive[part] == holder { state.value.exclusive[part] = nil }
        }
    }

    /// Ends all locks of a connection.
    func unlock(_ holder: Holder) { unlock { $0 == holder } }

    /// Ends all locks of a process.
    func unlock(_ process: Int) { unlock { $0.process == process } }

    private func unlock(_ isMeant: (Holder) -> Bool) {
        state.value.levels = state.value.levels.filter { !isMeant($0.key) }
        state.value.exclusive = state.value.exclusive.filter { !isMeant($0.value) }
        for part in state.value.shared.keys {
            state.value.shared[part] = state.value.shared[part]?.filter { !isMeant($0) }
        }
    }
}
