import StarwatchCore
import Testing

/// The exact texts of notifications, for the numbers at which languages differ.
@Suite struct GoldenTextTests {
    private static let counts = [0, 1, 2, 5, 6, 21, 22, 25]

    private func texts(_ locale: String, _ key: MessageKey, _ variable: MessageVariable) throws -> [String] {
        let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
        return Self.counts.map { messages.text(key, [variable: .number($0)]) }
    }

    private func texts(_ locale: String, of kind: PollKind) throws -> [String] {
        let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
        return Self.counts.map { messages.text(.multiple, of: kind, [.count: .number($0)]) }
    }

    @Test func updatesInEnglish() throws {
        #expect(
            try texts("en", of: .starredProjects) == [
                "You have 0 new updates in your starred projects", "You have 1 new update in your starred projects",
                "You have 2 new updates in your starred projects", "You have 5 new updates in your starred projects",
                "You have 6 new updates in your starred projects", "You have 21 new updates in your starred projects",
                "You have 22 new updates in your starred projects", "You have 25 new updates in your starred projects",
            ]
        )
        #expect(
            try texts("en", of: .offersToMe).prefix(3) == [
                "You have 0 new offers", "You have 1 new offer", "You have 2 new offers",
            ]
        )
        #expect(
            try texts("en", of: .offersToMyProjects).prefix(3) == [
                "You have 0 new offers to your projects", "You have 1 new offer to your projects",
                "You have 2 new offers to your projects",
            ]
        )
        #expect(try texts("en", .staleMessage, .hours)[1] == "Last updated 1 hour ago. Tap to refresh.")
    }

    @Test func updatesInPolish() throws {
        let place = "w projektach oznaczonych gwiazdką"
        #expect(
            try texts("pl", of: .starredProjects) == [
                "Masz 0 nowych aktualizacji \(place)", "Masz 1 nową aktualizację \(place)",
                "Masz 2 nowe aktualizacje \(place)", "Masz 5 nowych aktualizacji \(place)",
                "Masz 6 nowych aktualizacji \(place)", "Masz 21 nowych aktualizacji \(place)",
                "Masz 22 nowe aktualizacje \(place)", "Masz 25 nowych aktualizacji \(place)",
            ]
        )
        #expect(
            try texts("pl", of: .offersToMe) == [
                "Masz 0 nowych ofert", "Masz 1 nową ofertę", "Masz 2 nowe oferty", "Masz 5 nowych ofert",
                "Masz 6 nowych ofert", "Masz 21 nowych ofert", "Masz 22 nowe oferty", "Masz 25 nowych ofert",
            ]
        )
        #expect(
            try texts("pl", .staleMessage, .hours).map { $0.split(separator: ".")[0] } == [
                "Ostatnia aktualizacja 0 godzin temu", "Ostatnia aktualizacja 1 godzinę temu",
                "Ostatnia aktualizacja 2 godziny temu", "Ostatnia aktualizacja 5 godzin temu",
                "Ostatnia aktualizacja 6 godzin temu", "Ostatnia aktualizacja 21 godzin temu",
                "Ostatnia aktualizacja 22 godziny temu", "Ostatnia aktualizacja 25 godzin temu",
            ]
        )
    }

    @Test func updatesInJapanese() throws {
        #expect(
            try texts("ja", of: .starredProjects)
                == Self.counts.map { "スター付きプロジェクトに\($0)件の新しい更新があります" }
        )
        #expect(try texts("ja", .staleMessage, .hours) == Self.counts.map { "最終更新は\($0)時間前です。タップして更新してください。" })
    }

    @Test func giftsAndOffersToStarredProjectsInEnglish() throws {
        let kinds: [(PollKind, [String])] = [
            (.givesToMe, ["You received 0 gifts", "You received 1 gift", "You received 2 gifts"]),
            (
                .givesToMyProjects,
                [
                    "Your projects received 0 gifts", "Your projects received 1 gift", "Your projects received 2 gifts",
                ]
            ),
            (
                .givesToStarred,
                [
                    "Your starred projects received 0 gifts", "Your starred projects received 1 gift",
                    "Your starred projects received 2 gifts",
                ]
            ),
            (
                .offersToStarred,
                [
                    "There are 0 new offers to your starred projects", "There is 1 new offer to your starred projects",
                    "There are 2 new offers to your starred projects",
                ]
            ),
        ]
        for (kind, expected) in kinds { #expect(try texts("en", of: kind).prefix(3) == expected[...]) }
    }

    @Test func giftsAndOffersToStarredProjectsInPolish() throws {
        let gifts = ["darów", "dar", "dary", "darów", "darów", "darów", "dary", "darów"]
        let forms = zip(Self.counts, gifts).map { count, gift in
            let new = gift == "dar" ? "nowy" : gift == "dary" ? "nowe" : "nowych"
            return "\(count) \(new) \(gift)"
        }
        #expect(try texts("pl", of: .givesToMe) == forms.map { "Masz \($0)" })
        #expect(try texts("pl", of: .givesToMyProjects) == forms.map { "Masz \($0) dla swoich projektów" })
        #expect(
            try texts("pl", of: .givesToStarred) == forms.map { "\($0) dla projektów oznaczonych gwiazdką" }
        )
        let offers = ["nowych ofert", "nowa oferta", "nowe oferty", "nowych ofert"]
        #expect(
            try texts("pl", of: .offersToStarred).prefix(4)
                == zip(Self.counts, offers).map { "\($0) \($1) dla projektów oznaczonych gwiazdką" }[...]
        )
    }

    @Test func giftsAndOffersToStarredProjectsInJapanese() throws {
        #expect(try texts("ja", of: .givesToMe) == Self.counts.map { "\($0)件のギフトが届きました" })
        #expect(
            try texts("ja", of: .givesToMyProjects)
                == Self.counts.map { "あなたのプロジェクトに\($0)件のギフトが届きました" }
        )
        #expect(
            try texts("ja", of: .givesToStarred)
                == Self.counts.map { "スター付きプロジェクトに\($0)件のギフトが届きました" }
        )
        #expect(
            try texts("ja", of: .offersToStarred)
                == Self.counts.map { "スター付きプロジェクトに\($0)件の新しいオファーがあります" }
        )
    }

    @Test(
        arguments: [
            (
                PollKind.givesToMe,
                ["New Gift", "You received a gift: Garden", "Gift Edited", "A gift to you was edited: Garden"]
            ),
            (
                .offersToStarred,
                ["New Offer", "Garden has a new offer", "Offer Edited", "An offer to Garden was edited"]
            ),
            (
                .offersToMyProjects,
                ["New Offer", "Garden has a new offer", "Offer Edited", "An offer to Garden was edited"]
            ),
            (
                .givesToMyProjects,
                ["New Gift", "Garden received a gift", "Gift Edited", "A gift to Garden was edited"]
            ),
            (
                .givesToStarred,
                ["New Gift", "Garden received a gift", "Gift Edited", "A gift to Garden was edited"]
            ),
        ] as [(PollKind, [String])]
    )
    func aSingleOneIsNamedAndAnEditionSaysSo(kind: PollKind, expected: [String]) throws {
        let id = JWTID.floor(.ulid, at: Timestamp(seconds: 1_767_225_600))
        let plan = "https://endorser.ch/entity/01JWMCKG0022HDXJ4G4Q61XV37"
        let texts = try [false, true].flatMap { isEdition in
            let message = NotificationMessage(
                id: "ntf_1",
                runID: "run_1",
                poll: try #require(PollName("poll")),
                kind: kind,
                changes: [Change(id: id, plan: plan, name: "Garden", isOffer: true, isEdition: isEdition)],
                context: NotificationContext(largestGroup: 5),
                createdAt: Timestamp(seconds: 1_767_225_600)
            )
            return [message.title, message.body]
        }
        #expect(texts == expected)
    }

    @Test(
        arguments: [
            ("en", PollKind.givesToMe, "You received a gift"), ("pl", .givesToMe, "Masz nowy dar"),
            ("ja", .givesToMe, "ギフトが届きました"), ("en", .givesToMyProjects, "One of your projects received a gift"),
            ("en", .givesToStarred, "A starred project received a gift"),
            ("en", .offersToStarred, "A starred project has a new offer"),
            ("pl", .offersToStarred, "Nowa oferta dla projektu oznaczonego gwiazdką"),
            ("ja", .offersToStarred, "スター付きプロジェクトに新しいオファーがあります"),
        ] as [(String, PollKind, String)]
    )
    func oneWithoutANameHasATextOfItsOwn(locale: String, kind: PollKind, text: String) throws {
        let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
        let message = NotificationMessage(
            id: "ntf_1",
            runID: "run_1",
            poll: try #require(PollName("poll")),
            kind: kind,
            changes: [Change(id: .floor(.ulid, at: Timestamp(seconds: 1_767_225_600)), plan: "p", name: nil)],
            context: NotificationContext(largestGroup: 5, messages: messages),
            createdAt: Timestamp(seconds: 1_767_225_600)
        )
        #expect(message.body == text)
    }

    @Test(
        arguments: [
            (
                "en", PollKind.givesToMe,
                ["You received a gift that honours an offer: Garden", "You received a gift that honours an offer"]
            ),
            (
                "en", .givesToMyProjects,
                [
                    "Garden received a gift that honours an offer",
                    "One of your projects received a gift that honours an offer",
                ]
            ),
            (
                "en", .givesToStarred,
                [
                    "Garden received a gift that honours an offer",
                    "A starred project received a gift that honours an offer",
                ]
            ),
            (
                "pl", .givesToMe,
                ["Masz nowy dar, który realizuje ofertę: Garden", "Masz nowy dar, który realizuje ofertę"]
            ),
            (
                "pl", .givesToMyProjects,
                [
                    "Nowy dar dla projektu Garden realizuje ofertę",
                    "Nowy dar dla jednego z Twoich projektów realizuje ofertę",
                ]
            ),
            (
                "pl", .givesToStarred,
                [
                    "Nowy dar dla projektu Garden realizuje ofertę",
                    "Nowy dar dla projektu oznaczonego gwiazdką realizuje ofertę",
                ]
            ),
            ("ja", .givesToMe, ["オファーを果たすギフトが届きました：Garden", "オファーを果たすギフトが届きました"]),
            (
                "ja", .givesToMyProjects,
                ["Gardenにオファーを果たすギフトが届きました", "あなたのプロジェクトにオファーを果たすギフトが届きました"]
            ),
            (
                "ja", .givesToStarred,
                ["Gardenにオファーを果たすギフトが届きました", "スター付きプロジェクトにオファーを果たすギフトが届きました"]
            ),
        ] as [(String, PollKind, [String])]
    )
    func aGiftThatHonoursAnOfferSaysSo(locale: String, kind: PollKind, expected: [String]) throws {
        let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
        let poll = try #require(PollName("poll"))
        let time = Timestamp(seconds: 1_767_225_600)
        func message(_ name: String?, isEdition: Bool = false) -> NotificationMessage {
            let change = Change(
                id: .floor(.ulid, at: time),
                plan: "p",
                name: name,
                isEdition: isEdition,
                fulfillsOffer: true
            )
            return NotificationMessage(
                id: "ntf_1",
                runID: "run_1",
                poll: poll,
                kind: kind,
                changes: [change],
                context: NotificationContext(largestGroup: 5, messages: messages),
                createdAt: time
            )
        }
        #expect([message("Garden").body, message(nil).body] == expected)
        #expect(message("Garden").title == messages.text(.singleTitle, of: .givesToMe))
        #expect(message("Garden", isEdition: true).title == messages.text(.editedTitle, of: .givesToMe))
    }

    @Test(arguments: [
        ("en", ["1 more of 250", "2 more of 250", "100 more of 250"]),
        ("pl", ["Kolejna 1 z 250", "Kolejne 2 z 250", "Kolejnych 100 z 250"]),
        ("ja", ["全250件の続き：1件", "全250件の続き：2件", "全250件の続き：100件"]),
    ])
    func followingParts(_ locale: String, _ expected: [String]) throws {
        let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
        let texts = [1, 2, 100].map {
            messages.text(.followingPart, [.count: .number($0), .total: .number(250)])
        }
        #expect(texts == expected)
    }

    @Test func itemsOfListsAreCountedInEveryLanguage() throws {
        #expect(
            try texts("en", of: .json).prefix(3) == [
                "0 items are new or have changed", "1 item is new or has changed", "2 items are new or have changed",
            ]
        )
        let forms = [
            "pozycji jest nowych lub zmienionych", "pozycja jest nowa lub zmieniona", "pozycje są nowe lub zmienione",
        ]
        #expect(try texts("pl", of: .json).prefix(3) == zip(0..., forms).map { "\($0) \($1)" }[...])
        #expect(try texts("ja", of: .json) == Self.counts.map { "新規または変更された項目が\($0)件あります" })
    }

    @Test(arguments: ["en", "ja", "pl"], PollKind.allCases)
    func notificationsContainNoPlaceholder(_ locale: String, _ kind: PollKind) throws {
        let messages = MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
        for count in Self.counts.dropFirst() {
            let changes = (0..<count).map {
                Change(id: .floor(.ulid, at: Timestamp(seconds: 1_767_225_600 + Int64($0))), plan: "p", name: nil)
            }
            let message = NotificationMessage(
                id: "ntf_1",
                runID: "run_1",
                poll: try #require(PollName("poll")),
                kind: kind,
                changes: changes,
                context: NotificationContext(largestGroup: 5, messages: messages),
                createdAt: Timestamp(seconds: 1_767_225_600)
            )
            #expect(message.locale == locale)
            let texts = [message.title, message.body] + (message.actionLabels ?? [:]).values
            for text in texts { #expect(!text.isEmpty && !text.contains("{") && !text.contains("notifications.")) }
            #expect(Set(message.actionLabels?.keys ?? [:].keys) == Set(message.actions))
            if count > 1 { #expect(message.body.contains("\(count)")) }
        }
    }
}
