import CoreMetrics
import Foundation

/// Sink that writes a line on standard output for each new release.
struct LineSink: Sendable {
    private let announced = Counter(label: "releases_announced")

    func deliver(_ release: Release) async throws {
        try FileHandle.standardOutput.write(contentsOf: Data("New release: \(release.version)\n".utf8))
        announced.increment()
    }
}
