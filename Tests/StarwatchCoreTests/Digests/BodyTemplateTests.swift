import Foundation
import Testing

@testable import StarwatchCore

/// A webhook's body in the user's own form.
@Suite struct BodyTemplateTests {
    private static let names = [
        "plain", #"a "quoted" \ name"#, "line\nbreak\u{0}\u{1b}\t", "🌻👩‍👩‍👧 é e\u{301}", "{{title}} {{ {{changes}} }}",
        #"","x":"y"#,
        "\u{2028}\u{202e}</script>", "",
    ]

    private func template(_ text: String) throws -> BodyTemplate { try BodyTemplate(json: Array(text.utf8)) }

    private func json(_ fields: [String: Any]) throws -> [UInt8] {
        Array(try JSONSerialization.data(withJSONObject: fields))
    }

    private func render(_ text: String, _ fields: [String: Any]) throws -> String {
        String(decoding: try template(text).render(try json(fields)), as: UTF8.self)
    }

    @Test(arguments: names) func aValueStaysInItsTextWhateverIsInIt(_ name: String) throws {
        let text = #"{"alone": "{{title}}", "within": ["<{{ title }}|{{title}}>"], "\u007b{title}}": 1}"#
        let escaped = #"{"alone": "{{title}}", "within": ["<{{ title }}|\u007b{title}}>"], "other": 1}"#
        #expect(throws: BodyTemplate.Mistake.self) { try template(text) }
        let body = try template(escaped).render(try json(["title": name, "changes": ["c"]]))
        let read = try #require(try JSONSerialization.jsonObject(with: Data(body)) as? [String: Any])
        #expect(read.count == 3)
        #expect((read["alone"] as? String)?.utf8.elementsEqual(name.utf8) == true)
        #expect((read["within"] as? [String])?.first?.utf8.elementsEqual("<\(name)|\(name)>".utf8) == true)
        #expect(read["other"] as? Int == 1)
    }

    /// A text with one field alone has its type; in a longer text it is a text.
    @Test(arguments: [
        (#""{{count}}""#, "3"), (#"" {{count}}""#, #"" 3""#), (#""{{ title }}""#, #""A""#), (#""{{canary}}""#, "true"),
        (#""{{part}}""#, "null"), (#""[{{part}}]""#, #""[]""#), (#""{{actions}}""#, #"["dismiss"]"#),
        (#""a {{actions}}""#, #""a [\"dismiss\"]""#), (#""{{changes.0.name}}""#, #""N""#),
        (#""{{changes.1.values.author}}: {{changes.1.link}}""#, #""A: https://a.test/""#),
        (#""{{changes.0}}""#, #"{"name":"N"}"#), (#""{{changes.1.name}}""#, "null"),
        (#""{{action_labels.dismiss}}!""#, #""Weg!""#), (#""} }} {""#, #""} }} {""#),
    ])
    func aFieldHasItsValue(_ text: String, _ body: String) throws {
        let fields: [String: Any] = [
            "count": 3, "title": "A", "canary": true, "actions": ["dismiss"],
            "changes": [["name": "N"], ["link": "https://a.test/", "values": ["author": "A"]] as [String: Any]],
            "action_labels": ["dismiss": "Weg"],
        ]
        #expect(try render(text, fields) == body)
    }

    /// Also the order, numbers of any length, and spaces.
    @Test func whatIsNoFieldIsSentAsItWasWritten() throws {
        let text =
            "{\r\n  \"z\" : 12345678901234567890123.00,\"a\":\"\\u00e9\\/\" , \"{\": [ ],\n\"t\":\"{{title}}\", \"z\": -0 }\n"
        #expect(try render(text, ["title": "x"]) == text.replacing("{{title}}", with: "x"))
    }

    @Test func theMarkOfAnEditorIsNotSent() throws {
        #expect(try render("\u{FEFF}{\"a\": \"{{title}}\"}", ["title": "x"]).utf8.elementsEqual("{\"a\": \"x\"}".utf8))
        let mistake = #expect(throws: BodyTemplate.Mistake.self) { try template("\u{FEFF}{\n1}") }
        #expect(mistake?.line == 2)
    }

    @Test func everyFieldOfANotificationAndOfADigestIsKnown() throws {
        let names = BodyTemplate.names
        #expect(names.count == 29 && names.contains("deep_link") && names.contains("fire_at"), "\(names)")
        for name in names { _ = try template("\"{{\(name)}}\"") }
        for action in NotificationAction.allCases { _ = try template("\"{{action_labels.\(action.rawValue)}}\"") }
        for part in [
            "jwt_id", "plan", "name", "changed_at", "fields", "edited", "fulfills_offer", "poll", "link", "values",
        ] {
            _ = try template("\"{{changes.99.\(part)}}\"")
        }
    }

    @Test(arguments: [
        ("{\n\"a\": 1,\n}", 3, "is not JSON"), ("{\"a\": 01}", 1, "is not JSON"),
        ("{\"a\": \"\\q\"}", 1, "is not JSON"),
        ("{\"a\": \"b\nc\"}", 1, "is not JSON"), ("{\"a\": 1\n\n", 1, "is not JSON"), ("[1 2]", 1, "is not JSON"),
        ("{\"a\": 1} x", 1, "is not JSON"), ("// none\n{}", 1, "is not JSON"), ("{'a': 1}", 1, "is not JSON"),
        ("[NaN]", 1, "is not JSON"), ("", 1, "is not JSON"), ("{\"a\" 1}", 1, "is not JSON"), ("[", 1, "is not JSON"),
        ("{\n\"a\": {{count}}}", 2, "has a field without quotes"), ("[\n\n{{count}}]", 3, "has a field without quotes"),
        ("{{title}}", 1, "has a field without quotes"),
        ("{\"a\": \"{{title\"}", 1, "has {{ without }}"), ("{\"a\": \"{{title}} {{\"}", 1, "has {{ without }}"),
        ("{\n\"{{title}}\": 1}", 2, "has a field in the name of a member"),
        ("{\n\n\"a\": \"{{titel}}\"}", 3, "has the unknown field {{titel}}"),
        ("[\"{{title}}\",\n\"{{ .title }}\"]", 2, "has the unknown field {{.title}}"),
        ("[\"{{title | upper}}\"]", 1, "has the unknown field {{title | upper}}"),
        ("[\"{{}}\"]", 1, "has the unknown field {{}}"), ("[\"{{{title}}}\"]", 1, "has the unknown field {{{title}}"),
        ("[\"{{changes.100}}\"]", 1, "has the unknown field"), ("[\"{{changes.00}}\"]", 1, "has the unknown field"),
        ("[\"{{changes.0.x}}\"]", 1, "has the unknown field"),
        ("[\"{{changes.0.name.x}}\"]", 1, "has the unknown field"),
        ("[\"{{changes.0.values.}}\"]", 1, "has the unknown field"),
        ("[\"{{action_labels.x}}\"]", 1, "has the unknown field"), ("[\"{{count.0}}\"]", 1, "has the unknown field"),
        ("[\"{{a very long secret that somebody put between braces}}\"]", 1, "has the unknown field in {{ }}"),
        ("[\"{{\\u001b[2J}}\"]", 1, "has the unknown field in {{ }}"),
    ])
    func aMistakeHasItsLine(_ text: String, _ line: Int, _ says: String) throws {
        let mistake = #expect(throws: BodyTemplate.Mistake.self) { try template(text) }
        #expect(mistake?.line == line)
        #expect(mistake?.message.hasPrefix(says) == true, "\(mistake?.message ?? "")")
        #expect(mistake?.message.hasSuffix(".") == true)
    }

    @Test func itsSizeIsLimited() throws {
        let largest = "\"" + String(repeating: "x", count: BodyTemplate.largestBytes - 2) + "\""
        #expect(try render(largest, [:]) == largest)
        #expect(throws: BodyTemplate.Mistake(message: "is larger than 64KiB; shorten it.")) {
            try template(largest + " ")
        }
        let many = Array(repeating: "\"{{title}}\"", count: BodyTemplate.mostFields)
        _ = try template("[\(many.joined(separator: ","))]")
        let mistake = #expect(throws: BodyTemplate.Mistake.self) {
            try template("[\((many + many.prefix(1)).joined(separator: ","))]")
        }
        #expect(mistake?.message == "has 101 fields; use at most 100.")
        let deep = String(repeating: "[", count: 65) + String(repeating: "]", count: 65)
        #expect(try render(String(deep.dropFirst().dropLast()), [:]).count == 128)
        #expect(throws: BodyTemplate.Mistake.self) { try template(deep) }
    }

    @Test func aTemplateOfAnyBytesIsReadOrRefused() throws {
        let seed = Array(#"{"a":[1,2.5e3,{"b":"\u00e9\ud83d{{title}}"}],"c":null,"d":"{{changes}} x"}"#.utf8)
        let payload = try json(["title": "\"", "changes": [["name": "\\"]]])
        var random = SplitMix64(seed: 7)
        var count = 0
        for _ in 0..<3000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 0...3, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 32...126, using: &random)
            }
            guard let template = try? BodyTemplate(json: bytes) else { continue }
            count += 1
            #expect(JSONText.isValid(template.render(payload)), "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(count > 500)
    }
}
