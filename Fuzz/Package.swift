// swift-tools-version: 6.2
import PackageDescription

// Fuzz targets for libFuzzer; see README.md beside this file.
let package = Package(
    name: "fuzz",
    dependencies: [.package(name: "starwatch", path: "..")],
    targets: [
        .executableTarget(
            name: "RedactorFuzz",
            dependencies: [.product(name: "StarwatchTelemetry", package: "starwatch")],
            swiftSettings: [.unsafeFlags(["-parse-as-library"])]
        )
    ]
)
