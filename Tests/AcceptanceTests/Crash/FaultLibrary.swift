import Foundation
import ProgramTestKit

/// Makes an agent die at a chosen write, or its disk or resolver fail: a library that is loaded into it, compiled from
/// `faults.c`.
///
/// Nothing of it is in the product.
enum FaultLibrary {
    /// The environment of an agent that dies before its `point`-th write, counted from 1.
    ///
    /// - Parameter isTorn: Whether half of that write is done, where it is one to a file.
    static func dying(at point: Int, isTorn: Bool = false) throws -> [String: String] {
        var environment = try loading()
        environment["STARWATCH_FAULT_KILL_AT"] = String(point)
        if isTorn { environment["STARWATCH_FAULT_TORN"] = "1" }
        return environment
    }

    /// The environment of an agent that writes the name of each of its writes to a file, one a line.
    static func counting(in file: String) throws -> [String: String] {
        var environment = try loading()
        environment["STARWATCH_FAULT_TALLY"] = file
        return environment
    }

    /// The environment of an agent whose disk does what ``Disk`` says.
    static func disk(_ disk: Disk) throws -> [String: String] {
        var environment = try loading()
        environment["STARWATCH_FAULT_DISK"] = disk.file
        return environment
    }

    /// The environment of an agent whose lookups of names below `hanging.test` take while `file` is there, each with a
    /// line in it.
    static func hangingLookups(_ file: String) throws -> [String: String] {
        var environment = try loading()
        environment["STARWATCH_FAULT_LOOKUPS"] = file
        return environment
    }

    /// A disk that a test lets fail, and mends again.
    struct Disk: Sendable {
        let file: String

        init(in workspace: Workspace) { file = workspace.path("disk") }

        /// Every change of a file fails with this `errno` from now on.
        ///
        /// - Parameter onlySync: Writes succeed, and what makes sure that they stay, or takes them back, fails.
        func fail(with error: Int32, onlySync: Bool = false) throws {
            try put("\(error)\(onlySync ? " sync" : "")")
        }

        /// Every change of a file takes until the disk is mended.
        func hang() throws { try put("hang") }

        func mend() throws { try FileManager.default.removeItem(atPath: file) }

        private func put(_ text: String) throws {
            try text.write(toFile: file, atomically: true, encoding: .utf8)
        }
    }

    /// The environment of an agent that is ended only where it closes what is not open, as are those of all the others.
    static func loading() throws -> [String: String] {
        ["LD_PRELOAD": try compiled.get(), "SWIFT_BACKTRACE": "enable=no"]
    }

    /// Beside the agent's binary; compiled once a run of the tests.
    private static let compiled = Result<String, any Error> {
        let source = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "faults.c")
        let folder = Binary.starwatch.deletingLastPathComponent()
        let library = folder.appending(path: "starwatch-faults.so")
        let made = folder.appending(path: "starwatch-faults-\(getpid()).so")
        let compiler = Process()
        compiler.executableURL = try Program.find("clang")
        compiler.arguments = ["-shared", "-fPIC", "-O1", "-Wall", "-Werror", "-o", made.path, source.path]
        try compiler.start()
        compiler.waitUntilExit()
        guard compiler.terminationStatus == 0 else { throw AcceptanceError("faults.c does not compile") }
        // Another run of the tests may have it loaded.
        guard rename(made.path, library.path) == 0 else { throw AcceptanceError("\(library.path) cannot be written") }
        return library.path
    }
}

extension Result where Failure == any Error {
    fileprivate init(_ body: () throws -> Success) {
        do { self = .success(try body()) } catch { self = .failure(error) }
    }
}
