import Foundation
import MockEndorser
import Testing

/// `starwatch accounts` as an operator uses it, and what it says of mistakes.
@Suite(.serialized) struct AccountsCommandTests {
    private struct Report: Decodable {
        let did, pseudonym, status: String
        let stars: Int
    }

    @Test func addNamesEachLineWithAMistakeAndAddsTheOthers() async throws {
        let world = try await AgentWorld.ofAccounts()
        let agent = try await world.start()
        let plan = world.mock.planIDs[0]
        let lines = [
            #"{"did": "\#(AgentWorld.did(1))", "stars": ["\#(plan)"]}"#,
            "did:ethr:0x1",
            "",
            #"{"did": "\#(AgentWorld.did(2))", "stars": ["no plan"]}"#,
            #"{"did": "\#(AgentWorld.did(1))", "stars": []}"#,
            #"{"did": "\#(AgentWorld.did(3))", "star": ["\#(plan)"]}"#,
            #"{"did": "\#(AgentWorld.did(4))", "stars": "\#(plan)"}"#,
            #"{"stars": ["\#(plan)"]}"#,
            #"{"did": "alice"}"#,
            #"{"did": "did:ethr:0x12"}"#,
            #"{"did": "\#(AgentWorld.did(5))"}"#,
        ]
        let form =
            #"must be JSON of the form {"did": "did:ethr:0x…", "stars": ["…"], "polls": ["…"], "sinks": {"hook": {"url": "https://…"}}}; the others are added."#
        let refused = [
            (2, form),
            (
                4,
                "That is no plan's id; copy it from the app, such as https://endorser.ch/entity/ and 26 capital letters and digits."
            ),
            (5, "has the DID of line 1; leave one of the two out."), (6, form), (7, form), (8, form),
            (9, "That is not a DID; it has the form did:method:id."),
            (
                10,
                "The DID must end with 0x and 40 hexadecimal digits, but it has 2 digits; copy the DID from the app."
            ),
        ]
        let input = lines.joined(separator: "\n")
        let first = try await world.command(["accounts", "add", "--stdin"], input: input)
        #expect(first.status == 1)
        #expect(first.output == "Accounts: 2 added, 8 refused.\n")
        let said: String = refused.map { "starwatch: line \($0.0): \($0.1)\n" }.joined()
        #expect(first.errors == said)

        struct Answer: Decodable {
            struct Refusal: Decodable {
                let line: Int
                let problem: String
            }
            let added, changed, unchanged: Int
            let refused: [Refusal]
        }
        let again = try await world.command(["accounts", "add", "--stdin", "--json"], input: input)
        #expect(again.status == 1)
        let answer = try JSONDecoder().decode(Answer.self, from: Data(again.output.utf8))
        #expect(answer.added == 0 && answer.changed == 0 && answer.unchanged == 2)
        #expect(answer.refused.map(\.line) == refused.map(\.0))
        #expect(answer.refused.map(\.problem) == refused.map(\.1))
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    /// The command sends 500 lines in one request.
    @Test func aDIDThatStandsTwiceIsFoundInALongFile() async throws {
        let world = try await AgentWorld.ofAccounts()
        let agent = try await world.start()
        var accounts = world.accounts(600)
        accounts.append(.init(did: accounts[0].did, stars: []))
        let result = try await world.command(["accounts", "add", "--stdin"], input: AgentWorld.lines(accounts))
        #expect(result.status == 1)
        #expect(result.output == "Accounts: 600 added, 1 refused.\n")
        #expect(result.errors == "starwatch: line 601: has the DID of line 1; leave one of the two out.\n")
        #expect(try await list(world, ["--limit", "1000"]).allSatisfy { $0.stars == 2 })

        // Page by page, every account is in the list once.
        var found: [String] = []
        repeat {
            let page = try await list(world, ["--limit", "250"] + (found.last.map { ["--after", $0] } ?? []))
            #expect(page.count == min(250, 600 - found.count))
            found += page.map(\.did)
        } while found.count < 600
        #expect(Set(found) == Set(accounts.map(\.did)))
        #expect(try await list(world, ["--after", found[599]]).isEmpty)
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    @Test func anAccountIsAddedPausedResumedRemovedAndErased() async throws {
        let world = try await AgentWorld.ofAccounts()
        let agent = try await world.start()
        let (did, plans) = (AgentWorld.did(1), world.mock.planIDs)
        func say(_ arguments: String...) async throws -> CommandResult { try await world.command(arguments) }

        #expect(
            try await say("accounts", "list").output == "There are no accounts; add some with starwatch accounts add.\n"
        )
        #expect(try await say("accounts", "add", did, "--star", plans[0]).output == "Accounts: 1 added.\n")
        #expect(try await say("accounts", "add", did, "--star", plans[0]).output == "Accounts: 1 unchanged.\n")
        #expect(try await say("accounts", "add", did, "--star", plans[1]).output == "Accounts: 1 changed.\n")
        #expect(try await say("stars", "list", "--account", did).output == plans[1] + "\n")
        let starred = try await say("stars", "add", plans[2], "--account", did)
        #expect(starred.status == 0 && starred.output == plans[1...2].joined(separator: "\n") + "\n")

        let shown = try await show(world, did)
        #expect(shown.did == did && shown.status == "active" && shown.stars == 2)
        #expect(try await say("accounts", "pause", did).status == 0)
        #expect(try await show(world, did).status == "paused")
        let refused = try await say("stars", "list", "--account", did)
        #expect(refused.status == 1)
        #expect(refused.errors == "starwatch: That account is paused or not known; see starwatch accounts list.\n")
        #expect(try await say("accounts", "resume", did).status == 0)
        #expect(try await show(world, did).status == "active")

        let removed = try await say("accounts", "remove", did)
        #expect(removed.status == 0 && removed.output.hasPrefix("Its data is deleted after "))
        #expect(removed.output.hasSuffix(" changes of the time between are not announced.\n"))
        #expect(try await list(world, []).isEmpty)
        let returned = "1 was stored before and begins anew: changes since it left are not announced."
        #expect(try await say("accounts", "add", did).output == "Accounts: 1 added. \(returned)\n")
        #expect(try await show(world, did).stars == 2)
        // Erasing is possible before and after the removal.
        for removesFirst in [false, true] {
            if removesFirst { #expect(try await say("accounts", "remove", did).status == 0) }
            let erased = try await say("accounts", "erase", did)
            #expect(erased.status == 0 && erased.output == "Everything stored of the account is erased.\n")
            #expect(try await say("accounts", "add", did).output == "Accounts: 1 added.\n")
            #expect(try await show(world, did).stars == 0)
        }
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    @Test func anAddressComesFromAFileOrALineAndIsNeverShown() async throws {
        let world = try await AgentWorld.ofAccounts(haveHooks: true)
        let agent = try await world.start()
        let (did, plan) = (AgentWorld.did(1), world.mock.planIDs[0])
        let file = world.workspace.path("hook.json")
        func write(_ text: String, mode: Int = 0o600) throws {
            try world.workspace.write(text, to: "hook.json")
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
        }
        func add() async throws -> CommandResult {
            try await world.command(["accounts", "add", did, "--star", plan, "--sink", "hook=\(file)"])
        }
        let cases: [(String, Int, String)] = [
            (#"{"url": "\#(world.mock.url)/hook"}"#, 0o644, "--sink"),
            (
                #"{"url": "\#(world.mock.url)/hook", "secert": "x"}"#, 0o600,
                "The file of --sink must be JSON such as"
            ),
            (#"{"url": "http://10.0.0.1/canary"}"#, 0o600, "The url for the sink hook must be a URL that starts with"),
            (#"{"secret": "canary"}"#, 0o600, "The sink hook needs the url of the account; add it."),
        ]
        for (text, mode, sentence) in cases {
            try write(text, mode: mode)
            let result = try await add()
            #expect(result.status != 0 && result.errors.contains(sentence), "\(result.errors)")
            #expect(!result.errors.contains("canary"))
            #expect(result.errors.split(separator: "\n").count == 1, "\(result.errors)")
        }
        #expect(try await list(world, []).isEmpty)

        try write(#"{"url": "\#(world.mock.url)/hook"}"#)
        #expect(try await add().output == "Accounts: 1 added.\n")
        #expect(try await add().output == "Accounts: 1 unchanged.\n")
        let line = #"{"did": "\#(AgentWorld.did(2))", "sinks": {"phone": {"url": "https://example.org"}}}"# + "\n"
        let refused = try await world.command(["accounts", "add", "--stdin"], input: line)
        #expect(refused.errors.contains("line 1: There is no sink of that name; those that take an address are hook."))
        let shown = try await world.command(["accounts", "show", did])
        #expect(shown.output.contains("hook set") && !shown.output.contains(world.mock.url))
        let listed = try await world.command(["accounts", "list"])
        #expect(listed.output.contains("hook set") && !listed.output.contains(world.mock.url))
        let tested = try await world.command(["sinks", "test", "hook", "--account", did])
        #expect(tested.status == 0, "\(tested.errors)")
        #expect(world.mock.receivedNotifications.count == 3)
        let unnamed = try await world.command(["sinks", "test", "hook"])
        #expect(unnamed.status == 1 && unnamed.errors.contains("name one with --account"))
        let doctor = try await world.command(["doctor"])
        #expect(doctor.output.contains("Each account brings its address"))
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    @Test func mistakesOfTheOtherCommandsAreOneSentence() async throws {
        let world = try await AgentWorld.ofAccounts()
        let agent = try await world.start()
        let did = AgentWorld.did(7)
        let unknown = "starwatch: There is no such account; see starwatch accounts list.\n"
        for verb in ["show", "pause", "resume", "remove"] {
            let result = try await world.command(["accounts", verb, did])
            #expect(result.status == 1 && result.errors == unknown, "\(verb): \(result.errors)")
        }
        let cases: [([String], Int32, String)] = [
            (["accounts", "erase", did], 1, "Nothing is stored of that identity."),
            (["accounts", "show", "alice"], 2, "That is not a DID; write one such as did:ethr:0x…."),
            (["accounts", "list", "--after", "alice"], 2, "That is not a DID; it has the form did:method:id."),
            (["accounts", "add"], 2, "Give either a DID or --stdin."),
            (["accounts", "add", did, "--stdin"], 2, "Give either a DID or --stdin."),
            (
                ["accounts", "add", "--stdin", "--star", "x"], 2,
                "With --stdin, the stars, polls and addresses stand in its lines."
            ),
            (["accounts", "add", "alice"], 1, "That is not a DID; it has the form did:method:id."),
            (["stars", "list"], 1, "This agent works for many accounts; name one with --account."),
            (["poll", "starred_projects"], 1, "This agent works for many accounts; name one with --account."),
            (
                ["identity", "set", did], 1,
                "This agent works for many accounts; add, remove or erase them with starwatch accounts."
            ),
        ]
        for (arguments, status, sentence) in cases {
            let result = try await world.command(arguments)
            #expect(result.status == status, "\(arguments): \(result.errors)")
            #expect(result.errors.hasPrefix("starwatch: " + sentence), "\(arguments): \(result.errors)")
            #expect(result.errors.split(separator: "\n").count == 1, "\(arguments): \(result.errors)")
        }
        // Without accounts nothing is polled, and the next command is the one that helps.
        #expect(try await world.command(["status"]).output.contains("starwatch accounts add DID"))
        let doctor = try await world.command(["doctor"])
        #expect(!doctor.output.contains("--account") && doctor.output.contains("There are no active accounts"))
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    @Test func anAgentForOneIdentityRefusesAccountsWithOneSentence() async throws {
        let world = try await AgentWorld()
        let agent = try await world.start()
        let commands = [
            ["accounts", "list"], ["accounts", "add", AgentWorld.did(1)],
            ["stars", "list", "--account", AgentWorld.did(1)],
        ]
        for command in commands {
            let result = try await starwatch(command + ["--config", world.config])
            #expect(result.status == 1)
            #expect(
                result.errors
                    == "starwatch: This agent works for the active identity only; set accounts: many in its configuration first.\n"
            )
        }
        #expect(await agent.stop() == 0)
        try await world.mock.stop()
    }

    private func list(_ world: AgentWorld, _ arguments: [String]) async throws -> [Report] {
        let result = try await world.command(["accounts", "list", "--json"] + arguments)
        #expect(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode([Report].self, from: Data(result.output.utf8))
    }

    private func show(_ world: AgentWorld, _ did: String) async throws -> Report {
        let result = try await world.command(["accounts", "show", did, "--json"])
        #expect(result.status == 0, "\(result.errors)")
        return try JSONDecoder().decode(Report.self, from: Data(result.output.utf8))
    }
}
