import Synchronization

/// Standard `process_*` families, read once for each page. A value that cannot be read is omitted, never NaN.
package final class ProcessMetrics: Sendable {
    private let reading = Mutex<ProcessReading?>(nil)

    /// The resident memory of this process in bytes; `nil` if it cannot be read.
    package static var residentBytes: Int? { ProcessReading.current().residentBytes.map { Int($0) } }

    /// Registers the families and the collector that reads them.
    ///
    /// - Parameter procRoot: The mount point of the proc file system.
    package static func register(in registry: MetricRegistry, procRoot: String = "/proc") {
        let latest = ProcessMetrics()
        registry.collect {
            let reading = ProcessReading.current(root: procRoot)
            latest.reading.withLock { $0 = reading }
        }
        func view(
            _ kind: MetricKind,
            _ name: StaticString,
            _ help: StaticString,
            stability: MetricStability = .stable,
            of field: @escaping @Sendable (ProcessReading) -> Double?
        ) {
            registry.view(kind, name, help, stability: stability) { latest.reading.withLock { $0.flatMap(field) } }
        }
        view(.counter, "process_cpu_seconds_total", "User and system CPU time.") { $0.cpuSeconds }
        view(.gauge, "process_open_fds", "Open file descriptors.") { $0.openFiles }
        view(.gauge, "process_max_fds", "Maximum number of open file descriptors.") { $0.maxFiles }
        // A detail: 64-bit runtimes reserve far more than they use, so a limit on it is meaningless.
        view(.gauge, "process_virtual_memory_bytes", "Virtual memory.", stability: .detail) { $0.virtualBytes }
        view(.gauge, "process_resident_memory_bytes", "Resident memory.") { $0.residentBytes }
        view(.gauge, "process_start_time_seconds", "Start time of the process, as Unix time.") { $0.startTimeSeconds }
        view(.gauge, "process_threads", "Operating system threads.") { $0.threads }
    }
}
