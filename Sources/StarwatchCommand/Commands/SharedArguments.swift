import ArgumentParser
import Starwatch
import StarwatchCore

/// `--config`.
struct ConfigurationArguments: ParsableArguments {
    @Option(help: ArgumentHelp("The configuration file.", valueName: "file"), completion: .file())
    var config: String?

    var access: AgentAccess { AgentAccess(config: config) }
}

/// `--config`, `--socket`, `--timeout` and `--json`.
struct AgentArguments: ParsableArguments {
    @OptionGroup var configuration: ConfigurationArguments

    @Option(
        help: ArgumentHelp("The control socket of a running agent; by default the configured one.", valueName: "path"),
        completion: .file()
    )
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The longest wait for the agent's answer, such as 30s; by default 10s, unless the text above says more.",
            valueName: "time"
        )
    )
    var timeout: String?

    @Option(help: ArgumentHelp("The account that is meant, of an agent with accounts: many.", valueName: "did"))
    var account: String?

    @OptionGroup var format: FormatArguments

    func validate() throws {
        _ = try limit()
        if let account, DID(account) == nil {
            throw ValidationError("--account must be a DID, such as did:ethr:0x….")
        }
    }

    private func limit() throws -> Duration? {
        let possible = Duration.milliseconds(100)...Duration.seconds(86_400)
        let rule = "--timeout must be a time from 100ms to 24h, such as 30s."
        return try timeout.map { try OptionValue.duration($0, in: possible, rule) }
    }

    var access: AgentAccess {
        var access = AgentAccess(config: configuration.config, socket: socket, timeout: try? limit())
        access.account = account.flatMap { DID($0) }
        return access
    }

    /// Performs a verb with the running agent, or with one in the foreground.
    func ask<Input, Answer>(_ verb: Verb<Input, Answer>, _ input: Input) async throws -> Answer {
        try await access.perform(verb, input)
    }

    func ask<Answer>(_ verb: Verb<Void, Answer>) async throws -> Answer { try await access.perform(verb, ()) }

    func print<Value: Encodable>(_ value: Value, isGood: Bool = true, _ text: (Value) -> String) throws {
        try format.print(value, isGood: isGood, text)
    }
}

/// `--json`.
struct FormatArguments: ParsableArguments {
    @Flag(help: "Print JSON.")
    var json = false

    /// Prints a command's result as JSON or as text.
    ///
    /// - Parameter isGood: `false` for exit code 1.
    func print<Value: Encodable>(_ value: Value, isGood: Bool = true, _ text: (Value) -> String) throws {
        Swift.print(try json ? JSONOutput.encode(value) : text(value))
        if !isGood { throw CommandError.printed(.failed) }
    }
}

extension CommandConfiguration {
    /// A command without others below it. Its help ends with examples.
    ///
    /// - Parameter patience: The longest wait for the agent's answer, if it is longer than usual.
    init(
        _ name: String,
        _ abstract: String,
        _ discussion: String = "",
        waiting patience: Duration? = nil,
        examples: [String]
    ) {
        let wait = patience.map { "Waits up to \(DurationText.format($0)) for the agent's answer." }
        let text = [discussion, wait ?? ""].filter { !$0.isEmpty }.joined(separator: "\n\n")
        let lines = (text.isEmpty ? [] : [text, ""]) + ["Examples:"] + examples.map { "  " + $0 }
        self.init(commandName: name, abstract: abstract, discussion: lines.joined(separator: "\n"))
    }
}

/// The checks of options' values.
enum OptionValue {
    /// - Throws: A usage error, which is the rule, unless the text is a duration in the range.
    static func duration(_ text: String, in possible: ClosedRange<Duration>, _ rule: String) throws -> Duration {
        guard let time = try? DurationText.parse(text), possible.contains(time) else { throw ValidationError(rule) }
        return time
    }

    /// - Throws: A usage error unless the value of `--limit` is from 1 to `most`.
    static func check(limit: Int, upTo most: Int) throws {
        if !(1...most).contains(limit) { throw ValidationError("--limit must be between 1 and \(most)") }
    }

    /// A time in the past, as a person writes it.
    ///
    /// - Returns: `nil` for no text.
    /// - Throws: A usage error for a text that is none.
    static func time(_ text: String?, now: Timestamp) throws -> Timestamp? {
        guard let text else { return nil }
        if let time = Timestamp(iso8601: text) { return time }
        if let period = try? DurationText.parse(text) { return now - period }
        if let time = clock(text, before: now) { return time }
        throw ValidationError(
            "--since must be a time such as 2026-01-01T12:00:00Z or 02:00 in UTC, or a period such as 2h"
        )
    }

    /// The last time at which a clock in UTC showed `HH:MM`.
    private static func clock(_ text: String, before now: Timestamp) -> Timestamp? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ $0.count == 2 }), let hour = Int64(parts[0]),
            let minute = Int64(parts[1]), (0...23).contains(hour), (0...59).contains(minute)
        else { return nil }
        let day: Int64 = 86_400_000
        let time = now.milliseconds / day * day + (hour * 60 + minute) * 60_000
        return Timestamp(milliseconds: time > now.milliseconds ? time - day : time)
    }
}

extension RawRepresentable where Self: CaseIterable, RawValue == String {
    /// Returns the one that the word of an argument names.
    ///
    /// - Throws: A usage error for another word.
    static func read(_ word: String, _ argument: String) throws -> Self {
        if let value = Self(rawValue: word) { return value }
        let words = allCases.map(\.rawValue)
        let tail = Suggestion.tail(for: word, among: words)
        throw ValidationError("\(argument) must be one of \(words.joined(separator: ", "))\(tail)")
    }
}

/// The completion of names that the configuration contains. A shell runs the program for it, which reads the usual file or
/// that of `--config`.
extension CompletionKind {
    static let polls = custom { words, _, _ in options(words)?.polls.map(\.name.rawValue) ?? [] }
    static let lists = custom { words, _, _ in
        options(words)?.polls.filter(\.kind.isList).map(\.name.rawValue) ?? []
    }
    static let sinks = custom { words, _, _ in options(words)?.delivery.sinks.map(\.name) ?? [] }
    static let digests = custom { words, _, _ in options(words)?.digests.map(\.name.rawValue) ?? [] }
    static let pollsAndDigests = custom { words, _, _ in
        (options(words)?.polls.map(\.name.rawValue) ?? []) + (options(words)?.digests.map(\.name.rawValue) ?? [])
    }

    /// - Parameter words: The words of the command line.
    static func options(_ words: [String]) -> AgentOptions? {
        let named = words.firstIndex(of: "--config").flatMap { words.dropFirst($0 + 1).first }
        return try? AgentAccess(config: named).configuration(secrets: false).options
    }
}
