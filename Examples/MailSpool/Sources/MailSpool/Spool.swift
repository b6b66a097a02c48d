import Foundation

/// A folder from which a mail server takes messages.
struct Spool: Sendable {
    let folder: URL

    /// Puts a message into the folder. A message with the same id is the same message, so it is written once.
    ///
    /// - Returns: `false` for a subject that would be more than one header.
    func put(subject: String, text: String, id: String) throws -> Bool {
        guard !subject.contains(where: \.isNewline) else { return false }
        let file = folder.appending(path: id + ".eml")
        guard !FileManager.default.fileExists(atPath: file.path) else { return true }
        let message = "Message-ID: <\(id)@mail-spool>\r\nSubject: \(subject)\r\n\r\n\(text)\r\n"
        try Data(message.utf8).write(to: file, options: .atomic)
        return true
    }
}
