import Foundation

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
            let state = try? JSONDecoder().decode(WorkspaceState.self, from: Data(contentsOf: file))
        else { return nil }
        return state.object.dependencies.map { dependency in
            let checkout = dependency.state.checkoutState
            return PartVersion(dependency.packageRef.identity, checkout?.version ?? checkout?.revision ?? "unknown")
        }.sorted { $0.name < $1.name }
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

/// The part of SwiftPM's `workspace-state.json` that names the packages.
private struct WorkspaceState: Decodable {
    struct Object: Decodable {
        var dependencies: [Dependency]
    }
    struct Dependency: Decodable {
        struct Reference: Decodable {
            var identity: String
        }
        struct State: Decodable {
            var checkoutState: Checkout?
        }
        struct Checkout: Decodable {
            var revision: String?
            var version: String?
        }
        var packageRef: Reference
        var state: State
    }
    var object: Object
}
