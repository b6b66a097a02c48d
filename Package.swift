// swift-tools-version: 6.2
import PackageDescription

// Versions are ranges, so that a host application resolves them beside its own. Package.resolved is not committed:
// the tests ran with the versions listed under "Tested versions" in Sources/Starwatch/Starwatch.docc/Starwatch.md.
let package = Package(
    name: "starwatch",
    products: [
        .executable(name: "starwatch", targets: ["StarwatchCommand"]),
        .executable(name: "mock-endorser", targets: ["MockEndorserCommand"]),
        .library(name: "Starwatch", targets: ["Starwatch"]),
        .library(name: "StarwatchPolling", targets: ["StarwatchPolling"]),
        .library(name: "StarwatchCore", targets: ["StarwatchCore"]),
        .library(name: "StarwatchHTTP", targets: ["StarwatchHTTP"]),
        .library(name: "StarwatchTelemetry", targets: ["StarwatchTelemetry"]),
        // For the tests of host applications.
        .library(name: "MockEndorser", targets: ["MockEndorser"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.2"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.1", traits: []),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.2"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2"),
    ],
    targets: [
        // Layer 0: C APIs, and the files that are part of the program.
        .systemLibrary(name: "CCrypt", pkgConfig: "libcrypt", providers: [.apt(["libcrypt-dev"])]),
        .systemLibrary(name: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CSecp256k1", pkgConfig: "libsecp256k1", providers: [.apt(["libsecp256k1-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .target(
            name: "CEmbedded",
            exclude: ["Pages", "Runbooks"],
            cSettings: [.treatAllWarnings(as: .error)]
        ),

        // Layer 1: decisions, and telemetry. Neither knows the other.
        .target(name: "StarwatchCore"),
        .target(
            name: "StarwatchTelemetry",
            dependencies: [
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),

        // Layer 2: HTTP client, tokens, database.
        .target(
            name: "StarwatchTransport",
            dependencies: [
                "CCurl", "CSecp256k1", "StarwatchCore",
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .target(
            name: "StarwatchStore",
            dependencies: [
                "StarwatchCore",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
            ]
        ),

        // Layer 3: rate-limited requests, and the typed polls of hosts.
        .target(
            name: "StarwatchPolling",
            dependencies: [
                "StarwatchCore", "StarwatchTransport", "StarwatchStore",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),

        // Layer 4: the agent.
        .target(
            name: "Starwatch",
            dependencies: [
                "StarwatchCore", "StarwatchPolling", "StarwatchTelemetry", "StarwatchTransport", "StarwatchStore",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Instrumentation", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Subprocess", package: "swift-subprocess"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ]
        ),

        // Layer 5: HTTP servers.
        .target(
            name: "StarwatchHTTP",
            dependencies: [
                "CCrypt", "CEmbedded", "CZlib", "Starwatch", "StarwatchCore", "StarwatchPolling", "StarwatchTelemetry",
                "StarwatchTransport",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
                .product(name: "NIOTLS", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),

        // Layer 6: commands.
        .executableTarget(
            name: "StarwatchCommand",
            dependencies: [
                "Starwatch", "StarwatchCore", "StarwatchHTTP",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Yams", package: "Yams"),
            ]
        ),

        // Separate: the mock server, with JSON types of its own.
        .target(
            name: "MockEndorser",
            dependencies: [
                "CSecp256k1", "CZlib",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        .executableTarget(
            name: "MockEndorserCommand",
            dependencies: [
                "MockEndorser",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),

        // Clocks, folders and faults that several test targets use.
        .target(
            name: "StarwatchTestKit",
            dependencies: ["StarwatchCore", "StarwatchPolling", "StarwatchStore"],
            path: "Tests/StarwatchTestKit"
        ),
        // Other programs, for all test targets: one lock guards their starts.
        .target(name: "ProgramTestKit", path: "Tests/ProgramTestKit"),
        .testTarget(name: "LayeringTests"),
        .testTarget(
            name: "StarwatchCoreTests",
            dependencies: ["ProgramTestKit", "StarwatchCore"],
            exclude: ["Fixtures"]
        ),
        .testTarget(
            name: "StarwatchTelemetryTests",
            dependencies: [
                "ProgramTestKit", "StarwatchTelemetry",
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Logging", package: "swift-log"),
            ]
        ),
        .testTarget(
            name: "StarwatchTransportTests",
            dependencies: [
                "CSecp256k1", "ProgramTestKit", "StarwatchCore", "StarwatchTransport",
                .product(name: "Crypto", package: "swift-crypto"),
            ]
        ),
        .testTarget(
            name: "StarwatchStoreTests",
            dependencies: [
                "StarwatchCore", "StarwatchStore", "StarwatchTestKit", .product(name: "GRDB", package: "GRDB.swift"),
            ],
            exclude: ["Dumps"]
        ),
        .testTarget(
            name: "StarwatchPollingTests",
            dependencies: [
                "StarwatchCore", "StarwatchPolling", "StarwatchStore", "StarwatchTestKit", "StarwatchTransport",
                .product(name: "MetricsTestKit", package: "swift-metrics"),
            ]
        ),
        .testTarget(
            name: "StarwatchTests",
            dependencies: [
                "CZlib", "MockEndorser", "ProgramTestKit", "Starwatch", "StarwatchCore", "StarwatchPolling",
                "StarwatchStore", "StarwatchTelemetry", "StarwatchTestKit", "StarwatchTransport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Instrumentation", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .testTarget(
            name: "StarwatchHTTPTests",
            dependencies: [
                "CZlib", "ProgramTestKit", "Starwatch", "StarwatchCore", "StarwatchHTTP", "StarwatchStore",
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOEmbedded", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
            ]
        ),
        .testTarget(
            name: "StarwatchCommandTests",
            dependencies: ["Starwatch", "StarwatchCommand", "StarwatchCore", "StarwatchHTTP", "StarwatchPolling"]
        ),
        .testTarget(
            name: "MockEndorserTests",
            dependencies: [
                "CSecp256k1", "CZlib", "MockEndorser",
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
            ]
        ),
        // Fuzz tests of every parser of outside data; see Fuzz/README.md.
        .testTarget(
            name: "FuzzTests",
            dependencies: [
                "Starwatch", "StarwatchCommand", "StarwatchCore", "StarwatchHTTP", "StarwatchStore",
                "StarwatchTelemetry", "StarwatchTransport",
                .product(name: "Crypto", package: "swift-crypto"),
            ],
            path: "Fuzz/Tests"
        ),
        // The built binaries, real HTTP, a real Prometheus.
        .testTarget(
            name: "AcceptanceTests",
            dependencies: [
                "MockEndorser", "ProgramTestKit", "Starwatch", "StarwatchCommand", "StarwatchCore",
                "StarwatchTelemetry", "StarwatchTransport",
                .product(name: "GRDB", package: "GRDB.swift"),
                .product(name: "Yams", package: "Yams"),
            ],
            exclude: ["Crash/faults.c", "Mail/mailbox.py", "Proxy/tunnel.py"]
        ),
    ],
    // For #embed.
    cLanguageStandard: .c2x
)

for target in package.targets where target.type != .system {
    target.swiftSettings = [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
    ]
}

// ThreadSanitizer needs a build of its own. `scripts/test --full` names the tests that it runs there, and
// builds nothing else.
if let tests = Context.environment["STARWATCH_ONLY_TESTS"] {
    var needed = Set(tests.split(separator: ",").map(String.init))
    precondition(needed.isSubset(of: package.targets.map(\.name)), "STARWATCH_ONLY_TESTS names an unknown target")
    var isWhole = false
    while !isWhole {
        let before = needed.count
        for target in package.targets where needed.contains(target.name) {
            for case .byNameItem(let name, _) in target.dependencies { needed.insert(name) }
            for case .targetItem(let name, _) in target.dependencies { needed.insert(name) }
        }
        isWhole = needed.count == before
    }
    package.targets.removeAll { !needed.contains($0.name) }
    package.products = []
}
