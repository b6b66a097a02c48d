import FoundationEssentials
import Glibc
import Testing

@testable import StarwatchTelemetry

@Suite struct ProcessMetricsTests {
    @Test func kernelFilesAreParsed() {
        let reading = ProcessReading.current()
        #expect(reading.cpuSeconds.map { $0 >= 0 } == true)
        #expect(reading.openFiles.map { $0 >= 3 } == true)
        #expect(reading.maxFiles.map { $0 >= 3 } == true)
        #expect(reading.residentBytes.map { $0 > 1_000_000 } == true)
        #expect(reading.virtualBytes.map { $0 > 1_000_000 } == true)
        #expect(reading.startTimeSeconds.map { $0 > 1_500_000_000 } == true)
        #expect(reading.threads.map { $0 >= 1 } == true)
    }

    /// In a process of its own, because other tests open and close files at the same time, sometimes a thousand.
    @Test func everyOpenFileIsCounted() async {
        await #expect(processExitsWith: .success) {
            let before = try #require(ProcessReading.current().openFiles)
            for _ in 0..<200 { try #require(open("/dev/null", O_RDONLY) >= 0) }
            let after = try #require(ProcessReading.current().openFiles)
            try #require(after >= before + 200)
        }
    }

    @Test func aCommandNameWithBracketsAndSpacesIsSkipped() {
        let stat = "7 (a) b (c) S 1 7 7 0 -1 4194560 9 0 0 0 150 50 0 0 20 0 4 0 300 4096000 25 18446744073709551615"
        var reading = ProcessReading()
        reading.apply(stat: stat, ticksPerSecond: 100, pageBytes: 4096, bootTimeSeconds: 1000)
        #expect(reading.cpuSeconds == 2)
        #expect(reading.threads == 4)
        #expect(reading.startTimeSeconds == 1003)
        #expect(reading.virtualBytes == 4_096_000)
        #expect(reading.residentBytes == 102_400)
    }

    @Test func theBootTimeIsFound() {
        #expect(ProcessReading.bootTime(in: "cpu 1 2\nbtime 1767225600\n") == 1_767_225_600)
        #expect(ProcessReading.bootTime(in: "cpu 1 2\n") == nil)
    }

    /// An alert on open files needs both values when the last descriptor is taken.
    @Test func theLimitAndTheStartAreShownWhenNoFileCanBeOpened() async {
        await #expect(processExitsWith: .success) {
            let start = try #require(ProcessReading.current().startTimeSeconds)
            var limit = rlimit()
            getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
            limit.rlim_cur = 64
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            while open("/dev/null", O_RDONLY) >= 0 {}
            let reading = ProcessReading.current()
            try #require(reading.cpuSeconds == nil)
            try #require(reading.startTimeSeconds == start && reading.maxFiles == 64)
            // Linux before 6.2 cannot tell their number without listing them.
            var status = stat()
            try #require(stat("/proc/self/fd", &status) == 0)
            try #require(status.st_size == 0 || reading.openFiles.map { $0 > 32 } == true)
        }
    }

    /// A page must not read a long file for a value that is known.
    @Test func theStartTimeNeedsNoBootTimeOnceItIsKnown() throws {
        let root = FileManager.default.temporaryDirectory.path + "/starwatch-proc-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: root + "/self", withIntermediateDirectories: true)
        #expect(ProcessReading.current(root: root).startTimeSeconds == nil)
        let stat = "7 (a) S 1 7 7 0 -1 4194560 9 0 0 0 150 50 0 0 20 0 4 0 0 4096000 25 18446744073709551615"
        try Data(stat.utf8).write(to: URL(filePath: root + "/self/stat"))
        try Data("btime 1767225600\n".utf8).write(to: URL(filePath: root + "/stat"))
        #expect(ProcessReading.current(root: root).startTimeSeconds == 1_767_225_600)
        try FileManager.default.removeItem(atPath: root + "/stat")
        #expect(ProcessReading.current(root: root).startTimeSeconds == 1_767_225_600)
        try FileManager.default.removeItem(atPath: root + "/self/stat")
        #expect(ProcessReading.current(root: root).startTimeSeconds == 1_767_225_600)
    }

    /// The kernel computes the boot time from the wall clock, so it moves when the clock is set.
    @Test func theStartTimeStaysWhenTheClockIsSetAndTheMetricsAreRegisteredAgain() async throws {
        let root = FileManager.default.temporaryDirectory.path + "/starwatch-proc-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: root) }
        try FileManager.default.createDirectory(atPath: root + "/self", withIntermediateDirectories: true)
        let stat = "7 (a) S 1 7 7 0 -1 4194560 9 0 0 0 150 50 0 0 20 0 4 0 0 4096000 25 18446744073709551615"
        try Data(stat.utf8).write(to: URL(filePath: root + "/self/stat"))
        for bootTime in [1_767_225_600, 1_767_225_607] {
            try Data("btime \(bootTime)\n".utf8).write(to: URL(filePath: root + "/stat"))
            let registry = MetricRegistry()
            ProcessMetrics.register(in: registry, procRoot: root)
            let page = text(await registry.render(.text))
            #expect(page.contains("\nprocess_start_time_seconds 1767225600\n"), "\(page)")
        }
    }

    @Test func unreadableValuesAreOmitted() async {
        let registry = MetricRegistry()
        ProcessMetrics.register(in: registry, procRoot: "/nonexistent")
        let page = text(await registry.render(.text))
        #expect(!page.contains("process_cpu_seconds_total") && !page.contains("process_open_fds"), "\(page)")
        #expect(!page.contains("process_start_time_seconds") && !page.contains("NaN"), "\(page)")
    }

    @Test func thePageHasTheStandardSet() async throws {
        let registry = MetricRegistry()
        ProcessMetrics.register(in: registry)
        let families = try OpenMetricsParser.parse(await registry.render(.openMetrics))
        #expect(
            families.map(\.name) == [
                "process_cpu_seconds", "process_max_fds", "process_open_fds", "process_resident_memory_bytes",
                "process_start_time_seconds", "process_threads", "process_virtual_memory_bytes",
            ]
        )
    }
}
