import Foundation
import Starwatch
import StarwatchCore

/// The list that a new configuration watches.
struct SetupList: Sendable, Hashable {
    /// The URL, with its query.
    let url: String
    /// The operator's file with headers; `nil` for none.
    let headersFile: String?
    /// The places, as its first answer suggests them, or as the operator corrected them.
    var places: ListGuess
    /// The name of the poll.
    var name: String
    var schedule = "*/15 * * * *"

    init(url: String, headersFile: String?, places: ListGuess) {
        (self.url, self.headersFile, self.places) = (url, headersFile, places)
        name = Self.name(for: url)
    }

    /// The name of the file's copy beside the configuration.
    var headersName: String { "\(name).headers" }

    /// A name after the last word of the path, such as `releases`.
    static func name(for url: String) -> String {
        let path = URLComponents(string: url)?.path ?? ""
        let words = path.lowercased().split(separator: "/").map { word in
            String(word.prefix { $0 != "." }.map { $0.isASCII && ($0.isLetter || $0.isNumber) ? $0 : "_" })
        }
        return words.last { problem(ofName: $0) == nil } ?? "list"
    }

    /// Returns what is wrong with the name of a list, as the end of a sentence, or `nil`.
    static func problem(ofName text: String) -> String? {
        if ["run", "try"].contains(text) { return "must not be a command of starwatch poll." }
        return ValueRules.name(text)
    }

    /// The places in one line, in the order of ``read(_:)``; `-` for none.
    var line: String {
        let pointers = [places.id, places.version, places.name, places.link].map { $0?.rawValue ?? "-" }
        return ([places.items.rawValue.isEmpty ? "-" : places.items.rawValue] + pointers).joined(separator: " ")
    }

    /// Returns the list with the places of a line; `nil` for a line of another form, or without the place of the id.
    func read(_ line: String) -> SetupList? {
        let words = line.split(separator: " ").map(String.init)
        guard words.count == 5, words[1] != "-" else { return nil }
        let pointers = words.map { $0 == "-" ? nil : JSONPointer($0) }
        guard zip(words, pointers).allSatisfy({ $0 == "-" || $1 != nil }) else { return nil }
        var list = self
        list.places.items = pointers[0] ?? .whole
        (list.places.id, list.places.version) = (pointers[1], pointers[2])
        (list.places.name, list.places.link) = (pointers[3], pointers[4])
        return list
    }

    /// The lines of the poll in the configuration.
    var lines: [String] {
        let scalar = ConfigurationPrinter.scalar
        var parts = URLComponents(string: url)
        let query = parts?.queryItems ?? []
        parts?.query = nil
        var lines = ["kind: json", "url: \(scalar(parts?.string ?? url))"]
        if !query.isEmpty {
            lines.append("query:")
            lines += query.map { "  \(scalar($0.name)): \(scalar($0.value ?? ""))" }
        }
        if headersFile != nil { lines.append("headers_file: \(headersName)") }
        if !places.items.rawValue.isEmpty { lines.append("items: \(scalar(places.items.rawValue))") }
        let settings = [("id", places.id), ("version", places.version), ("name", places.name), ("link", places.link)]
        lines += settings.compactMap { key, place in place.map { "\(key): \(scalar($0.rawValue))" } }
        if places.order != .none { lines.append("order: \(places.order.rawValue)") }
        switch places.next {
        case .linkHeader: lines.append("next: {link_header: true}")
        case .url(let place): lines.append("next: {pointer: \(scalar(place.rawValue))}")
        case .cursor(let place, let parameter):
            lines.append("next: {pointer: \(scalar(place.rawValue)), parameter: \(scalar(parameter))}")
        case .number(let parameter, let first): lines.append("next: {page: \(scalar(parameter)), first: \(first)}")
        case nil: break
        }
        return lines + ["schedule: \"\(schedule)\""]
    }
}

/// The questions about a list.
extension SetupQuestions {
    /// Asks for the name, the places and the schedule.
    func askList(_ guessed: SetupList) throws(CommandError) -> SetupList {
        var list = guessed
        list.name = try answer(
            "Name of the poll",
            standard: list.name,
            option: "a terminal",
            wrong: { "The name \(SetupList.problem(ofName: $0) ?? "is not usable.")" },
            { SetupList.problem(ofName: $0) == nil ? $0 : nil }
        )
        list = try answer(
            "Places of the list, and in an item of its id, version, name and link (-: none)",
            standard: list.line,
            option: "a terminal",
            wrong: { _ in
                "Answer five JSON pointers such as /data /id /updated_at /title /html_url, with - for none but the id."
            },
            list.read
        )
        list.schedule = try answer(
            "Schedule, as five cron fields in UTC",
            standard: list.schedule,
            option: "a terminal",
            wrong: { "schedule: \(ValueRules.schedule($0) ?? "is not usable.")" },
            { ValueRules.schedule($0) == nil ? $0 : nil }
        )
        return list
    }
}
