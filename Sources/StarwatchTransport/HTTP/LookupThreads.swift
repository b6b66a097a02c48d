import CCurl
import Glibc

/// The threads on which libcurl looks up names, identified by their thread name.
///
/// libcurl abandons a lookup that outlives its request and does not report its end. A new thread inherits the name of
/// the thread that starts it, so the driver's thread takes the lookup name just before libcurl starts a lookup.
///
/// Only the driver's thread uses it.
final class LookupThreads {
    private static let driverName = "starwatch-http"
    private static let lookupName = "starwatch-dns"

    private let limit: Int
    private let proxy: String?
    @exclusivity(unchecked) private var isDriverNamed = false

    /// - Parameters:
    ///   - limit: The limit of concurrent lookups in this process.
    ///   - proxy: The proxy of every request, which looks up the names of servers itself.
    init(limit: Int, proxy: String? = nil) {
        (self.limit, self.proxy) = (limit, proxy)
    }

    /// Gives the driver's thread its own name, unless it has it.
    func nameDriver() {
        guard !isDriverNamed else { return }
        starwatch_name_thread(Self.driverName)
        isDriverNamed = true
    }

    /// Permits the lookup of a request, and gives the driver's thread the lookup name, which the threads it starts inherit;
    /// `false` when too many are in progress. None is needed if the host is an IP address, or that of the proxy if there is one.
    func begin(_ url: String) -> Bool {
        // A proxy of the environment is not known here.
        if proxy != HTTPClientOptions.environmentProxy, HTTPRequest.hasNumericHost(proxy ?? url) { return true }
        guard Self.count < limit else { return false }
        starwatch_name_thread(Self.lookupName)
        isDriverNamed = false
        return true
    }

    /// Number of lookup threads in this process, including abandoned ones.
    ///
    /// The driver thread of another client counts as well while it starts a lookup.
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
