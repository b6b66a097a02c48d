import StarwatchCore
import Testing

/// Notifications that the hours of sinks hold.
@Suite struct HeldMessageTests {
    private let time = Timestamp(seconds: 1_767_225_600)
    private let poll = PollName("starred_projects")!

    private func changes(part: NotificationPart? = nil) -> NotificationMessage {
        NotificationMessage(
            id: "ntf_1",
            runID: "run_1",
            poll: poll,
            kind: .starredProjects,
            changes: [Change(id: JWTID.floor(.ulid, at: time), plan: "plan", name: "Garden")],
            context: NotificationContext(part: part),
            createdAt: time
        )
    }

    private func staleness(isOver: Bool) -> NotificationMessage {
        NotificationMessage(
            staleness: "ntf_1",
            runID: "run_1",
            poll: poll,
            lastSuccess: nil,
            isOver: isOver,
            messages: .english,
            createdAt: time
        )
    }

    @Test func changesAndNoticesAreHeldAndOnlyWholeGroupsOfChangesJoined() {
        let part = changes(part: NotificationPart(number: 2, of: 3, total: 201))
        #expect(SinkHours.canHold(changes()) && SinkHours.canJoin(changes()))
        #expect(SinkHours.canHold(part) && !SinkHours.canJoin(part))
        let feature = NotificationMessage(
            feature: .starredProjects,
            id: "ntf_1",
            runID: "run_1",
            messages: .english,
            createdAt: time
        )
        for notice in [staleness(isOver: false), feature] {
            #expect(SinkHours.canHold(notice) && !SinkHours.canJoin(notice))
        }
    }

    @Test func whatHasATimeOfItsOwnIsNotHeldAndNorIsWhatTakesANoticeBack() throws {
        let digest = DigestMessage(
            id: "ntf_1",
            runID: "run_1",
            occurrence: DigestOccurrence(digest: DigestName("daily_news")!, slot: "s", fireAt: time),
            text: .fallback,
            title: "News",
            body: "None",
            locale: "en"
        )
        let read = try #require(NotificationMessage(json: digest.json()))
        let canary = NotificationMessage(canary: "ntf_1", runID: "run_1", createdAt: time)
        for message in [read, canary, changes().repeated(id: "ntf_2", of: "ntf_1"), staleness(isOver: true)] {
            #expect(!SinkHours.canHold(message) && !SinkHours.canJoin(message), "\(message.poll)")
        }
    }

    private static let offers = PollName("my_offers")!

    /// Renders what a sink held: an offer, then two changes of projects and later a third.
    private func joined(
        in locale: String = "en",
        without discarded: [Int] = [],
        besides taken: Set<String> = []
    ) throws -> NotificationMessage {
        func change(_ n: Int) -> Change {
            Change(id: JWTID.floor(.ulid, at: time + .seconds(n)), plan: "plan \(n)", name: "Name \(n)")
        }
        func message(_ poll: PollName, _ kind: PollKind, _ numbers: ClosedRange<Int>) -> NotificationMessage {
            NotificationMessage(
                id: "ntf_\(numbers.lowerBound)",
                runID: "run_\(numbers.lowerBound)",
                poll: poll,
                kind: kind,
                changes: numbers.map(change),
                context: NotificationContext(),
                createdAt: time
            )
        }
        let held = [
            message(Self.offers, .offersToMe, 1...1), message(poll, .starredProjects, 2...3),
            message(poll, .starredProjects, 4...4),
        ]
        let joined = NotificationPolls.joining(held, id: "ntf_9", createdAt: time + .seconds(9), besides: taken)
        let whole = try #require(joined)
        var context = NotificationContext(
            messages: MessageCatalogues.builtIn.messages(for: try #require(LocaleTag(locale)))
        )
        context.kinds = [poll: .starredProjects, Self.offers: .offersToMe]
        let ids = discarded.compactMap { JWTID(whole.changes[$0].jwtID) }
        return try #require(
            whole.without(Set(ids), offers: [], poll: poll, kind: .starredProjects, context: context)
        )
    }

    @Test(arguments: [
        ("en", "New Activity", "You have 3 new updates in your starred projects\nYou have a new offer: Name 1"),
        ("pl", "Nowości", "Masz 3 nowe aktualizacje w projektach oznaczonych gwiazdką\nMasz nową ofertę: Name 1"),
        ("ja", "新しいお知らせ", "スター付きプロジェクトに3件の新しい更新があります\n新しいオファーがあります：Name 1"),
    ])
    func whatSeveralPollsBroughtIsALineForEachKindInTheOrderOfKinds(
        locale: String,
        title: String,
        body: String
    ) throws {
        let message = try joined(in: locale)
        #expect(message.title == title && message.body == body)
        #expect(message.changes.compactMap(\.name) == ["Name 2", "Name 3", "Name 4", "Name 1"])
        #expect(message.id == "ntf_9" && message.runID == "run_4" && message.count == 4 && message.group == .several)
        #expect(message.poll == "starred_projects" && message.polls == ["starred_projects", "my_offers"])
        let polls: [String?] = ["starred_projects", "starred_projects", "starred_projects", "my_offers"]
        #expect(message.changes.map(\.poll) == polls)
        // No notification of a poll and no part of a group replaces it.
        #expect(message.collapseKey == "several_polls")
        #expect(NotificationMessage(json: message.json()) == message)
    }

    @Test func theRestOfSeveralPollsKeepsItsKeyAndNamesTheirPolls() throws {
        // Joined in the order of the notifications, so the offer is the first.
        let rest = try joined(without: [1, 2, 3])
        #expect(rest.title == "New Offer" && rest.body == "You have a new offer: Name 1" && rest.group == .single)
        #expect(rest.polls == ["my_offers"] && rest.poll == "starred_projects")
        #expect(rest.collapseKey == "several_polls" && NotificationPolls(rest).names == ["my_offers"])
        #expect(try joined(without: [0]).body == "You have 3 new updates in your starred projects")
    }

    @Test func aGiftThatHonoursAnOfferIsNamedAsOneBesideAnotherPoll() throws {
        let gives = PollName("my_gives")!
        func message(_ poll: PollName, _ kind: PollKind, _ number: Int, fulfillsOffer: Bool) -> NotificationMessage {
            let id = JWTID.floor(.ulid, at: time + .seconds(number))
            let change = Change(id: id, plan: "plan \(number)", name: "Name \(number)", fulfillsOffer: fulfillsOffer)
            return NotificationMessage(
                id: "ntf_\(number)",
                runID: "run_\(number)",
                poll: poll,
                kind: kind,
                changes: [change],
                context: NotificationContext(),
                createdAt: time
            )
        }
        let held = [
            message(poll, .starredProjects, 1, fulfillsOffer: false),
            message(gives, .givesToMe, 2, fulfillsOffer: true),
        ]
        let whole = try #require(NotificationPolls.joining(held, id: "ntf_9", createdAt: time))
        var context = NotificationContext()
        context.kinds = [poll: .starredProjects, gives: .givesToMe]
        let joined = try #require(
            whole.without([], offers: [], poll: poll, kind: .starredProjects, context: context)
        )
        #expect(joined.changes.map(\.fulfillsOffer) == [nil, true])
        #expect(joined.body == "Name 1 has been updated\nYou received a gift that honours an offer: Name 2")
    }

    @Test func aJoinedNotificationHasAKeyThatNoneBesideItHasAndKeepsIt() throws {
        #expect(try joined(besides: ["starred-projects"]).collapseKey == "several_polls")
        for discarded in [[], [0], [1, 2, 3]] {
            let message = try joined(without: discarded, besides: ["several_polls", "several_polls_2"])
            #expect(message.collapseKey == "several_polls_3")
        }
        let beside: Set = ["starred-projects", "starred-projects_2"]
        let one = NotificationPolls.joining([changes(), changes()], id: "ntf_2", createdAt: time, besides: beside)
        #expect(one?.collapseKey == "starred-projects_3" && one?.polls == nil)
    }

    @Test func aPartOfAGroupThatGetsAnotherKeyKeepsItsPlace() throws {
        let place = NotificationPart(number: 2, of: 3, total: 201)
        let part = changes(part: place)
        let beside: Set = ["starred-projects", part.collapseKey]
        let other = try #require(NotificationPolls.joining([part], id: "ntf_2", createdAt: time, besides: beside))
        let rendered = other.without([], offers: [], poll: poll, kind: .starredProjects, context: NotificationContext())
        #expect(rendered?.place == place && rendered?.body == part.body && rendered?.id == "ntf_2")
        #expect(rendered?.collapseKey == "starred-projects_2_2")
    }

    @Test func aPollThatIsNoLongerConfiguredHasTheKindOfItsName() throws {
        for kind in PollKind.allCases { #expect(PollKind(former: try #require(PollName(kind.rawValue))) == kind) }
        #expect(PollKind(former: Self.offers) == .starredProjects)
    }

    @Test func changesOfSeveralPollsAreGroupedByTheirPolls() throws {
        let message = try joined()
        let ids = message.changes.compactMap { JWTID($0.jwtID) }
        let unknown = JWTID.floor(.ulid, at: time + .seconds(99))
        let groups = NotificationPolls(message).grouped([ids[3], ids[0], unknown])
        #expect(groups.map(\.poll) == ["my_offers", "starred_projects"])
        #expect(groups.map(\.ids) == [[ids[3]], [ids[0], unknown]])
        #expect(NotificationPolls(changes()).grouped([unknown]).map(\.poll) == ["starred_projects"])
        #expect(
            NotificationPolls(changes()).thread == "starred_projects"
                && NotificationPolls(message).thread == "several_polls"
        )
    }
}
