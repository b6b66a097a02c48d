import Foundation
import Starwatch
import StarwatchCore
import Testing

@testable import StarwatchCommand

@Suite struct AgentUserTests {
    private func change(caller: UInt32, folder: UInt32?, database: UInt32? = nil) -> AgentUser.Change {
        func access(_ owner: UInt32) -> FileAccess { FileAccess(owner: owner, mode: 0o700) }
        return AgentUser.change(caller: caller, database: database.map(access), folder: folder.map(access))
    }

    @Test func rootBecomesTheOwnerOfTheFolder() {
        #expect(change(caller: 0, folder: 990) == .become(990))
        #expect(change(caller: 0, folder: 990, database: 990) == .become(990))
        #expect(change(caller: 0, folder: 990, database: 0) == .refuse(990))
        #expect(change(caller: 0, folder: 0) == .stay)
        #expect(change(caller: 0, folder: nil) == .stay)
        #expect(change(caller: 1000, folder: 990) == .stay)
    }

    @Test func rootMakesAFileForTheAgentOnlyWhereNobodyElseCanWrite() {
        let agent = ServiceUser(id: 990, group: 990)
        #expect(AgentUser.owner(ofFileIn: FileAccess(owner: 0, mode: 0o755), agent: agent) == agent)
        #expect(AgentUser.owner(ofFileIn: FileAccess(owner: 0, mode: 0o755), agent: nil) == nil)
        for folder in [FileAccess(owner: 990, mode: 0o700), FileAccess(owner: 0, mode: 0o1777), nil] {
            #expect(AgentUser.owner(ofFileIn: folder, agent: agent) == nil)
        }
    }

    @Test func aPortThatOnlyRootCanOpenIsFound() throws {
        let problem = AgentView.portProblem("0.0.0.0:80", freeFrom: 1024)
        #expect(problem == "the agent's user cannot open port 80; choose a port from 1024 on.")
        for (listen, first) in [("127.0.0.1:1024", 1024), ("[::1]:80", 80), ("127.0.0.1:0", 1024)] {
            #expect(AgentView.portProblem(listen, freeFrom: first) == nil)
        }
        let folder = try TemporaryFolder()
        #expect(!ServiceUser.canOpenLowPorts(in: folder.path))
        try folder.write("[Service]\nAmbientCapabilities=CAP_NET_BIND_SERVICE\n", to: "ports.conf")
        #expect(ServiceUser.canOpenLowPorts(in: folder.path))
    }

    @Test func aFileThatTheAgentCannotWriteIsFoundBeforeItIsTried() throws {
        let folder = try TemporaryFolder()
        #expect(AgentUser.writeProblem(folder.path + "/n.jsonl", as: nil) == nil)
        let absent = AgentUser.writeProblem(folder.path + "/none/n.jsonl", as: nil)
        #expect(absent == "There is no folder \(folder.path)/none; create it for the agent's user.")
    }
}
