import CCurl
import Glibc

/// The threads on which libcurl looks names up, found by the name they bear.
///
/// libcurl leaves a lookup that outlives its request to itself and tells nobody when it ends. But a thread begins with
/// the name of the one that starts it, and so the driver's bears theirs for as long as it may start one.
enum LookupThreads {
    private static let driverName = "starwatch-http"
    private static let lookupName = "starwatch-dns"

    /// Names the calling thread as one that runs libcurl.
    static func nameDriver() { starwatch_name_thread(driverName) }

    /// Lets what the calling thread starts from now on be counted.
    static func nameNext() { starwatch_name_thread(lookupName) }

    /// How many there are in this process, those included that no request waits for any more.
    ///
    /// Other clients' threads count as well, for the moment in which they start a lookup.
    static var count: Int {
        guard let folder = opendir("/proc/self/task") else { return 0 }
        defer { closedir(folder) }
        let own = starwatch_thread_id()
        var count = 0
        while let entry = readdir(folder) {
            let id = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            guard let number = Int32(id), number != own else { continue }
            if FileBytes.read("/proc/self/task/\(id)/comm", limit: 64)?.dropLast().elementsEqual(lookupName.utf8)
                ?? false
            {
                count += 1
            }
        }
        return count
    }
}
