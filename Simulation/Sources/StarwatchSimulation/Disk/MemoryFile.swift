/// File on a simulated disk, with its current content and the content that survives a power loss.
final class MemoryFile: Sendable {
    private struct State {
        var bytes: [UInt8]
        /// Size at the last sync.
        var durableSize: Int
        /// Range that changed since the last sync.
        var unsynced = 0..<0
        /// Ranges that were overwritten since the last sync, in order. Most writes append and overwrite nothing.
        var overwritten: [Range<Int>] = []
        /// Former content of those ranges, concatenated.
        var former: [UInt8] = []
        /// Index of the write-ahead log. It does not outlive the process.
        var index: [UnsafeMutableRawPointer] = []
        /// Number of connections that use the index.
        var indexUsers = 0

        func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
            bytes.withUnsafeBytes { bytes in
                let there = bytes[min(offset, bytes.count)..<min(offset + target.count, bytes.count)]
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: there))
                guard there.count < target.count else { return true }
                let rest = UnsafeMutableRawBufferPointer(rebasing: target[there.count...])
                rest.initializeMemory(as: UInt8.self, repeating: 0)
                return false
            }
        }

        mutating func write(_ source: UnsafeRawBufferPointer, at offset: Int) {
            let end = offset + source.count
            touch(offset..<end)
            if offset == bytes.count {
                bytes.append(contentsOf: source)
            } else {
                if end > bytes.count { bytes.append(contentsOf: repeatElement(0, count: end - bytes.count)) }
                bytes.withUnsafeMutableBytes { bytes in
                    UnsafeMutableRawBufferPointer(rebasing: bytes[offset..<end]).copyMemory(from: source)
                }
            }
        }

        mutating func truncate(to size: Int) {
            guard size < bytes.count else { return }
            touch(size..<bytes.count)
            bytes.removeSubrange(size...)
        }

        /// Saves the synced content of a range before it changes.
        private mutating func touch(_ range: Range<Int>) {
            let synced = range.clamped(to: 0..<min(durableSize, bytes.count))
            if !synced.isEmpty {
                overwritten.append(synced)
                former.append(contentsOf: bytes[synced])
            }
            unsynced =
                unsynced.isEmpty
                ? range
                : min(unsynced.lowerBound, range.lowerBound)..<max(unsynced.upperBound, range.upperBound)
        }

        mutating func sync() {
            durableSize = bytes.count
            unsynced = 0..<0
            overwritten.removeAll(keepingCapacity: true)
            former.removeAll(keepingCapacity: true)
        }

        /// Content at the last sync.
        var durable: [UInt8] {
            var bytes = Array(bytes.prefix(durableSize))
            bytes.append(contentsOf: repeatElement(0, count: durableSize - bytes.count))
            var end = former.count
            for range in overwritten.reversed() {
                bytes.replaceSubrange(range, with: former[end - range.count..<end])
                end -= range.count
            }
            return bytes
        }
    }

    /// Size of the unit that a disk writes completely or not at all.
    static let sector = 512

    let disk: SimulatedDisk
    let locks = FileLocks()
    private let state: Confined<State>

    init(_ bytes: [UInt8], on disk: SimulatedDisk) {
        self.disk = disk
        state = Confined(State(bytes: bytes, durableSize: bytes.count))
    }

    /// Returns the file as another process finds it, with the same part of it synced.
    func copy() -> MemoryFile {
        let copy = MemoryFile([], on: disk)
        copy.state.value = state.value
        (copy.state.value.index, copy.state.value.indexUsers) = ([], 0)
        return copy
    }

    var bytes: [UInt8] { state.value.bytes }
    var size: Int { state.value.bytes.count }

    // MARK: - Reading and writing

    /// Fills `target` from `offset` on, with zeros after the end; returns `false` if the file is too short.
    func read(into target: UnsafeMutableRawBufferPointer, at offset: Int) -> Bool {
        state.value.read(into: target, at: offset)
    }

    func write(_ source: UnsafeRawBufferPointer, at offset: Int) { state.value.write(source, at: offset) }
    func truncate(to size: Int) { state.value.truncate(to: size) }
    func sync() { state.value.sync() }

    // MARK: - The index of the write-ahead log

    /// Returns a part of the index, initially zero; `nil` if it does not exist and `makes` is `false`.
    func indexPart(_ number: Int, size: Int, makes: Bool) -> UnsafeMutableRawPointer? {
        while makes, state.value.index.count <= number {
            let part = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
            part.initializeMemory(as: UInt8.self, repeating: 0, count: size)
            state.value.index.append(part)
        }
        return number < state.value.index.count ? state.value.index[number] : nil
    }

    /// Counts the connections that use the index. The last one drops it.
    func useIndex() { state.value.indexUsers += 1 }

    func leaveIndex() {
        state.value.indexUsers -= 1
        guard state.value.indexUsers == 0 else { return }
        for part in state.value.index { part.deallocate() }
        state.value.index = []
    }

    // MARK: - Power loss

    /// Returns the content after a power loss. A file that was truncated since the last sync has its former size.
    ///
    /// - Parameter isLost: Called for each sector from the first to the last one written since the last sync, with the
    ///   sector's relative position: 0 ..< 1.
    func afterPowerLoss(_ isLost: (Double) -> Bool) -> [UInt8] {
        let (bytes, touched) = (state.value.bytes, state.value.unsynced.clamped(to: 0..<size))
        var left = state.value.durable
        let first = touched.lowerBound / Self.sector * Self.sector
        for start in stride(from: first, to: touched.upperBound, by: Self.sector) {
            let sector = max(start, touched.lowerBound)..<min(start + Self.sector, touched.upperBound)
            if isLost(Double(start - first) / Double(touched.upperBound - first)) { continue }
            if left.count < sector.upperBound {
                left.append(contentsOf: repeatElement(0, count: sector.upperBound - left.count))
            }
            left.replaceSubrange(sector, with: bytes[sector])
        }
        return left
    }
}
