import Foundation
import Starwatch
import StarwatchCore

/// The file of a webhook's template.
enum BodyFile {
    /// A file that no other user can read: a template often has the key of a service.
    static var rule: Rule<SinkValue> {
        Rule<String>.secretFile(.text).map(to: { ConfigurationPrinter.scalar($0.path ?? "") }) { path, field in
            guard field.journal.files.loader.checksSecrets else { return .body(nil, file: path) }
            guard let content = FileManager.default.contents(atPath: path) else {
                return field.reject("\(path) cannot be read by this user; \(FileResolver.readAdvice).")
            }
            do throws(BodyTemplate.Mistake) {
                return .body(try BodyTemplate(json: Array(content)), file: path)
            } catch {
                report(error.sentence(near: BodyTemplate.names), line: error.line, of: path, field)
                return nil
            }
        }
    }

    /// Reports a field that the sink does not get.
    static func check(_ sink: SinkOptions, at field: SettingsField) {
        guard sink["include_account"] != true, let body = sink["body_file"], let path = body.path,
            let line = body.body?.lines[BodyTemplate.accountDID]
        else { return }
        report(
            "has {{\(BodyTemplate.accountDID)}}, which needs include_account: true; add that to the sink.",
            line: line,
            of: path,
            field
        )
    }

    private static func report(_ message: String, line: Int?, of path: String, _ field: SettingsField) {
        field.journal.report(ConfigurationProblem(line: line, path: "", message: message), of: path, at: field.line)
    }
}

extension BodyTemplate.Mistake {
    /// The sentence, with the name that an unknown field probably means.
    fileprivate func sentence(near names: [String]) -> String {
        guard let unknownField, let name = Suggestion.nearest(to: unknownField, among: names) else { return message }
        return "has the unknown field {{\(unknownField)}}; did you mean {{\(name)}}?"
    }
}
