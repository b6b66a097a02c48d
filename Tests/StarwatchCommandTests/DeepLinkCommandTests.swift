import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct DeepLinkCommandTests {
    private static let claim = "1767225600_Ab3xYz_0123abcd"

    @Test(arguments: [
        ("timesafari://notifications/starred-projects", "notifications", nil as String?, [] as [String]),
        ("timesafari://features/starred-projects", "feature", nil, []),
        ("timesafari://projects/updates?jwtIds=\(claim)", "updates", nil, [claim]),
        ("timesafari://projects/a%2Fb/details?jwtId=\(claim)", "project", "a/b", [claim]),
    ])
    func aLinkHasItsTarget(_ url: String, _ route: String, _ project: String?, _ claims: [String]) throws {
        let target = DeepLinkTarget(try DeepLink(parsing: url))
        #expect(target.route == route && target.projectID == project && target.jwtIDs == claims && target.link == url)
        #expect(target.text.contains(route))
    }

    @Test func aLinkThatIsWrongIsAUsageErrorThatRepeatsNothingOfIt() async {
        let ending = await StarwatchTool.run(["deeplink", "timesafari://projects/updates?jwtIds=secret"])
        #expect(ending.exitCode == .usage)
        #expect(ending.errorLines == ["starwatch: The link has an invalid JWT ID."])
    }

    @Test func anActionThatDoesNotExistIsAUsageErrorWithAHint() async {
        let ending = await StarwatchTool.run(["notifications", "act", "ntf_1", "snoze_1h"])
        #expect(ending.exitCode == .usage)
        #expect(ending.errorLines.first?.contains("did you mean \"snooze_1h\"?") == true)
    }
}
