import Foundation
import Starwatch
import StarwatchCore

/// The work of `starwatch init` after the questions: try, then write.
struct Setup {
    let answers: SetupAnswers
    let folder: String
    /// The agent's user, if the package's service runs the agent; `nil` if the caller does.
    let user: ServiceUser?
    let say: (String) -> Void

    /// - Parameter isTried: Whether the server and the sink are tried first.
    /// - Throws: ``CommandError`` if a trial fails; nothing is written then.
    func run(isTried: Bool) async throws(CommandError) {
        let files = try SetupFiles(answers, isPackaged: user != nil)
        if isTried { try await tryOut(files) }
        for line in try files.write(to: folder, for: user) { say(line) }
        let configuration = folder + "/" + SetupFiles.configurationName
        let commands =
            user != nil
            ? ["sudo systemctl enable --now starwatch", "sudo starwatch doctor"]
            : ["starwatch run --config \(configuration)", "starwatch doctor --config \(configuration)"]
        say("\nNext:\n  \(commands[0])\n  \(commands[1])")
    }

    /// Sends a test notification.
    private func sink(of options: AgentOptions) async throws(AgentError) -> Finding {
        if user != nil, case .file = answers.sink {
            // The file would belong to root, and the agent could not write it.
            return Finding("sink", .skipped, "The agent makes the file; later: 'starwatch sinks test file'.")
        }
        let report = try await Trial.sink(answers.sink.name, of: options)
        let text = SinkTestText.line(report)
        return Finding("sink", report.result == .ok ? .ok : .problem, "A test notification to \(text)")
    }

    /// Tries the server and the sink with copies of the files in a private folder.
    private func tryOut(_ files: SetupFiles) async throws(CommandError) {
        let stage = FileManager.default.temporaryDirectory.appending(
            path: "starwatch-init-\(UInt64.random(in: .min ... .max))"
        )
        defer { try? FileManager.default.removeItem(at: stage) }
        do {
            try FileManager.default.createDirectory(
                at: stage,
                withIntermediateDirectories: false,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw .failed("No folder can be created in \(stage.deletingLastPathComponent().path).")
        }
        _ = try files.write(to: stage.path, for: nil)
        let configuration: LoadedConfiguration
        do throws(ConfigurationFailure) {
            configuration = try ConfigurationLoader().load(file: stage.appending(path: "starwatch.yaml").path)
        } catch { throw .configuration(error) }
        let options = configuration.options
        var findings: [Finding] = []
        do throws(AgentError) {
            let polls = try await Trial.polls(options)
            findings = ServerFindings(trial: polls, options: options, hasToken: true).all
            findings.append(try await sink(of: options))
        } catch { throw .agent(error) }
        let report = DoctorReport(findings: findings)
        say(report.text + "\n")
        if report.hasProblems {
            throw .failed("Nothing was written; correct the problems, or write the files with --untested.")
        }
    }
}
