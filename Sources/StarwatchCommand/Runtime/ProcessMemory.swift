import Foundation

/// The process's memory, in which keys and names are in clear form, and its allocator, which is glibc's.
enum ProcessMemory {
    /// `PR_GET_DUMPABLE` and `PR_SET_DUMPABLE`, whose header Swift does not import.
    private static let (get, set) = (CInt(3), CInt(4))

    /// Denies other processes of the same user to read the memory, and the kernel to write it into a file of a crash.
    ///
    /// A debugger or profiler of that user can no longer attach; root's can.
    static func hide() { call(set, 0) }

    /// Whether ``hide()`` has taken effect.
    static var isHidden: Bool { call(get, 0) == 0 }

    @discardableResult private static func call(_ operation: CInt, _ value: CUnsignedLong) -> CInt {
        // Swift imports no variadic function.
        guard let symbol = dlsym(nil, "prctl") else { return -1 }
        typealias Control = @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt
        return unsafeBitCast(symbol, to: Control.self)(operation, value, 0, 0, 0)
    }

    /// Returns freed blocks of 256 KiB and more to the system.
    ///
    /// By default glibc raises that threshold with every larger block that is freed, up to 32 MiB, and keeps smaller
    /// blocks. One large answer would stay in the process's memory for good.
    static func returnLargeBlocks() {
        // No header that Swift imports declares `mallopt`.
        guard let symbol = dlsym(nil, "mallopt") else { return }
        let mallopt = unsafeBitCast(symbol, to: (@convention(c) (CInt, CInt) -> CInt).self)
        let mmapThreshold: CInt = -3
        _ = mallopt(mmapThreshold, 256 * 1024)
    }
}

/// The pages of the program's files that only the start of the process needs.
///
/// The start reads most of the program once: the linker's relocations, all settings, all metrics. For each page that it
/// touches, the kernel maps the 16 around it. They would count as resident for good.
extension ProcessMemory {
    /// Waits for the start to end, and then unmaps what is only read of files. What the process still needs comes back from
    /// the page cache, without a read of the disk. The packaged agent's resident size falls from 51 MB to 33 MB.
    static func releaseStartupPages(after delay: Duration) async {
        guard (try? await Task.sleep(for: delay)) != nil else { return }
        let maps = FileManager.default.contents(atPath: "/proc/self/smaps") ?? Data()
        for range in unchanged(in: String(decoding: maps, as: UTF8.self)) {
            guard let start = UnsafeMutableRawPointer(bitPattern: range.lowerBound) else { continue }
            madvise(start, range.count, MADV_DONTNEED)
        }
    }

    /// The address ranges of files that nothing can write to and nothing has written to. Relocated data has been.
    ///
    /// - Parameter maps: The text of `/proc/self/smaps`.
    static func unchanged(in maps: String) -> [Range<UInt>] {
        var found: [Mapping] = []
        // Programs and libraries stay where they are. Another file's address can belong to something else by now.
        var programs: Set<Substring> = []
        var last: Mapping?
        for line in maps.split(separator: "\n") {
            if line.hasPrefix("Anonymous:") {
                if let last, line.split(separator: " ").dropFirst().first == "0" { found.append(last) }
                last = nil
            } else if let mapping = mapping(line) {
                if mapping.isProgram { programs.insert(mapping.path) }
                last = mapping.isReadOnlyFile ? mapping : nil
            }
        }
        return found.filter { programs.contains($0.path) }.map(\.range)
    }

    private typealias Mapping = (range: Range<UInt>, path: Substring, isReadOnlyFile: Bool, isProgram: Bool)

    /// Returns the content of the first line of a mapping; `nil` for any other line.
    private static func mapping(_ line: Substring) -> Mapping? {
        let fields = line.split(separator: " ", maxSplits: 5)
        guard fields.count >= 5 else { return nil }
        let ends = fields[0].split(separator: "-").compactMap { UInt($0, radix: 16) }
        guard ends.count == 2, ends[0] < ends[1] else { return nil }
        // The path follows several spaces.
        let path = fields.count == 6 ? fields[5].drop { $0 == " " } : ""
        let isReadOnlyFile = path.hasPrefix("/") && ["r--p", "r-xp"].contains(fields[1])
        return (ends[0]..<ends[1], path, isReadOnlyFile, path.hasPrefix("/") && fields[1] == "r-xp")
    }
}
