import Foundation
import Starwatch
import StarwatchCore

/// The questions of `starwatch init`, for what no option says.
struct SetupQuestions {
    static let server = "https://api.endorser.ch"

    /// Asks one question; `nil` at the end of the input.
    var ask: (_ question: String) -> String?
    /// Asks one question whose answer is not shown; `nil` at the end of the input.
    var askHidden: (_ question: String) -> String?
    /// Whether there is a file.
    var exists: (_ path: String) -> Bool = { FileManager.default.fileExists(atPath: $0) }
    /// Returns why a file cannot be the private key of a DID, as a sentence; `nil` if it can.
    var keyProblem: (_ path: String) -> String? = { _ in nil }
    var home = NSHomeDirectory()
    /// Where relative paths of a sink start; `nil` for the current folder.
    var sinkFolder: String?
    /// Tells why an answer is wrong.
    var tell: (String) -> Void

    /// Asks until `read` takes the answer.
    ///
    /// - Parameter standard: The value of an empty answer; `nil` if there must be one.
    /// - Throws: ``CommandError/usage(_:)`` that names `option` at the end of the input.
    func answer<Value>(
        _ question: String,
        standard: String? = nil,
        option: String,
        isHidden: Bool = false,
        wrong: (String) -> String = { _ in "" },
        _ read: (String) -> Value?
    ) throws(CommandError) -> Value {
        while true {
            guard
                let line = (isHidden ? askHidden : ask)(
                    question + (standard.map { $0.isEmpty ? "" : " [\($0)]" } ?? "")
                )
            else {
                throw .usage("There is no answer to \"\(question)\"; give it with \(option).")
            }
            let text = line.trimmingSpaces
            if let value = read(text.isEmpty ? standard ?? "" : text) { return value }
            tell(wrong(text))
        }
    }

    func askServer() throws(CommandError) -> String {
        try answer(
            "Server",
            standard: Self.server,
            option: "--server",
            wrong: { "The server \(ValueRules.url($0) ?? "is not usable.")" },
            { ValueRules.url($0) == nil ? $0 : nil }
        )
    }

    /// Asks who is signed in: a DID, or the file with the private key of one.
    func askIdentity() throws(CommandError) -> (did: DID?, key: String?) {
        try answer(
            "DID, or the file with its private key",
            option: "--did or --key-file",
            wrong: { text in
                if text.hasPrefix("did:") { return "A DID \(DID.typingProblem(text) ?? "is wanted.")" }
                let path = path(text)
                if exists(path) { return keyProblem(path) ?? "" }
                return "That is neither a DID, such as did:ethr:0x…, nor a file."
            },
            { text in
                if text.hasPrefix("did:") { return DID.typingProblem(text) == nil ? DID(text).map { ($0, nil) } : nil }
                let path = path(text)
                return exists(path) && keyProblem(path) == nil ? (nil, path) : nil
            }
        )
    }

    private func path(_ text: String) -> String { text.hasPrefix("~/") ? home + text.dropFirst() : text }

    /// The source of the answer to ``askStars(_:)``.
    static let aboutStars = """
        The app keeps its stars on its device, and no server tells them, so name the plans here. In the app, open a project, \
        copy its link and paste it. More can follow with 'starwatch stars add'.
        """

    /// - Parameter dialect: The dialect that the identifiers are checked for.
    func askStars(_ dialect: Dialect) throws(CommandError) -> [String] {
        func plans(_ text: String) -> [String] {
            text.split { $0 == " " || $0 == "," }.map { PlanIDRule.expanded(String($0), in: dialect) }
        }
        tell(Self.aboutStars)
        return try answer(
            "Starred plans, with spaces between (empty: none)",
            standard: "",
            option: "--star",
            wrong: { PlanIDRule.problem(plans($0), in: dialect) ?? "" },
            { PlanIDRule.problem(plans($0), in: dialect) == nil ? plans($0) : nil }
        )
    }

    /// The kinds of polls beside that of starred projects.
    static let otherPolls = PollKind.ofEndorser.filter { $0 != .starredProjects }

    /// Asks for the polls beside that of starred projects. With a token, an account can read all of them.
    func askPolls() throws(CommandError) -> [PollKind] {
        let names = Self.otherPolls.map(\.rawValue).joined(separator: " ")
        return try answer(
            "Polls beside starred_projects: all, none, or some of \(names)",
            standard: "all",
            option: "--poll",
            wrong: { _ in "Answer all, none, or kinds of polls with spaces between." },
            { text in
                if text == "all" { return Self.otherPolls }
                if text == "none" { return [] }
                let words = text.split { $0 == " " || $0 == "," }
                let kinds = Self.otherPolls.filter { words.contains(Substring($0.rawValue)) }
                return kinds.count == words.count ? kinds : nil
            }
        )
    }

    func askLastWeek() throws(CommandError) -> Bool {
        try answer(
            "Announce also what changed in the last week (y or n)",
            standard: "y",
            option: "--announce-last-week",
            wrong: { _ in "Answer y or n." },
            { ["y": true, "yes": true, "n": false, "no": false][$0.lowercased()] }
        )
    }

    func askSink() throws(CommandError) -> SetupSink {
        func sink(_ text: String) -> SetupSink? { SetupSink(text, relativeTo: sinkFolder) }
        let chosen = try answer(
            "Sink: \(SetupSink.shortForms)",
            standard: FeedSink.kind,
            option: "--sink",
            wrong: { sink($0)?.problem ?? "A sink is \(SetupSink.shortForms)." },
            { text in SetupSink.named(text) ?? sink(text).flatMap { $0.problem == nil ? $0 : nil } }
        )
        return try askParts(of: chosen)
    }

    /// Asks for the parts of a sink, if it is only named.
    func askParts(of sink: SetupSink) throws(CommandError) -> SetupSink {
        if sink.target.count == sink.parts.count { return sink }
        while true {
            var parts: [String] = []
            for question in sink.parts.compactMap(\.question) {
                let wrong = { (_: String) in "There is no default; type it." }
                parts.append(
                    try answer(question, option: "--sink \(sink.form)", wrong: wrong) { $0.isEmpty ? nil : $0 }
                )
            }
            let sink = sink.with(parts)
            guard let problem = sink.problem else { return sink }
            tell(problem)
        }
    }

    /// Returns why a typed text cannot be the secret of a setting, as a sentence; `nil` if it can, or if it is a path.
    private func problem(ofTyped text: String, _ setting: String) -> String? {
        guard !text.hasPrefix("/"), !text.hasPrefix("~/") else { return nil }
        let content: SecretContent = setting == "token_file" ? .token : .line
        do throws(SecretContent.Mistake) {
            _ = try content.secret(in: Array(text.utf8))
            return nil
        } catch { return "It cannot be used; \(error.advice)." }
    }

    func askSinkSecret(of sink: SetupSink) throws(CommandError) -> SetupAnswers.Secret? {
        guard let secret = sink.secret else { return nil }
        let (word, isNeeded) = (secret.setting.replacing("_file", with: ""), secret.isNeeded)
        return try answer(
            "The sink's \(word), or the file with it (what you type is not shown\(isNeeded ? "" : "; empty: none"))",
            standard: isNeeded ? nil : "",
            option: "--sink-secret-file",
            isHidden: true,
            wrong: {
                if $0.isEmpty { return "The sink needs its \(word)." }
                return problem(ofTyped: $0, secret.setting)
                    ?? "There is no such file that can be read; write a secret that begins with / into a file."
            },
            { text in
                if text.isEmpty { return isNeeded ? nil : .some(nil) }
                if exists(path(text)) { return SetupAnswers.Secret.file(path(text)) }
                let isPath = text.hasPrefix("~/") || text.hasPrefix("./") || FileResolver.isPlainlyAPath(text)
                if isPath || text.hasPrefix("/") || problem(ofTyped: text, secret.setting) != nil { return nil }
                return SetupAnswers.Secret.typed(text)
            }
        )
    }
}
