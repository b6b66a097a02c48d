import Foundation
import StarwatchCore

/// The versions of the Swift packages of the build.
package enum PackageVersions {
    /// Names and versions, such as `swift-log 1.16.2, yams 6.2.2`. Empty in a checkout: SwiftPM does not pass them to a
    /// build, so packagers write them here first.
    static let packaged = ""

    /// The packages, by name; `nil` if the program does not know them.
    package static var current: [PartVersion]? {
        packaged.isEmpty ? checkedOut(for: Bundle.main.executableURL) : parse(packaged)
    }

    static func parse(_ text: String) -> [PartVersion] {
        text.split(separator: ",").compactMap { entry in
            let words = entry.split(separator: " ")
            return words.count == 2 ? PartVersion(String(words[0]), String(words[1])) : nil
        }
    }

    /// The packages that SwiftPM checked out for a program that is still in its build folder.
    ///
    /// `nil` if they were checked out after the program was linked.
    static func checkedOut(for program: URL?) -> [PartVersion]? {
        guard let program = program?.resolvingSymlinksInPath() else { return nil }
        // The program is in SCRATCH/PLATFORM/CONFIGURATION/.
        let scratch = program.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let file = scratch.appending(path: "workspace-state.json")
        guard let linked = modified(program), let resolved = modified(file), resolved <= linked,
            let state = (try? Data(contentsOf: file)).flatMap({ JSONTree(json: Array($0)) }),
            case .list(let packages)? = state["object.dependencies"]
        else { return nil }
        let versions = packages.compactMap { package -> PartVersion? in
            func text(_ path: String) -> String? { if case .text(let text)? = package[path] { text } else { nil } }
            let version = text("state.checkoutState.version") ?? text("state.checkoutState.revision")
            return text("packageRef.identity").map { PartVersion($0, version ?? "unknown") }
        }
        return versions.sorted { $0.name < $1.name }
    }

    private static func modified(_ file: URL) -> Date? {
        try? FileManager.default.attributesOfItem(atPath: file.path)[.modificationDate] as? Date
    }
}

/// A library or package, and its version.
package struct PartVersion: Sendable, Encodable, Hashable {
    package var name: String
    package var version: String

    package init(_ name: String, _ version: String) {
        self.name = name
        self.version = version
    }
}
