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

    @Test(arguments: [
        ("{}", true), (#"{ "polls": ["a"] }"#, true), (#"{"polls":["a"],"starredProjects":true}"#, false),
        (#"{"theme":"dark"}"#, false), ("[]", false), ("null", false), ("no JSON", false),
    ])
    func aListOfPollsAloneIsNoChoiceOfTheUser(_ preferences: String, _ isWithoutChoice: Bool) {
        #expect(WantedPolls.isWithoutChoice(preferences) == isWithoutChoice)
    }
}
