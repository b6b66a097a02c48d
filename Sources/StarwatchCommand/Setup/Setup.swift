import Starwatch
import StarwatchCore

/// The work of `starwatch init` after the questions: try, then write.
struct Setup {
    let answers: SetupAnswers
    let folder: String
    /// The agent's user, if the package's service runs the agent; `nil` if the caller does.
    let user: ServiceUser?
    let say: (String) -> Void
    /// Tells what takes long.
    let progress: (String) -> Void

    /// - Parameter isTried: Whether the server and the sink are tried first.
    /// - Throws: If the configuration is invalid or a trial fails; nothing is written then.
    func run(isTried: Bool) async throws {
        let files = try SetupFiles(answers, isPackaged: user != nil)
        try files.check(folder)
        try await tryOut(files, withTrials: isTried)
        for line in try files.write(to: folder, for: user) { say(line) }
        let configuration = folder + "/" + SetupFiles.configurationName
        let commands =
            user != nil
            ? ["sudo systemctl enable --now starwatch", "sudo starwatch doctor"]
            : ["starwatch run --config \(configuration)", "starwatch doctor --config \(configuration)"]
        say("\nNext:\n  \(commands[0])\n  \(commands[1])")
    }

    /// Loads copies of the files in a private folder, and tries the server and then the sink.
    private func tryOut(_ files: SetupFiles, withTrials: Bool) async throws {
        let stage = try TemporaryFolder()
        defer { stage.remove() }
        _ = try files.write(to: stage.path, for: nil)
        let options: AgentOptions
        do throws(ConfigurationFailure) {
            options = try ConfigurationLoader().load(file: stage.path + "/" + SetupFiles.configurationName).options
        } catch {
            var failure = error
            // The operator knows the answers, and not the lines of a file that is not written yet.
            failure.file = "starwatch init"
            failure.problems = failure.problems.map { .init(line: nil, path: $0.path, message: $0.message) }
            throw failure
        }
        var findings = await OptionWarning.found(in: options).filter { $0.path != "storage.path" }
            .map { Finding("configuration", .warning, "\($0.path) \($0.message)") }
        if withTrials {
            progress("Trying the server (up to 30 s) and the sink...")
            let polls = try await Trial.polls(options)
            let server = ServerFindings(trial: polls, options: options, hasToken: true).all
            findings += server
            if server.contains(where: { $0.state == .problem }) {
                findings.append(Finding("sink", .skipped, "Not tried, because the server has a problem."))
            } else {
                findings.append(try await sink(of: options))
            }
        }
        guard !findings.isEmpty else { return }
        let report = DoctorReport(findings: findings)
        say(report.text + "\n")
        if report.hasProblems {
            throw CommandError.failed("Nothing was written; correct the problems, or write the files with --untested.")
        }
    }

    /// Sends a test notification.
    private func sink(of options: AgentOptions) async throws(AgentError) -> Finding {
        let test = "later: 'starwatch sinks test \(answers.sink.name)'."
        switch answers.sink {
        case .command where user != nil:
            return Finding("sink", .skipped, "The agent runs the program as its own user; \(test)")
        case .file:
            // A file that this user makes can be closed to the agent's.
            let failure = await SinkReach.of(options.delivery.sinks[0]).failure
            return failure.map { Finding("sink", .problem, $0.sentence) }
                ?? Finding("sink", .skipped, "The agent makes the file; \(test)")
        default: break
        }
        let report = try await Trial.sink(answers.sink.name, of: options)
        let text = SinkTestText.line(report)
        return Finding("sink", report.result == .ok ? .ok : .problem, "A test notification to \(text)")
    }
}
