// swift-tools-version: 6.2
import PackageDescription

// Measurements anyone can repeat; see README.md beside this file.
let package = Package(
    name: "benchmarks",
    dependencies: [
        .package(name: "starwatch", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
    ],
    targets: [
        .executableTarget(
            name: "PollBenchmark",
            dependencies: [
                "BenchmarkProgram", "CAllocations", "CStatements",
                .product(name: "Starwatch", package: "starwatch"),
                .product(name: "StarwatchCore", package: "starwatch"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        // Records what SQLite executes, and executes it again.
        .target(name: "CStatements", linkerSettings: [.linkedLibrary("sqlite3")]),
        .target(
            name: "BenchmarkProgram",
            dependencies: [.product(name: "ArgumentParser", package: "swift-argument-parser")]
        ),
        // Counts allocations.
        .target(name: "CAllocations"),
        .executableTarget(
            name: "TelemetryBenchmark",
            dependencies: [
                "BenchmarkProgram", "CAllocations",
                .product(name: "Starwatch", package: "starwatch"),
                .product(name: "StarwatchCore", package: "starwatch"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "CoreBenchmark",
            dependencies: [
                .product(name: "StarwatchCore", package: "starwatch"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
        .executableTarget(
            name: "RedactorBenchmark",
            dependencies: [
                .product(name: "StarwatchTelemetry", package: "starwatch"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ]
        ),
    ]
)
