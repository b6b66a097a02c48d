import Foundation
import Starwatch
import StarwatchHTTP

/// A valid configuration with the origins of its values.
struct LoadedConfiguration: Sendable, Hashable {
    var options: AgentOptions
    /// The lines of the settings that the file gives, by path; the others are defaults.
    var origins: [String: Int]
    /// The file as the user named it.
    var file: String
    /// The web configurations that the file names, unless it was read without secrets.
    var webConfigurations: [ServedPort: WebConfiguration] = [:]

    func hasTLS(_ port: ServedPort) -> Bool { webConfigurations[port]?.tls != nil }

    /// The facts about the options that the web configurations tell. One that was not read is taken for good.
    var facts: OptionWarning.Facts {
        var facts = OptionWarning.Facts()
        let files: [ServedPort: String?] = [.http: options.http.webConfigFile, .control: options.control.webConfigFile]
        for (port, file) in files where file != nil {
            let configuration = webConfigurations[port]
            if configuration?.tls != nil || configuration == nil { facts.encryptedPorts.insert(port) }
            if configuration?.users.isEmpty == false { facts.passwordPorts.insert(port) }
        }
        return facts
    }

    /// Checks that an agent could run: the secrets, the parts, the programs and the ports.
    ///
    /// - Throws: ``ConfigurationFailure`` with the line of each setting.
    func check() async throws(ConfigurationFailure) {
        var problems = Surroundings(self).problems
        do throws(AgentError) { try await Agent.check(options) } catch { problems.append(located(error)) }
        do throws(AgentError) { try await checkMasterKey() } catch { problems.append(located(error)) }
        if !problems.isEmpty { throw ConfigurationFailure(file: file, problems: problems.inOrder) }
    }

    /// Checks the content of the file of the master key. One that this user cannot read, or that only systemd opens, is left
    /// to the agent.
    private func checkMasterKey() async throws(AgentError) {
        guard let file = options.security.masterKeyFile, FileManager.default.isReadableFile(atPath: file),
            !SealedCredential(of: file).replacesFile
        else { return }
        _ = try await DatabaseEncryption.key(of: options.security)
    }

    /// Refuses programs that other users can change: they would run as the agent's user.
    func checkTrust() throws(ConfigurationFailure) {
        let problems = Surroundings(self).distrusted
        if !problems.isEmpty { throw ConfigurationFailure(file: file, problems: problems) }
    }

    /// Problems with the lines of their settings, in the order of the file.
    func located(_ found: [(path: String, message: String)]) -> [ConfigurationProblem] {
        found.map { ConfigurationProblem(line: origins[$0.path], path: $0.path, message: $0.message) }.inOrder
    }

    /// An error of the agent with the setting that it names, and that setting's line.
    private func located(_ error: AgentError) -> ConfigurationProblem {
        // The agent names a sink, and the file numbers it.
        let text = options.delivery.sinks.enumerated().reduce(error.message) { text, sink in
            text.replacing("delivery.sinks.\(sink.element.name).", with: "delivery.sinks[\(sink.offset)].")
        }
        let named = origins.keys.filter { text.contains($0) }
        // The longest one: polls.mine.schedule, not polls.mine.
        let path = named.max { ($0.count, $0) < ($1.count, $1) }
        guard let path else { return ConfigurationProblem(line: nil, path: "", message: error.message) }
        let message = text.hasPrefix(path + " ") ? text.dropFirst(path.count + 1) : text[...]
        return ConfigurationProblem(line: origins[path], path: path, message: String(message))
    }

    /// One line per warning, with the line of its setting.
    ///
    /// - Parameter warnings: The warnings about the options.
    func lines(of warnings: [OptionWarning]) -> [String] {
        ConfigurationFailure(file: file, problems: problems(of: warnings)).lines(as: "warning")
    }

    /// The warnings with the lines of their settings, and that about a file without settings.
    func problems(of warnings: [OptionWarning]) -> [ConfigurationProblem] {
        var problems: [ConfigurationProblem] = []
        if origins.isEmpty {
            let message =
                "sets nothing: without an identity its only poll requests nothing; see 'starwatch config default'."
            problems.append(ConfigurationProblem(line: nil, path: "", message: message))
        }
        let isEmpty = origins.isEmpty
        problems += warnings.filter { !($0.isOfSeed && isEmpty) }.map {
            ConfigurationProblem(line: line(of: $0.path), path: $0.path, message: $0.message)
        }
        return problems
    }

    /// The line of a setting; that of its section's first setting if the file leaves it out; `nil` without a section.
    private func line(of path: String) -> Int? {
        if let line = origins[path] { return line }
        guard let dot = path.lastIndex(of: ".") else { return nil }
        return origins.filter { $0.key.hasPrefix(path[...dot]) }.values.min()
    }
}

/// The problems of an invalid configuration, in the order of the file.
struct ConfigurationFailure: Error, Sendable, Hashable {
    var file: String
    var problems: [ConfigurationProblem]
    /// The part of the file that could be read; `nil` if none could.
    var partial: LoadedConfiguration?
    /// The warnings to show below the problems.
    var warnings: [ConfigurationProblem] = []
    /// A sentence about another way to the same end.
    var advice: String?

    /// One line per problem and per warning, and the advice.
    var lines: [String] {
        problems.map { $0.description(file: file) }
            + ConfigurationFailure(file: file, problems: warnings).lines(as: "warning")
            + (advice.map { ["starwatch: \($0)"] } ?? [])
    }

    /// The warnings that a person can correct together with the problems: those that none of the problems can have caused.
    var furtherWarnings: [ConfigurationProblem] {
        get async {
            guard let partial else { return [] }
            let facts = await partial.facts.completed(for: partial.options)
            return partial.problems(of: OptionWarning.all(in: partial.options, facts)).filter { !canExplain($0.path) }
        }
    }

    /// Whether a problem left out a value that a warning about `path` depends on.
    private func canExplain(_ path: String) -> Bool {
        let shared = ["accounts", "auth.", "limits.", "server."]
        return problems.contains { problem in
            guard let dot = problem.path.lastIndex(of: ".") else { return true }
            return path.hasPrefix(problem.path[...dot]) || shared.contains { problem.path.hasPrefix($0) }
        }
    }

    /// One line per problem, each with a word before its sentence.
    func lines(as word: String) -> [String] {
        problems.map { problem in
            var problem = problem
            problem.message = "\(word): \(problem.message)"
            return problem.description(file: file)
        }
    }
}

extension [ConfigurationProblem] {
    fileprivate var inOrder: [ConfigurationProblem] { sorted { ($0.line ?? 0, $0.path) < ($1.line ?? 0, $1.path) } }
}

/// A problem of a configuration file.
struct ConfigurationProblem: Error, Sendable, Hashable, Encodable {
    /// The line, from 1; `nil` for the file as a whole.
    var line: Int?
    /// The setting, such as `polls.starred_projects.schedule`; empty for the file as a whole.
    var path: String
    /// One sentence that says what is wrong and what to do. It never contains a secret or a DID.
    var message: String

    /// `FILE:LINE: PATH: MESSAGE`, the form that editors understand.
    func description(file: String) -> String {
        var text = file
        if let line { text += ":\(line)" }
        if !path.isEmpty { text += ": \(path)" }
        return text + ": " + message
    }
}
