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

    @Test func limitsAreReadOrOmitted() {
        let limits = "Limit  Soft Limit  Hard Limit\nMax open files            1024                 4096   files\n"
        #expect(ProcessReading.maxFiles(in: limits) == 1024)
        #expect(ProcessReading.maxFiles(in: "Max open files            unlimited unlimited files") == nil)
        #expect(ProcessReading.bootTime(in: "cpu 1 2\nbtime 1767225600\n") == 1_767_225_600)
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
        #expect(text(await registry.render(.text)) == "")
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
