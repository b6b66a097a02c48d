import Synchronization

/// Standard `process_*` families, read once for each page. A value that cannot be read is omitted, never NaN.
package final class ProcessMetrics: Sendable {
    /// The last reading. What cannot change is taken from it: without that a scrape takes 152 µs of CPU time, not 59
    /// (`TelemetryBenchmark scrape --rows 1000`, 2 cores AMD EPYC).
    private let reading = Mutex<ProcessReading?>(nil)

    /// The resident memory of this process in bytes; `nil` if it cannot be read.
    package static var residentBytes: Int? { ProcessReading.current().residentBytes.map { Int($0) } }

    /// Registers the families and the collector that reads them.
    ///
    /// - Parameter procRoot: The mount point of the proc file system.
    package static func register(in registry: MetricRegistry, procRoot: String = "/proc") {
        let latest = ProcessMetrics()
        func shown(_ field: @escaping @Sendable (ProcessReading) -> Double?) -> @Sendable () -> Double? {
            { latest.reading.withLock { $0.flatMap(field) } }
        }
        registry.collect {
            let known = latest.reading.withLock { $0 }
            let reading = ProcessReading.current(root: procRoot, constant: known)
            latest.reading.withLock { $0 = reading }
        }
        registry.counterView(
            "process_cpu_seconds_total",
            "User and system CPU time.",
            computed: shown { $0.cpuSeconds }
        )
        registry.gaugeView("process_open_fds", "Open file descriptors.", computed: shown { $0.openFiles })
        registry.gaugeView(
            "process_max_fds",
            "Maximum number of open file descriptors.",
            computed: shown { $0.maxFiles }
        )
        // A detail: 64-bit runtimes reserve far more than they use, so a limit on it is meaningless.
        registry.gaugeView(
            "process_virtual_memory_bytes",
            "Virtual memory.",
            stability: .detail,
            computed: shown { $0.virtualBytes }
        )
        registry.gaugeView("process_resident_memory_bytes", "Resident memory.", computed: shown { $0.residentBytes })
        registry.gaugeView(
            "process_start_time_seconds",
            "Start time of the process, as Unix time.",
            computed: shown { $0.startTimeSeconds }
        )
        registry.gaugeView("process_threads", "Operating system threads.", computed: shown { $0.threads })
    }
}
