import Glibc
import Starwatch
import Testing

@testable import StarwatchCommand

@Suite struct AgentAccessTests {
    @Test func aReloadReadsTheFileAgain() throws {
        let folder = try TemporaryFolder()
        let access = AgentAccess(config: try folder.write("log: {level: info}", to: "a.yaml"))
        #expect(try access.reloadedOptions().log.level == .info)
        try folder.write("log: {level: debug}", to: "a.yaml")
        #expect(try access.reloadedOptions().log.level == .debug)
    }

    @Test func aReloadOfABadFileIsOneErrorThatCountsTheOthers() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("log:\n  level: loud\n  format: xml\n  colour: 3\n", to: "a.yaml")
        let error = #expect(throws: AgentError.self) { try AgentAccess(config: file).reloadedOptions() }
        #expect(error?.kind == .configuration)
        #expect(error?.message.hasPrefix("\(file):2: log.level: must be one of") == true)
        #expect(error?.message.hasSuffix("There is more to correct (2): see 'starwatch check'.") == true)
    }

    @Test func whatOnlyReadsCreatesNoDatabase() async throws {
        let folder = try TemporaryFolder()
        let database = folder.path + "/starwatch.db"
        let file = try folder.write(
            "storage: {path: \(database)}\ncontrol: {socket: \(folder.path)/s}\n",
            to: "a.yaml"
        )
        let access = AgentAccess(config: file)
        let error = await #expect(throws: CommandError.self) {
            _ = try await access.perform(ControlAPI.listJournal, JournalQuery())
        }
        #expect(error?.exitCode == .failed)
        #expect(error?.sentences.first?.hasPrefix("There is no database at \(database), ") == true)
        #expect(Glibc.access(database, F_OK) != 0)
    }

    @Test func theConfigurationComesFromTheEnvironmentToo() throws {
        let folder = try TemporaryFolder()
        let file = try folder.write("log: {level: debug}", to: "e.yaml")
        var access = AgentAccess()
        access.loader = ConfigurationLoader(environment: ["STARWATCH_CONFIG": file], workingDirectory: folder.path)
        #expect(try access.configuration().options.log.level == .debug)
        #expect(try access.configuration().file == file)
    }
}
