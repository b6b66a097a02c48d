import Foundation
import Starwatch
import StarwatchCore

/// The words for the sink of a new configuration, and its settings.
extension SetupSink {
    private static let all = SinkFactory.kinds.flatMap { $0.setups }.sorted { $0.rank < $1.rank }

    /// The forms that ``init(_:relativeTo:)`` reads.
    static let forms = list(all.map(\.form))

    /// The forms where questions are answered.
    static let shortForms = list(all.map { $0.isAsked ? $0.name : $0.form })

    private static func list(_ forms: [String]) -> String {
        forms.dropLast().joined(separator: ", ") + " or " + (forms.last ?? "")
    }

    /// The sink of a text that only names it; `nil` for any other text, and if nothing is asked for its parts.
    static func named(_ text: String) -> SetupSink? { all.first { $0.name == text && $0.isAsked } }

    /// Whether questions are asked for its parts.
    private var isAsked: Bool { parts.contains { $0.question != nil } }

    /// The form that needs no question.
    var form: String {
        ([name] + (parts.isEmpty ? [] : [parts.map(\.form).joined(separator: "/")])).joined(separator: ":")
    }

    /// The sink with the answers to the questions for its parts.
    func with(_ answers: [String]) -> SetupSink {
        var sink = self
        sink.target = answers.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        return sink
    }

    /// `nil` for any other text.
    ///
    /// - Parameter folder: The folder where relative paths start; `nil` for the current one.
    init?(_ text: String, relativeTo folder: String? = nil) {
        let words = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard var sink = Self.all.first(where: { $0.name == words[0] }) else { return nil }
        let target = words.count == 2 ? words[1] : ""
        switch sink.parts.count {
        case 0: guard target.isEmpty else { return nil }
        case 1:
            guard !target.isEmpty else { return nil }
            sink.target = [target]
        default:
            // The URL before the last slash, and what follows it.
            guard let slash = target.lastIndex(of: "/"), target[..<slash].contains("://"),
                !target[..<slash].hasSuffix("/"), target.index(after: slash) < target.endIndex
            else { return nil }
            sink.target = [String(target[..<slash]), String(target[target.index(after: slash)...])]
        }
        if sink.setting(of: sink.parts.first)?.form.use == .output {
            let base = folder.map { URL(fileURLWithPath: $0, isDirectory: true) }
            sink.target = [URL(fileURLWithPath: target, relativeTo: base).standardizedFileURL.path]
        }
        self = sink
    }

    private func setting(of part: Part?) -> SinkSetting? { part.flatMap { kind.type.setting($0.keys[0]) } }

    /// The text that ``init(_:relativeTo:)`` reads; the name alone if a part is a secret, for which `init` asks.
    var text: String {
        if parts.isEmpty || parts.contains(where: \.isSecret) { return name }
        return "\(name):" + target.joined(separator: "/")
    }

    /// The problem of the sink, as a sentence; `nil` if it can be tried.
    var problem: String? {
        let sink = SinkOptions(name: name, kind: kind)
        for (part, text) in zip(parts, target) {
            guard let setting = setting(of: part) else { continue }
            let place = part.isSecret ? SinkAddress.Part.url : setting.part
            let problem = setting.problem(ofTyped: text) ?? place.flatMap { kind.type.problem(of: $0, text, in: sink) }
            if let problem { return "\(part.subject) \(problem)" }
        }
        return nil
    }

    /// The settings beside name and kind.
    var settings: [(key: String, value: String)] {
        var settings: [(key: String, value: String)] = []
        if let format = kind["format"]?.text { settings.append(("format", format)) }
        for (part, text) in zip(parts, target) {
            let value = ConfigurationPrinter.scalar(part.isSecret ? "\(name).url" : text)
            let isProgram = setting(of: part)?.form.use == .program
            for key in part.keys { settings.append((key, isProgram ? ConfigurationPrinter.list([text]) : value)) }
        }
        return settings
    }

    /// The files of the parts that are secrets.
    var secretFiles: [(name: String, content: String)] {
        zip(parts, target).filter { $0.0.isSecret }.map { ("\(name).url", $1 + "\n") }
    }

    /// The setting of the user whose secret it is; `nil` for a secret without a user.
    var user: (key: String, value: String)? {
        guard let key = secret?.user, let address = target.last else { return nil }
        return (key, ConfigurationPrinter.scalar((try? MailAddress(parsing: address))?.mailbox ?? address))
    }
}
