import CoreMetrics
import Foundation

/// Where new releases go: a line each on standard output.
struct LineSink: Sendable {
    private let announced = Counter(label: "releases_announced")

    func deliver(_ release: Release) async throws {
        try FileHandle.standardOutput.write(contentsOf: Data("New release: \(release.version)\n".utf8))
        announced.increment()
    }
}
