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
    /// Tells what takes long.
    let progress: (String) -> Void
    /// Asks a question of yes and no; `false` without a terminal.
    var confirm: (String) -> Bool = { _ in false }

    /// - Parameter isTried: Whether the server and the sink are tried first.
    /// - Throws: If the configuration is invalid or a trial fails; nothing is written then.
    func run(isTried: Bool) async throws {
        let trial = try SetupFiles(answers, isPackaged: user != nil)
        try trial.check(folder)
        let storage = try SetupStorage.find(in: folder, isPackaged: user != nil, isWanted: answers.isEncrypted)
        try await tryOut(trial, withTrials: isTried)
        // The next start takes DID and plans from the configuration.
        let hasData =
            (try? DatabaseEncryption.stored(at: storage.path)).map { ![.absent, .empty].contains($0) } ?? true
        let key = SetupKey(storage: storage, folder: folder, user: user)
        let files = try SetupFiles(answers, isPackaged: user != nil, storage: storage)
        // The configuration comes last, so that it never names a key that is not there.
        for line in try await key.make() + files.write(to: folder, for: user) { say(line) }
        if let advice = key.advice { say("\n" + advice) }
        let configuration = folder + "/" + SetupFiles.configurationName
        say(
            "\nNext:\n" + commands(configuration, isRunning: Self.isRunning(configuration)).map { "  \($0)\n" }.joined()
        )
        if answers.sink.kind.type == FeedSink.self {
            say("Then 'starwatch notifications list' shows what was announced.")
        }
        if let note = headlessNote(configuration, ProcessInfo.processInfo.environment) { say(note) }
        if hasData, answers.list == nil { await compare(configuration, storage.path) }
    }

    /// Returns advice for a machine without a screen: a way to the status page and, without the package's service, to an agent that
    /// outlasts the session. `nil` with a screen.
    func headlessNote(_ configuration: String, _ environment: [String: String]) -> String? {
        let screens = ["DISPLAY", "WAYLAND_DISPLAY"]
        guard screens.allSatisfy({ environment[$0]?.isEmpty ?? true }) else { return nil }
        let listen = AgentOptions().http.listen
        var lines = [
            "The status page is http://\(listen)/ on this machine. To see it on another one, run there:",
            "  ssh -L \(listen.split(separator: ":").last ?? ""):\(listen) THIS-MACHINE", "and open the same address.",
        ]
        if user == nil {
            lines += [
                "'starwatch run' ends when you log out. To keep it running without the package:",
                "  loginctl enable-linger",
                "  systemd-run --user --unit starwatch starwatch run --config \(configuration)",
            ]
        }
        return lines.joined(separator: "\n")
    }

    private static func isRunning(_ configuration: String) -> Bool {
        let loader = ConfigurationLoader(checksSecrets: false)
        return (try? loader.load(file: configuration)).map { Surroundings($0).isRunning } ?? false
    }

    /// The next commands. An agent that runs has the former configuration, and perhaps a database without the key.
    func commands(_ configuration: String, isRunning: Bool) -> [String] {
        let attempt = answers.list.map { "starwatch poll try \($0.name)" }
        guard user != nil else {
            let start = "starwatch run --config \(configuration)"
            return (attempt.map { ["\($0) --config \(configuration)"] } ?? []) + [
                isRunning ? "\(start)   # after you stop the agent that runs" : start
            ]
                + ["starwatch doctor --config \(configuration)"]
        }
        let start =
            isRunning
            ? ["sudo systemctl enable starwatch", "sudo systemctl restart starwatch"]
            : ["sudo systemctl enable --now starwatch"]
        return (attempt.map { ["sudo \($0)"] } ?? []) + start + ["sudo starwatch doctor"]
    }

    /// Says what a database of an earlier start has in place of the new configuration's DID and plans, which only seed an
    /// empty one, and offers to change the stars.
    private func compare(_ configuration: String, _ database: String) async {
        guard FileManager.default.fileExists(atPath: database) else { return }
        var access = AgentAccess(config: configuration)
        access.isQuiet = true
        guard let identity = try? await access.perform(ControlAPI.showIdentity, ()),
            let stars = try? await access.perform(ControlAPI.listStars, ()).planIDs
        else { return say("\n\(database) exists, and its own DID and plans stay; see 'starwatch stars list'.") }
        if let did = answers.did?.rawValue, identity.did != did {
            return say(
                "\n\(database) is signed in as another DID, or as none, which stays. To change it and the plans:\n"
                    + "  starwatch identity set \(did)\n  starwatch stars set PLAN..."
            )
        }
        guard let difference = Self.difference(from: stars, to: answers.stars) else { return }
        say("\n\(database) has its own starred plans, which stay: \(difference)")
        guard !answers.stars.isEmpty, confirm("Set the stars to those of the new configuration now") else {
            return say("To change them: starwatch stars set PLAN...")
        }
        let set = StarsChange(operation: .set, planIDs: answers.stars)
        let isSet = (try? await access.perform(ControlAPI.changeStars, set)) != nil
        say(isSet ? "The stars are set." : "That failed; run 'starwatch stars set PLAN...'.")
    }

    /// Loads copies of the files in a private folder, and tries the server and then the sink.
    private func tryOut(_ files: SetupFiles, withTrials: Bool) async throws {
        let stage = try TemporaryFolder()
        defer { stage.remove() }
        _ = try files.write(to: stage.path, for: nil)
        let options: AgentOptions
        do throws(ConfigurationFailure) {
            let loader = ConfigurationLoader(reserved: files.files.map { folder + "/" + $0.name })
            let staged = try loader.load(file: stage.path + "/" + SetupFiles.configurationName)
            // Before a trial runs the program.
            try staged.checkTrust()
            options = staged.options
        } catch {
            var failure = error
            // The operator knows the answers, and not the lines of a file that is not written yet.
            failure.file = "starwatch init"
            failure.problems = failure.problems.map { problem in
                // Nor the copies of the secrets.
                let message = files.sources.reduce(problem.message) { message, source in
                    message.replacing("\(stage.path)/\(source.key)", with: source.value)
                }
                return .init(line: nil, path: problem.path, message: message)
            }
            throw failure
        }
        var findings = await OptionWarning.found(in: options).filter { $0.path != "storage.path" }
            .map { Finding("configuration", .warning, "\($0.path) \($0.message)") }
        if withTrials {
            progress("Trying the server (up to 30 s) and the sink...")
            let polls = try await Trial.polls(options)
            let server = ServerFindings(trial: polls, options: options).all
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

    /// Sends test notifications.
    private func sink(of options: AgentOptions) async throws(AgentError) -> Finding {
        let sink = options.delivery.sinks[0]
        if user != nil, !sink.values(of: .program).isEmpty {
            let test = "later: 'starwatch sinks test \(answers.sink.name)'."
            if let problem = AgentUser.problem(of: sink, as: user) { return Finding("sink", .problem, problem) }
            return Finding("sink", .skipped, "The agent runs the program as its own user; \(test)")
        }
        if let path = sink.values(of: .output).first?.value.text {
            // The file is the agent's to make: one of this user can be closed to it.
            if let problem = AgentUser.writeProblem(path, as: user) { return Finding("sink", .problem, problem) }
            let isOutside = user != nil && !path.hasPrefix(ServiceUser.stateFolder + "/")
            let advice =
                "the unit lets it write below \(ServiceUser.stateFolder) alone; add ReadWritePaths= with systemctl edit."
            return isOutside
                ? Finding("sink", .warning, "The agent's user can write to \(path), but \(advice)")
                : Finding("sink", .ok, "\(user == nil ? "This user" : "The agent's user") can write to \(path).")
        }
        let report = try await Trial.sink(answers.sink.name, of: options)
        let text = [report.line, report.result == .ok ? nil : report.answer]
        let sentences = "Test notifications to " + text.compactMap(\.self).joined(separator: " ")
        return Finding("sink", report.result == .ok ? .ok : .problem, sentences)
    }
}

extension Setup {
    /// The difference between the stars of a database and those of a new configuration, as a sentence; `nil` if there is none.
    static func difference(from former: [String], to new: [String]) -> String? {
        let (added, removed) = (Set(new).subtracting(former).count, Set(former).subtracting(new).count)
        if added + removed == 0 { return nil }
        return
            "\(added == 0 ? "none" : "\(added)") of the new configuration's plans \(added == 1 ? "is" : "are") missing there, "
            + "and \(removed == 0 ? "none" : "\(removed)") of its own \(removed == 1 ? "is" : "are") missing in the new configuration."
    }
}
