import Foundation
import Testing

@testable import StarwatchCore

@Suite struct MessageCatalogueTests {
    private static let locales = ["en", "ja", "pl"]

    private func messages(_ locale: String) throws -> Messages {
        MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
    }

    @Test func theProgramHasItsLocales() {
        #expect(MessageCatalogues.builtIn.catalogues.keys.map(\.description).sorted() == Self.locales)
    }

    @Test(arguments: locales)
    func everyLocaleHasAllMessagesAndPlurals(_ locale: String) throws {
        let tag = try #require(LocaleTag(locale))
        let catalogue = try #require(MessageCatalogues.builtIn.catalogues[tag])
        let rules = try #require(PluralRules(tag))
        let needed = Set(((0...200) + [1_000_000]).map { rules.category(of: $0) })
        #expect(Set(catalogue.patterns.keys) == Set(MessageCatalogue.variables.keys))
        for (key, variables) in MessageCatalogue.variables {
            let pattern = try #require(catalogue.patterns[key])
            var plurals: [Set<PluralCategory>] = []
            MessagePattern.collect(pattern.parts) { part in
                guard case .choice(let choice) = part, choice.isPlural else { return }
                plurals.append(Set(choice.branches.keys.compactMap(PluralCategory.init(rawValue:))))
            }
            for categories in plurals {
                #expect(categories.isSuperset(of: needed), "\(key) lacks a category")
            }
            let used = Set(pattern.uses.keys.compactMap(MessageVariable.init))
            let isCounted = !variables.isDisjoint(with: [.count, .hours])
            #expect(used == variables, "\(key) leaves a variable out")
            #expect(plurals.isEmpty == !isCounted, "\(key) says a number without its plural")
        }
    }

    /// The English catalogue has the texts of the requirements as the form `other`.
    @Test(arguments: [
        (PollText.singleTitle, "Project Update"), (.multipleTitle, "Project Updates"),
        (.single, "{projectName} has been updated"), (.multiple, "You have 7 new updates in your starred projects"),
    ])
    func englishMatchesTheRequirementsWordForWord(_ text: PollText, _ expected: String) throws {
        #expect(try messages("en").text(text, of: .starredProjects, [.count: .number(7)]) == expected)
    }

    @Test(arguments: [
        (MessageKey.actionViewUpdates, "View Updates"), (.actionDismiss, "Dismiss"),
        (.staleTitle, "Data may be outdated"),
        (.staleMessage, "Last updated 7 hours ago. Tap to refresh."), (.staleRefresh, "Refresh Now"),
        (.staleSettings, "Settings"), (.staleDismiss, "Dismiss"), (.featureTitle, "New Feature: Starred Projects"),
        (.featureBody, "You can now get notifications for projects you star. Tap to learn more."),
    ])
    func englishMatchesTheRequirementsWordForWord(_ key: MessageKey, _ text: String) throws {
        #expect(try messages("en").text(key, [.count: .number(7), .hours: .number(7)]) == text)
    }

    @Test(arguments: [
        ("en", ["en"]), ("pl-PL", ["pl-PL"]), ("pl_PL", ["pl_PL"]), ("PL", ["PL"]), ("xx", ["en"]), ("zh-Hant", ["en"]),
    ])
    func unknownLocalesFallBackToEnglish(_ asked: String, _ said: [String]) throws {
        #expect(try messages(asked).locale.description == said[0])
    }

    @Test func longTagsFallBackToTheirLanguage() throws {
        #expect(try messages("pl-PL").text(.actionDismiss) == "Odrzuć")
        #expect(try messages("xx").text(.actionDismiss) == "Dismiss")
    }

    @Test func aFileOverridesOnlyItsMessages() throws {
        let polish = try MessageCatalogue(
            #require(LocaleTag("pl")),
            json: #"{"notifications.starred_projects.action_dismiss": "Precz"}"#.utf8
        )
        let german = try MessageCatalogue(
            #require(LocaleTag("de")),
            json: #"""
                {"notifications.starred_projects.multiple_updates":
                    "{count, plural, one {# Neuigkeit} other {# Neuigkeiten}}"}
                """#.utf8
        )
        let all = MessageCatalogues.builtIn.adding([polish, german])
        let polishMessages = all.messages(for: try #require(LocaleTag("pl-PL")))
        #expect(polishMessages.text(.actionDismiss) == "Precz")
        #expect(polishMessages.text(.actionMarkRead) == "Oznacz jako przeczytane")
        let germanMessages = all.messages(for: try #require(LocaleTag("de-CH")))
        #expect(germanMessages.text(.multiple, of: .starredProjects, [.count: .number(1)]) == "1 Neuigkeit")
        #expect(germanMessages.text(.actionDismiss) == "Dismiss")
        // The plural rules belong to the messages' language, not to the requested locale.
        #expect(germanMessages.text(.multiple, of: .offersToMe, [.count: .number(1)]) == "You have 1 new offer")
    }

    @Test(arguments: [
        (#"{"x": "y"}"#, "there is no message x"),
        (#"{"staleness.banner.title": "{"}"#, "staleness.banner.title: expected a variable (character 2)"),
        (
            #"{"notifications.starred_projects.single_update": "{name}"}"#,
            "notifications.starred_projects.single_update: there is no variable name; use projectName"
        ),
        (#"{"staleness.banner.title": "{count}"}"#, "staleness.banner.title: there is no variable count; it has none"),
        (
            #"{"staleness.banner.message": "{hours, select, other {x}}"}"#,
            "staleness.banner.message: hours is a number for plural, or a text for select, not both"
        ),
        ("[]", "must be a JSON object of texts"), (#"{"staleness.banner.title": 1}"#, "must be a JSON object of texts"),
    ])
    func catalogueErrorsHaveAReasonAndAPosition(_ json: String, _ problem: String) throws {
        let tag = try #require(LocaleTag("en"))
        let error = #expect(throws: MessageCatalogue.Failure.self) { try MessageCatalogue(tag, json: json.utf8) }
        #expect(error?.description == problem)
    }

    /// Services refuse a notification without a text.
    @Test(arguments: [
        ("", true), (" \n", true), ("x", false), ("{count}", false),
        ("{count, plural, one {} other {# new}}", true), ("{count, plural, =0 { } other {#}}", true),
        ("{count, plural, one {} other {s}} new", false), ("{count, plural, one {#} other {#}}", false),
    ])
    func aTextThatCanBeEmptyIsRejected(_ text: String, _ isRejected: Bool) throws {
        let (tag, key) = (try #require(LocaleTag("en")), PollText.multiple.key(of: .starredProjects))
        let json = try JSONEncoder().encode([key: text])
        do throws(MessageCatalogue.Failure) {
            _ = try MessageCatalogue(tag, json: json)
            #expect(!isRejected)
        } catch {
            #expect(isRejected && error == .empty(key: key), "\(error)")
            #expect(error.description.hasPrefix(key + ": the text, or a branch that is all of it, is empty"))
        }
    }

    @Test func languagesWithoutPluralRulesAreRejected() throws {
        let tag = try #require(LocaleTag("tlh"))
        #expect(throws: MessageCatalogue.Failure.unknownLanguage) { try MessageCatalogue(tag, json: "{}".utf8) }
    }

    @Test(arguments: ["", "e", "en-", "-en", "1n", "en GB", "abcdefghi", "en-abcdefghi", "é"])
    func invalidLanguageTagsAreRejected(_ text: String) {
        #expect(LocaleTag(text) == nil)
    }

    @Test func tagsIgnoreCaseAndHaveFallbacks() throws {
        let tag = try #require(LocaleTag("zh-Hant_TW"))
        #expect(tag == LocaleTag("ZH_HANT-tw"))
        #expect(tag.chain.map(\.description) == ["zh-hant-tw", "zh-hant", "zh"])
    }
}
