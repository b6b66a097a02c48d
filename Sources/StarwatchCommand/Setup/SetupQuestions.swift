import Foundation
import StarwatchCore

/// The questions of `starwatch init`, for what no option says.
struct SetupQuestions {
    static let server = "https://api.endorser.ch"

    /// Asks one question; `nil` at the end of the input.
    var ask: (_ question: String) -> String?
    /// Whether there is a file.
    var exists: (_ path: String) -> Bool = { FileManager.default.fileExists(atPath: $0) }
    var home = NSHomeDirectory()
    /// Tells why an answer is wrong.
    var tell: (String) -> Void

    /// Asks until `read` takes the answer.
    ///
    /// - Parameter standard: The value of an empty answer; `nil` if there must be one.
    /// - Throws: ``CommandError/usage(_:)`` that names `option` at the end of the input.
    private func answer<Value>(
        _ question: String,
        standard: String? = nil,
        option: String,
        wrong: String,
        _ read: (String) -> Value?
    ) throws(CommandError) -> Value {
        while true {
            guard let line = ask(question + (standard.map { $0.isEmpty ? "" : " [\($0)]" } ?? "")) else {
                throw .usage("There is no answer to \"\(question)\"; give it with \(option).")
            }
            let text = line.trimmingSpaces
            if let value = read(text.isEmpty ? standard ?? "" : text) { return value }
            tell(wrong)
        }
    }

    func askServer() throws(CommandError) -> String {
        try answer(
            "Server",
            standard: Self.server,
            option: "--server",
            wrong: "That is not an http or https URL."
        ) { $0.hasPrefix("https://") || $0.hasPrefix("http://") ? $0 : nil }
    }

    /// Asks who is signed in: a DID, or the file with the private key of one.
    func askIdentity() throws(CommandError) -> (did: DID?, key: String?) {
        try answer(
            "DID, or the file with its private key",
            option: "--did or --key-file",
            wrong: "That is neither a DID, such as did:ethr:0x…, nor a file."
        ) { text in
            if text.hasPrefix("did:") { return DID(text).map { ($0, nil) } }
            let path = text.hasPrefix("~/") ? home + text.dropFirst() : text
            return exists(path) ? (nil, path) : nil
        }
    }

    func askStars() throws(CommandError) -> [String] {
        try answer(
            "Starred plans, with spaces between (empty: none)",
            standard: "",
            option: "--star",
            wrong: ""
        ) { $0.split { $0 == " " || $0 == "," }.map(String.init) }
    }

    func askSink() throws(CommandError) -> SetupSink {
        try answer(
            "Sink: \(SetupSink.forms)",
            standard: "log",
            option: "--sink",
            wrong: "A sink is \(SetupSink.forms)."
        ) { SetupSink($0) }
    }

    func askSinkSecret(of sink: SetupSink) throws(CommandError) -> String? {
        guard let secret = sink.secret else { return nil }
        return try answer(
            "File with the sink's \(secret.setting) (empty: none)",
            standard: "",
            option: "--sink-secret-file",
            wrong: ""
        ) { .some($0.isEmpty ? nil : $0) }
    }
}
