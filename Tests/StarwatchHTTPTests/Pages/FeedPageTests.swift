import StarwatchCore
import Testing

@testable import Starwatch
@testable import StarwatchHTTP

@Suite struct FeedPageTests {
    private func page(_ entries: [FeedEntry]?) -> String {
        FeedPage(entries: entries, times: PageTimes(now: "1970-01-01T01:00:00.000Z")).frame
            .html(nonce: "n", canControl: true).text
    }

    @Test func namesOfStrangersAreTextAndNotMarkup() {
        let text = page([Sample.notification(1), Sample.notification(2, name: "\"><script>alert(1)</script>")])
        #expect(!text.contains("<Cleanup>"))
        #expect(text.contains("Creek &lt;Cleanup&gt; has been updated"))
        #expect(!text.contains("<script>"))
    }

    @Test func namesDoNotTurnTheTextAroundThem() {
        for count in [1, 2] as [Int64] {
            let text = page([Sample.notification(count, name: "\u{202E}גן")])
            #expect(text.contains(count == 1 ? "\u{2068}גן\u{2069} has been updated" : "<li>\u{2068}גן\u{2069}</li>"))
            #expect(!text.unicodeScalars.contains("\u{202E}"))
        }
    }

    /// Balanced, so the isolated name keeps them, and still reorders what a person reads of it.
    @Test func overridesInNamesAreVisible() {
        for count in [1, 2] as [Int64] {
            let text = page([Sample.notification(count, name: "\u{202E}gpj.live\u{202C}")])
            #expect(text.contains("[U+202E]gpj.live[U+202C]"))
            #expect(!text.unicodeScalars.contains { ("\u{202A}"..."\u{202E}").contains($0) })
        }
    }

    @Test func oneChangeIsInItsBodyAndManyAreAllListed() {
        let one = page([Sample.notification(1)])
        #expect(!one.contains("<ul>"))
        #expect(one.contains("<a href=\"timesafari://projects/p%2F1/details?jwtId="))
        let many = page([Sample.notification(2)])
        #expect(many.split(separator: "<li>Creek &lt;Cleanup&gt;</li>", omittingEmptySubsequences: false).count == 8)
    }

    @Test func aProjectThatABrowserOpensIsALink() {
        let plan = "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"
        let many = page([Sample.notification(2, isEdited: true)])
        #expect(many.contains("<li><a href=\"\(plan)\">Creek &lt;Cleanup&gt;</a> <small>Edited</small></li>"))
        #expect(page([Sample.notification(1, isEdited: true)]).contains("<a href=\"\(plan)\">Open</a>"))
    }

    @Test func theWordsBesideANotificationAreThoseOfItsCatalogue() throws {
        let words = #"{"notifications.unnamed_project": "Nameless"}"#
        let english = try MessageCatalogue(.english, json: words.utf8)
        let page = FeedPage(
            entries: [Sample.notification(2, name: nil)],
            times: PageTimes(now: Sample.time),
            catalogues: MessageCatalogues.builtIn.adding([english])
        )
        let text = page.frame.html(nonce: "n", canControl: true).text
        #expect(text.contains("<article lang=\"en\">") && text.contains("<li>Nameless</li>"))
    }

    @Test func aCardSaysWhichFieldsChanged() {
        let change = FieldChange(before: "a", after: "b")
        let fields = ["end_time": change, "description": change]
        #expect(
            page([Sample.notification(1, fields: fields)]).contains(
                "<p><small>Changed: description, end time</small></p>"
            )
        )
        #expect(
            page([Sample.notification(2, fields: fields)]).contains(
                " <small>Changed: description, end time</small></li>"
            )
        )
        #expect(page([Sample.notification(1, fields: [:])]).contains("Edited; no compared field changed"))
        #expect(!page([Sample.notification(1)]).contains("Changed:"))
        #expect(page([Sample.notification(1, isEdited: true)]).contains("<p><small>Edited</small></p>"))
    }

    @Test func itGoesOnFromTheNewest() {
        #expect(page([Sample.notification(9), Sample.notification(4)]).contains("data-latest=\"9\""))
        #expect(page([]).contains("data-latest=\"0\""))
        #expect(page([]).contains("None yet."))
    }

    @Test func withoutScriptsItAsksForItselfAgain() {
        #expect(page([]).contains("<noscript><meta http-equiv=\"refresh\" content=\"30\"></noscript>"))
    }

    @Test func withoutAFeedItSaysHowToHaveOne() {
        let text = page(nil)
        #expect(text.contains("kind: feed"))
        #expect(!text.contains("data-latest"))
        #expect(!text.contains("new EventSource"))
    }
}
