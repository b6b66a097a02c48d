import Foundation
import StarwatchCore
import Testing

@Suite struct TextTemplateTests {
    private let content = DigestContent(
        json: Array(
            #"{"count":3,"name":"Ada","ok":true,"share":0.5,"none":null,"a.b":"dotted","items":[{"title":"One"}]}"#.utf8
        )
    )

    @Test(arguments: [
        ("{{count}} for {{ name }}", "3 for Ada"), ("{{ok}}, {{share}}, [{{none}}]", "true, 0.5, []"),
        ("{{items.0.title}} {{a.b}}", "One dotted"), ("no variable", "no variable"), ("", ""),
        ("{{count", "{{count"), ("}} {{count}}", "}} 3"), ("{{name}}{{name}}", "AdaAda"),
    ])
    func aTemplateIsFilledFromTheContent(template: String, text: String) {
        let rendering = TextTemplate(template).render(content)
        #expect(rendering.text == text && rendering.unknown.isEmpty)
    }

    @Test(arguments: ["{{missing}}", "{{items}}", "{{items.1.title}}", "{{name.x}}", "{{}}", "{{ Missing }}"])
    func anUnknownVariableStaysVisible(template: String) {
        let rendering = TextTemplate("a \(template) b").render(content)
        #expect(rendering.text == "a \(template) b")
        #expect(rendering.unknown.count == 1)
        #expect(TextTemplate("{{name}}").render(nil).text == "{{name}}")
    }

    @Test func valuesAreNotTemplates() {
        let content = DigestContent(json: Array(#"{"a":"{{b}}","b":"secret"}"#.utf8))
        #expect(TextTemplate("{{a}}").render(content).text == "{{b}}")
    }

    @Test(arguments: ["", "[]", "3", "{", "null", #"{"a":1}x"#])
    func contentMustBeAnObject(json: String) {
        #expect(DigestContent(json: Array(json.utf8)) == nil)
    }

    @Test func deeplyNestedContentIsRejected() {
        let allowed = String(repeating: #"{"a":"#, count: 400) + "1" + String(repeating: "}", count: 400)
        #expect(DigestContent(json: Array(allowed.utf8)) != nil)
        let deep = String(repeating: #"{"a":"#, count: 20_000)
        #expect(DigestContent(json: Array(deep.utf8)) == nil)
        let whole = deep + "1" + String(repeating: "}", count: 20_000)
        #expect(DigestContent(json: Array(whole.utf8)) == nil)
    }

    @Test func mutatedContentNeverTraps() {
        let seed = Array(#"{"a":[1,2.5,{"b":"\u00e9\ud83d"}],"c":null,"d":true,"e":-1e400}"#.utf8)
        var random = SplitMix64(seed: 7)
        for _ in 0..<3000 {
            var bytes = seed
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                bytes[Int.random(in: bytes.indices, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            let text = String(decoding: bytes, as: UTF8.self)
            let rendering = TextTemplate("{{a.2.b}} {{c}} {{" + text + "}}").render(DigestContent(json: bytes))
            #expect(rendering.unknown.count <= 3 + text.count)
        }
    }

    @Test func onlyCachedContentMentionsItsTime() throws {
        let wording = DigestWording(title: "T", body: "{{count}} new", fallbackTitle: "F", fallbackBody: "Open it")
        let time = try at("2026-03-29T05:55:00Z")
        let zone = FixedZone(identifier: "X", offsetSeconds: 7200)
        #expect(wording.render(.fresh(time), content, in: zone).body == "3 new")
        #expect(wording.render(.cached(time), content, in: zone).body == "3 new (as of 2026-03-29 07:55)")
        #expect(wording.render(.fallback, content, in: zone).body == "Open it")
        var other = wording
        other.fallbackBody = "Open"
        #expect(other.fingerprint != wording.fingerprint)
    }

    @Test func messagesAreBoundedWithoutControlCharacters() throws {
        let time = try at("2026-01-01T08:00:00Z")
        let occurrence = DigestOccurrence(digest: DigestName("daily_news")!, slot: "s", fireAt: time)
        let message = DigestMessage(
            id: "ntf_1",
            runID: "run_1",
            occurrence: occurrence,
            text: .fallback,
            title: "a\nb\u{1B}[31m" + String(repeating: "x", count: 500),
            body: "a\nb\u{7}",
            locale: "en"
        )
        #expect(message.title.count == 200)
        #expect(message.title.hasPrefix("a b [31m"))
        #expect(message.body == "a\nb ")
        #expect(message.collapseKey == "daily-news")
        // The app knows the route, and the notification offers an action.
        #expect(try DeepLink(parsing: message.deepLink) == .notifications)
        #expect(message.actions.map { NotificationAction(rawValue: $0) } == [.dismiss])
        let json = String(decoding: message.json(), as: UTF8.self)
        #expect(json.contains(#""kind":"digest""#) && !json.contains("content_at"))
        // Receivers of poll notifications, such as the feed, can decode it too.
        let read = try JSONDecoder().decode(NotificationMessage.self, from: Data(message.json()))
        #expect(read.id == "ntf_1" && read.poll == "daily_news" && read.changes.isEmpty && read.count == 1)
    }

    @Test(arguments: ["8:00", "24:00", "08:60", "0800", "08:0", "", "aa:bb", "08:00 "])
    func invalidTimesOfDayAreRejected(text: String) {
        #expect(DayTime(text) == nil)
        #expect(DayTime("08:05")?.slot == "slot-08-05")
    }
}
