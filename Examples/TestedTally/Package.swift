// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .treatAllWarnings(as: .error),
]

// A library whose tests run against the mock server. To copy it: then `starwatch` is found by its URL and a version instead
// of a path.
let package = Package(
    name: "tested-tally",
    dependencies: [.package(name: "starwatch", path: "../..")],
    targets: [
        .target(
            name: "Tally",
            dependencies: [
                .product(name: "Starwatch", package: "starwatch"),
                .product(name: "StarwatchCore", package: "starwatch"),
            ],
            swiftSettings: settings
        ),
        .testTarget(
            name: "TallyTests",
            dependencies: [
                "Tally", .product(name: "MockEndorser", package: "starwatch"),
                .product(name: "Starwatch", package: "starwatch"),
                .product(name: "StarwatchCore", package: "starwatch"),
            ],
            swiftSettings: settings
        ),
    ]
)
