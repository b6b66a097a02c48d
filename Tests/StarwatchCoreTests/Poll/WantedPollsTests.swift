import StarwatchCore
import Testing

@Suite struct WantedPollsTests {
    @Test(arguments: ["{}", #"{"starredProjects":false}"#, #"{"polls":null}"#, #"{"polls":7}"#, "no JSON"])
    func withoutAListAnAccountWantsAllPolls(_ preferences: String) {
        #expect(WantedPolls.read(preferences) == nil)
    }

    @Test func aListNamesThePollsThatAnAccountWants() {
        let wanted = WantedPolls.read(#"{"offersToMe":true,"polls":["a","B?","b"]}"#)
        #expect(wanted?.map(\.rawValue) == ["a", "b"])
        #expect(WantedPolls.read(#"{"polls":[]}"#) == [])
    }

    @Test(arguments: ["1e999", #""\ud83d""#, #"[{"deep":1e999}]"#])
    func aMemberThatCannotBeReadDoesNotHideTheOthers(_ member: String) {
        let preferences = #"{"starred_projects":false,"note":\#(member),"polls":["a"]}"#
        #expect(WantedPolls.optedOut(preferences) == [.starredProjects])
        #expect(WantedPolls.read(preferences)?.map(\.rawValue) == ["a"])
    }

    @Test func whatAccountsDoNotWantIsCountedForEachOfThem() throws {
        let (stars, offers) = (try #require(PollName("stars")), try #require(PollName("offers")))
        let polls: [(name: PollName, kind: PollKind)] = [(stars, .starredProjects), (offers, .offersToMe)]
        let accounts = [
            #"{"polls":["offers"]}"#: 3, #"{"offersToMe":false}"#: 5,
            #"{"polls":["stars"],"starredProjects":false}"#: 7,
            #"{"polls":["stars","offers"]}"#: 11, "no JSON": 13,
        ]
        #expect(WantedPolls.unwanted(polls, by: accounts) == 3 + 5 + 2 * 7)
        #expect(WantedPolls.unwanted([], by: accounts) == 0)
    }

    @Test(arguments: [
        ("{}", true), (#"{ "polls": ["a"] }"#, true), (#"{"polls":["a"],"starredProjects":true}"#, false),
        (#"{"theme":"dark"}"#, false), ("[]", false), ("null", false), ("no JSON", false),
    ])
    func aListOfPollsAloneIsNoChoiceOfTheUser(_ preferences: String, _ isWithoutChoice: Bool) {
        #expect(WantedPolls.isWithoutChoice(preferences) == isWithoutChoice)
    }
}
