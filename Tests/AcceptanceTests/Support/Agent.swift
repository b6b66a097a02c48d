import Foundation
import ProgramTestKit
import Testing

/// The built `starwatch` binary, as an operator has it.
enum Binary {
    /// Beside the test bundle, where SwiftPM puts everything it builds.
    static let starwatch: URL = {
        let environment = ProcessInfo.processInfo.environment
        if let directory = environment["STARWATCH_BIN_DIR"] {
            return URL(filePath: directory).appending(path: "starwatch")
        }
        let bundle = CommandLine.arguments.first { $0.contains(".xctest") }.map { URL(filePath: $0) }
        var directory = bundle ?? URL(filePath: CommandLine.arguments[0])
        while directory.path != "/" {
            let candidate = directory.appending(path: "starwatch")
            if FileManager.default.isExecutableFile(atPath: candidate.path) { return candidate }
            directory.deleteLastPathComponent()
        }
        return URL(filePath: "starwatch")
    }()
}

/// A directory of a test's own.
final class Workspace: Sendable {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "sw-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        // Only then, because tests look at what a folder contains.
        if TestConfiguration.isRunEncrypted { try writeMasterKey() }
    }

    func writeMasterKey() throws {
        try write(Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString() + "\n", to: "master.key")
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func write(_ text: String, to name: String) throws {
        try text.write(to: url.appending(path: name), atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path(name))
    }
}

/// Output of a finished command.
struct CommandResult: Sendable {
    let status: Int32
    let output: String
    let errors: String
}

/// Runs `starwatch` to its end.
func starwatch(
    _ arguments: String...,
    isPatient: Bool = true,
    environment: [String: String] = [:]
) async throws -> CommandResult {
    try await starwatch(arguments, isPatient: isPatient, environment: environment)
}

/// Runs `starwatch` to its end.
///
/// - Parameter isPatient: Whether a command waits for its agent as long as a busy machine needs. By itself it waits for 10 s, and
///   then fails, or reads the database instead.
func starwatch(
    _ arguments: [String],
    isPatient: Bool = true,
    environment: [String: String] = [:],
    input: String = ""
) async throws -> CommandResult {
    let wait = isPatient && asksAgent(arguments) ? ["--timeout", "\(longestWait.components.seconds)s"] : []
    return try await runToEnd(Binary.starwatch, arguments + wait, environment: environment, input: input)
}

/// Whether a command asks the agent of a configuration, and says nothing of how long it waits.
private func asksAgent(_ arguments: [String]) -> Bool {
    let commands: Set = [
        "accounts", "digests", "doctor", "explain", "identity", "journal", "logs", "notifications", "outbox", "poll",
        "quarantine", "reload", "server", "sinks", "stars", "status",
    ]
    // Who follows waits for what has no end.
    let others: Set = ["--timeout", "--help", "follow"]
    return arguments.first.map { commands.contains($0) } == true && arguments.contains("--config")
        && others.isDisjoint(with: arguments)
}

/// Runs a built program to its end.
///
/// - Parameter input: What it reads from standard input.
func runToEnd(
    _ program: URL,
    _ arguments: [String],
    environment: [String: String] = [:],
    input: String = ""
) async throws -> CommandResult {
    let workspace = try Workspace()
    let (output, errors) = (workspace.url.appending(path: "out"), workspace.url.appending(path: "err"))
    for file in [output, errors] { try Data().write(to: file) }
    let given = workspace.url.appending(path: "in")
    try Data(input.utf8).write(to: given)
    let process = Process()
    process.executableURL = program
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
    process.standardOutput = try FileHandle(forWritingTo: output)
    process.standardError = try FileHandle(forWritingTo: errors)
    process.standardInput = try FileHandle(forReadingFrom: given)
    try process.start()
    return CommandResult(
        status: await process.end(),
        output: try String(contentsOf: output, encoding: .utf8),
        errors: try String(contentsOf: errors, encoding: .utf8)
    )
}

/// A running agent process.
final class RunningAgent: Sendable {
    private let process = Process()
    let address: String
    private let log: URL

    /// Starts `starwatch run` and waits until it says where it listens.
    init(
        config: String,
        in workspace: Workspace,
        log name: String = "agent.log",
        environment: [String: String] = [:]
    ) async throws {
        log = workspace.url.appending(path: name)
        let known = (try? Data(contentsOf: log).count) ?? 0
        if known == 0 { try Data().write(to: log) }
        let handle = try FileHandle(forWritingTo: log)
        try handle.seekToEnd()
        process.executableURL = Binary.starwatch
        process.arguments = ["run", "--config", config]
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { _, new in new }
        process.standardError = handle
        process.standardOutput = handle
        process.standardInput = FileHandle.nullDevice
        try process.start()
        let (process, log) = (process, log)
        let found = await eventually { () -> String? in
            guard process.isRunning else { return "" }
            guard let data = try? Data(contentsOf: log), data.count > known else { return nil }
            let text = String(decoding: data[known...], as: UTF8.self)
            return Self.addresses(in: text).first
        }
        guard let found, !found.isEmpty else {
            throw AcceptanceError("the agent did not start: \((try? String(contentsOf: log, encoding: .utf8)) ?? "")")
        }
        address = found
    }

    /// Listen address since the last reload.
    var lastAddress: String { Self.addresses(in: logText).last ?? address }

    private static func addresses(in log: String) -> [String] {
        log.split(separator: "\n").filter { $0.contains("http.listening") }
            .compactMap { line in line.firstMatch(of: /127\.0\.0\.1:\d+/).map { String($0.0) } }
    }

    var isRunning: Bool { process.isRunning }
    var pid: pid_t { process.processIdentifier }
    var logText: String { (try? String(contentsOf: log, encoding: .utf8)) ?? "" }

    /// As a power cut: nothing is told, nothing is flushed.
    func killNow() async {
        kill(process.processIdentifier, SIGKILL)
        await process.end()
    }

    /// As an operator who changed the configuration.
    func hangUp() { kill(process.processIdentifier, SIGHUP) }

    /// As systemd: SIGTERM, and waits for the end.
    @discardableResult
    func stop() async -> Int32 {
        process.terminate()
        return await process.end()
    }

    deinit { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }

    /// Pages of the agent.
    var pages: AgentPages { AgentPages(address: address) }
}

/// The HTTP side of a running agent.
struct AgentPages: Sendable {
    let address: String

    /// The body of a GET.
    func get(_ path: String, headers: [String: String] = [:]) async throws -> String {
        try await HTTP.get("http://\(address)\(path)", headers: headers).body
    }

    /// Waits until the starred poll has succeeded, which is when the agent knows its server and that server's clock.
    func waitForPoll(of poll: String = "starred_projects") async {
        let series = "starwatch_poll_success_total{poll=\"\(poll)\"}"
        let polled = await eventually { (try? await metric(series)) ?? 0 > 0 ? true : nil }
        #expect(polled == true)
    }

    /// The value of a series on /metrics.
    func metric(_ series: String) async throws -> Double? {
        try await get("/metrics").split(separator: "\n").first { $0.hasPrefix(series + " ") }
            .flatMap { Double($0.split(separator: " ")[1]) }
    }
}

struct AcceptanceError: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// Looks again until there is something to see. Real processes give no signal to wait for.
func eventually<T: Sendable>(
    within limit: Duration = longestWait,
    _ look: @Sendable () async throws -> T?
) async rethrows -> T? {
    let deadline = ContinuousClock.now + limit
    while ContinuousClock.now < deadline {
        if let found = try await look() { return found }
        await pause()
    }
    return try await look()
}
