import Glibc
import Synchronization

/// Kernel's data about this process at one moment. A field is `nil` if it cannot be read.
struct ProcessReading: Sendable, Equatable {
    var cpuSeconds: Double?
    var openFiles: Double?
    var maxFiles: Double?
    var virtualBytes: Double?
    var residentBytes: Double?
    var startTimeSeconds: Double?
    var threads: Double?

    /// Reads files in the format of proc(5). Without a free descriptor, what needs none is still read.
    ///
    /// - Parameter root: The mount point of the proc file system.
    static func current(root: String = "/proc") -> Self {
        var reading = Self()
        if let text = contents(of: root + "/self/stat") {
            reading.apply(
                stat: text,
                ticksPerSecond: Double(sysconf(Int32(_SC_CLK_TCK))),
                pageBytes: Double(sysconf(Int32(_SC_PAGESIZE))),
                bootTimeSeconds: firstStart(root) == nil ? contents(of: root + "/stat").flatMap(bootTime(in:)) : nil
            )
        }
        reading.startTimeSeconds = firstStart(root, orElse: reading.startTimeSeconds)
        reading.maxFiles = maxFiles()
        reading.openFiles = entries(in: root + "/self/fd").map(Double.init)
        return reading
    }

    /// First start time that was read, by mount point.
    private static let firstStarts = Mutex<[String: Double]>([:])

    /// Returns the start time that was read first. If there is none yet, it keeps `read`.
    ///
    /// The kernel's boot time moves when the wall clock is set, and a reload makes a new registry: the process would seem to
    /// have restarted.
    private static func firstStart(_ root: String, orElse read: Double? = nil) -> Double? {
        firstStarts.withLock { starts in
            if starts[root] == nil { starts[root] = read }
            return starts[root]
        }
    }

    /// Parses `/proc/self/stat`. The command's name can contain spaces and brackets, so fields follow the last `)`.
    mutating func apply(stat: String, ticksPerSecond: Double, pageBytes: Double, bootTimeSeconds: Double?) {
        guard let bracket = stat.utf8.lastIndex(of: UInt8(ascii: ")")) else { return }
        // The first of these is field 3 of proc(5). Bytes are faster than characters, and every page needs this.
        let fields = stat.utf8[bracket...].dropFirst().split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\n") }
        func field(_ number: Int) -> Double? {
            fields.indices.contains(number - 3) ? Double(Substring(fields[number - 3])) : nil
        }
        if let user = field(14), let system = field(15), ticksPerSecond > 0 {
            cpuSeconds = (user + system) / ticksPerSecond
        }
        threads = field(20)
        if let started = field(22), let bootTimeSeconds, ticksPerSecond > 0 {
            startTimeSeconds = bootTimeSeconds + started / ticksPerSecond
        }
        virtualBytes = field(23)
        residentBytes = field(24).map { $0 * pageBytes }
    }

    /// Returns the soft limit of open files; `nil` if there is none.
    static func maxFiles() -> Double? {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0, limit.rlim_cur != rlim_t.max
        else { return nil }
        return Double(limit.rlim_cur)
    }

    static func bootTime(in stat: String) -> Double? {
        let line = stat.split(separator: "\n").first { $0.hasPrefix("btime ") }
        return line.flatMap { Double($0.dropFirst(6)) }
    }

    private static func contents(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = chunk.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
            if count == 0 { return String(decoding: bytes, as: UTF8.self) }
            guard count > 0 else { return nil }
            bytes.append(contentsOf: chunk[..<count])
        }
    }

    /// Returns the number of entries, without the descriptor that lists them.
    ///
    /// Linux 6.2 and later report it as the directory's size. That takes a tenth of the time of listing them, and no
    /// descriptor.
    private static func entries(in directory: String) -> Int? {
        var status = stat()
        if stat(directory, &status) == 0, status.st_size > 0 { return Int(status.st_size) }
        guard let stream = opendir(directory) else { return nil }
        defer { closedir(stream) }
        var count = 0
        while let entry = readdir(stream) {
            if entry.pointee.d_name.0 != 0x2E { count += 1 }
        }
        return max(0, count - 1)
    }
}
