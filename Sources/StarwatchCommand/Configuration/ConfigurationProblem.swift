/// One thing that is wrong with a configuration file.
struct ConfigurationProblem: Error, Sendable, Hashable {
    /// Counted from 1; `nil` when it concerns the file as a whole.
    var line: Int?
    /// The setting, as `polls.starred_projects.schedule`; empty when it concerns the file as a whole.
    var path: String
    /// One sentence that says what to do. Names no secret and no DID.
    var message: String

    /// `FILE:LINE: PATH: MESSAGE`, the form that editors and people can follow.
    func description(file: String) -> String {
        var text = file
        if let line { text += ":\(line)" }
        if !path.isEmpty { text += ": \(path)" }
        return text + ": " + message
    }
}
