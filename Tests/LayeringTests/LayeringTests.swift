import Foundation
import Testing

/// Layers are imports: what a target may import is a table, and this reads the import lines.
@Suite struct LayeringTests {
    /// Modules of the toolchain, which any target may import.
    static let platform: Set<String> = [
        "Dispatch", "Foundation", "FoundationEssentials", "Glibc", "Musl", "Synchronization",
    ]

    /// What each target may import besides.
    static let allowed: [String: Set<String>] = [
        "StarwatchCore": [],
        "StarwatchTelemetry": ["CoreMetrics", "Logging"],
        "StarwatchTransport": ["CCurl", "CSecp256k1", "Crypto", "StarwatchCore"],
        "StarwatchStore": ["GRDB", "StarwatchCore"],
        "Starwatch": [
            "CoreMetrics", "Instrumentation", "Logging", "ServiceContextModule", "ServiceLifecycle", "StarwatchCore",
            "StarwatchStore", "StarwatchTelemetry", "StarwatchTransport", "Subprocess", "Tracing", "UnixSignals",
        ],
        // Serves reports, and never sees the store.
        "StarwatchHTTP": [
            "CZlib", "HTTPTypes", "Hummingbird", "HummingbirdCore", "Logging", "NIOCore", "NIOHTTP1", "NIOPosix",
            "ServiceLifecycle", "Starwatch", "StarwatchCore", "StarwatchTelemetry", "StarwatchTransport",
        ],
        "StarwatchCommand": ["ArgumentParser", "CoreMetrics", "Starwatch", "StarwatchCore", "StarwatchHTTP", "Yams"],
        "StarwatchSimulation": [
            "GRDBSQLite", "ServiceLifecycle", "ServiceLifecycleTestKit", "Starwatch", "StarwatchCore", "StarwatchStore",
            "StarwatchTelemetry", "StarwatchTransport",
        ],
        "StarwatchSimulationCommand": ["ArgumentParser", "StarwatchSimulation"],
        // Apart: a server that shared our types could not catch a field we misspell.
        "MockEndorser": [
            "CSecp256k1", "CZlib", "Crypto", "NIOConcurrencyHelpers", "NIOCore", "NIOFoundationCompat", "NIOHTTP1",
            "NIOPosix",
        ],
        "MockEndorserCommand": ["ArgumentParser", "MockEndorser"],
    ]

    /// Targets that may not have all of ``platform``.
    static let platformOf: [String: Set<String>] = ["StarwatchCore": ["FoundationEssentials"]]

    @Test(arguments: allowed.keys.sorted())
    func targetImportsOnlyWhatItsLayerAllows(target: String) throws {
        let permitted = Self.allowed[target]!.union(Self.platformOf[target] ?? Self.platform)
        let files = try Self.swiftFiles(of: target)
        #expect(!files.isEmpty)
        for file in files {
            for module in try Self.imports(of: file) where !permitted.contains(module) {
                Issue.record("\(target)/\(file.lastPathComponent) imports \(module)")
            }
        }
    }

    @Test func everyTargetIsInTheTable() throws {
        let targets = try FileManager.default.contentsOfDirectory(atPath: Self.sources.path)
        #expect(Set(targets.filter { !$0.hasPrefix("C") }) == Set(Self.allowed.keys))
    }

    @Test func onlyTheSystemClockReadsAClock() throws {
        for target in ["StarwatchCore", "StarwatchTransport", "Starwatch", "StarwatchHTTP"] {
            for file in try Self.swiftFiles(of: target) where file.lastPathComponent != "SystemClock.swift" {
                let text = try String(contentsOf: file, encoding: .utf8)
                for call in ["clock_gettime", "Date()", "Date.now", "ContinuousClock.now", "ContinuousClock()"] {
                    #expect(!text.contains(call), "\(target)/\(file.lastPathComponent) reads a clock: \(call)")
                }
            }
        }
    }

    private static let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Sources")

    private static func swiftFiles(of target: String) throws -> [URL] {
        let root = sources.appending(path: target)
        let all = FileManager.default.enumerator(at: root, includingPropertiesForKeys: nil)
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
