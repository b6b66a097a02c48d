// swift-tools-version: 6.2
import PackageDescription

// The agent in simulated worlds; README.md describes it, and `scripts/simulate` runs it.
let package = Package(
    name: "simulation",
    products: [.executable(name: "starwatch-simulation", targets: ["StarwatchSimulationCommand"])],
    dependencies: [
        .package(name: "starwatch", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/groue/GRDB.swift", from: "7.10.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .target(
            name: "StarwatchSimulation",
            dependencies: [
                .product(name: "Starwatch", package: "starwatch"),
                .product(name: "StarwatchCore", package: "starwatch"),
                .product(name: "StarwatchTelemetry", package: "starwatch"),
                .product(name: "GRDBSQLite", package: "GRDB.swift"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
            ],
            packageAccess: false
        ),
        .executableTarget(
            name: "StarwatchSimulationCommand",
            dependencies: [
                "StarwatchSimulation",
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            packageAccess: false
        ),
        .testTarget(
            name: "StarwatchSimulationTests",
            dependencies: [
                "StarwatchSimulation", "StarwatchSimulationCommand",
                .product(name: "GRDB", package: "GRDB.swift"),
            ],
            packageAccess: false
        ),
    ]
)

/// The name under which SwiftPM compiles the package above this folder: its folder's name, as an identifier.
let outerName: String = {
    let folder = Context.packageDirectory.split(separator: "/").dropLast().last ?? ""
    let name = (folder.hasSuffix(".git") ? folder.dropLast(4) : folder).lowercased()
    let identifier = name.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
    return identifier.first?.isNumber == true ? "_" + identifier.dropFirst() : identifier
}()

for target in package.targets {
    target.swiftSettings = [
        .swiftLanguageMode(.v6),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("InternalImportsByDefault"),
        .enableUpcomingFeature("MemberImportVisibility"),
        .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
        .treatAllWarnings(as: .error),
        // The simulation replaces the agent's network, disk and clock through its `package` declarations. As a part of
        // that package it runs the same code as the product; `@testable` would need it compiled another way.
        .unsafeFlags(["-package-name", outerName]),
    ]
}
