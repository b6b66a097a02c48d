import Foundation
import Testing

/// Layers are imports: what a target may import is a table, and this reads the import lines.
@Suite struct LayeringTests {
    /// Modules of the toolchain, which any target may import.
    static let platform: Set<String> = [
        "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Synchronization",
    ]

    /// Further modules that each target can import.
    static let allowed: [String: Set<String>] = [
        "StarwatchCore": [],
        "StarwatchTelemetry": ["CoreMetrics", "Logging"],
        "StarwatchTransport": ["CCurl", "CSecp256k1", "Crypto", "StarwatchCore"],
        "StarwatchStore": ["Crypto", "GRDB", "GRDBSQLite", "StarwatchCore"],
        "StarwatchPolling": [
            "CoreMetrics", "ServiceLifecycle", "StarwatchCore", "StarwatchStore", "StarwatchTransport",
        ],
        "Starwatch": [
            "CoreMetrics", "Instrumentation", "Logging", "ServiceContextModule", "ServiceLifecycle", "StarwatchCore",
            "StarwatchPolling", "StarwatchStore", "StarwatchTelemetry", "StarwatchTransport", "Subprocess", "Tracing",
            "UnixSignals",
        ],
        // Serves reports, and never sees the store.
        "StarwatchHTTP": [
            "CCrypt", "CEmbedded", "CZlib", "Crypto", "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging",
            "NIOCore", "NIOHTTP1", "NIOPosix", "NIOSSL", "NIOTLS", "ServiceLifecycle", "Starwatch", "StarwatchCore",
            "StarwatchPolling", "StarwatchTelemetry", "StarwatchTransport",
        ],
        "StarwatchCommand": ["ArgumentParser", "CoreMetrics", "Starwatch", "StarwatchCore", "StarwatchHTTP", "Yams"],
        // Apart: a server that shared our types could not catch a field we misspell.
        "MockEndorser": [
            "CSecp256k1", "CZlib", "Crypto", "NIOConcurrencyHelpers", "NIOCore", "NIOFoundationCompat", "NIOHTTP1",
            "NIOPosix",
        ],
        "MockEndorserCommand": ["ArgumentParser", "MockEndorser"],
    ]

    /// The same for the targets of packages beside this one.
    static let allowedBeside: [String: Set<String>] = [
        "Simulation/Sources/StarwatchSimulation": [
            "GRDBSQLite", "ServiceLifecycle", "ServiceLifecycleTestKit", "Starwatch", "StarwatchCore",
            "StarwatchPolling",
            "StarwatchStore", "StarwatchTelemetry", "StarwatchTransport",
        ],
        "Simulation/Sources/StarwatchSimulationCommand": ["ArgumentParser", "StarwatchSimulation"],
        // A host application needs the library products alone.
        "Examples/ReleaseWatcher/Sources/ReleaseWatcher": [
            "CoreMetrics", "Logging", "ServiceLifecycle", "Starwatch", "StarwatchCore", "StarwatchHTTP",
            "UnixSignals",
        ],
        "Examples/MailSpool/Sources/MailSpool": [
            "Logging", "ServiceLifecycle", "Starwatch", "StarwatchCore", "UnixSignals",
        ],
        "Examples/TestedTally/Sources/Tally": ["Starwatch", "StarwatchCore"],
        // One without an agent needs the polls alone.
        "Examples/HelloPoll/Sources/HelloPoll": [
            "Logging", "ServiceLifecycle", "StarwatchPolling", "UnixSignals",
        ],
    ]

    /// Targets that may not have all of ``platform``.
    static let platformOf: [String: Set<String>] = ["StarwatchCore": ["FoundationEssentials"]]

    @Test(arguments: allowed.keys.sorted())
    func targetImportsOnlyWhatItsLayerAllows(target: String) throws {
        let permitted = Self.allowed[target]!.union(Self.platformOf[target] ?? Self.platform)
        try checkImports(below: Self.sources.appending(path: target), permitted)
    }

    @Test(arguments: allowedBeside.keys.sorted())
    func targetBesideImportsOnlyWhatItMay(folder: String) throws {
        try checkImports(below: Self.root.appending(path: folder), Self.allowedBeside[folder]!.union(Self.platform))
    }

    private func checkImports(below folder: URL, _ permitted: Set<String>) throws {
        let files = Self.swiftFiles(below: folder)
        #expect(!files.isEmpty)
        for file in files {
            for module in try Self.imports(of: file) where !permitted.contains(module) {
                Issue.record("\(folder.lastPathComponent)/\(file.lastPathComponent) imports \(module)")
            }
        }
    }

    @Test func everyTargetIsInTheTable() throws {
        let targets = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
        #expect(Set(targets.filter { !$0.hasPrefix("C") }) == Set(Self.allowed.keys))
    }

    @Test func onlyTheSystemClockReadsAClock() throws {
        for target in ["StarwatchCore", "StarwatchTransport", "StarwatchPolling", "Starwatch", "StarwatchHTTP"] {
            for file in Self.swiftFiles(below: Self.sources.appending(path: target))
            where file.lastPathComponent != "SystemClock.swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                for call in ["clock_gettime", "Date()", "Date.now", "ContinuousClock.now", "ContinuousClock()"] {
                    #expect(!text.contains(call), "\(target)/\(file.lastPathComponent) reads a clock: \(call)")
                }
            }
        }
    }

    /// What one test starts must not inherit a pipe of another, whose reader would wait for its end.
    @Test func testsStartProgramsAndMakePipesUnderOneLock() throws {
        let tests = Self.root.appending(path: "Tests")
        for file in Self.swiftFiles(below: tests) + Self.swiftFiles(below: Self.root.appending(path: "Fuzz/Tests")) {
            let name = file.lastPathComponent
            guard name != "Process+End.swift", name != "LayeringTests.swift" else { continue }
            let text = try String(contentsOf: file, encoding: .utf8)
            #expect(!text.contains("Pipe()"), "\(name): Pipe.make()")
            guard text.contains("Process()") else { continue }
            #expect(text.firstMatch(of: /try [a-z]+\.run\(\)/) == nil, "\(name): start() of ProgramTestKit")
        }
    }

    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let sources = root.appending(path: "Sources")

    static func swiftFiles(below folder: URL) -> [URL] {
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (all?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
    }

    private static func imports(of file: URL) throws -> [String] {
        let declaration =
            /^(?:public |package |internal |fileprivate |private |@testable )*import (?:struct |class |func |enum |protocol |var )?([A-Za-z0-9_]+)/
        return try String(contentsOf: file, encoding: .utf8).split(separator: "\n").compactMap { line in
            line.firstMatch(of: declaration).map { String($0.1) }
        }
    }
}
