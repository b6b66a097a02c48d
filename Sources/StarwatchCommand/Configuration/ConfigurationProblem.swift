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
