import Foundation
import Glibc
import Starwatch
import Testing

@testable import StarwatchCommand

/// The file of the master key for those who cannot read it: an agent that root has started, and a service.
@Suite struct MasterKeyReloadTests {
    private let folder: TemporaryFolder
    private let access: AgentAccess

    init() throws {
        folder = try TemporaryFolder()
        access = AgentAccess(config: try folder.write("security: {master_key_file: master.key}\n", to: "a.yaml"))
    }

    /// The agent's user can no more read it than a file that the loader refuses.
    @Test func aReloadKeepsTheKeyThatRootHasReadAndDoesNotLookAtItsFile() throws {
        let key = DatabaseKey()
        try folder.write(key.base64, to: "master.key")
        var options = try access.reloadedOptions()
        try folder.write(key.base64, to: "master.key", mode: 0o644)
        // An agent without the key must read the file again.
        let refused = #expect(throws: AgentError.self) { try access.reloadedOptions(after: options) }
        #expect(refused?.message.contains("chmod 600") == true)
        options.security.masterKey = key
        #expect(try access.reloadedOptions(after: options).security.masterKey == key)
        // Another file is another key.
        try folder.write(key.base64, to: "other.key", mode: 0o644)
        try folder.write("security: {master_key_file: other.key}\n", to: "a.yaml")
        let other = #expect(throws: AgentError.self) { try access.reloadedOptions(after: options) }
        #expect(other?.message.contains("other.key can be read or changed by other users") == true)
    }

    /// Without another credential in the unit, the service has no directory of credentials.
    @Test func aServiceWithoutItsDropInIsToldWhatToAddToTheUnit() throws {
        try folder.write("sealed", to: "master.key.cred")
        var loader = ConfigurationLoader(environment: [:], workingDirectory: folder.path)
        loader.user = TemporaryFolder.user
        let text = "security: {master_key_file: master.key}\n"
        let failure = #expect(throws: ConfigurationFailure.self) {
            try loader.load(text: text, file: "a.yaml", directory: folder.path)
        }
        let advice = "use sudo for a command, and LoadCredentialEncrypted= in the unit of the service."
        let says = "\(folder.path)/master.key.cred can be opened only by root and systemd; \(advice)"
        #expect(failure?.problems.map(\.message) == [says])
        loader.user = 0
        #expect(throws: Never.self) { try loader.load(text: text, file: "a.yaml", directory: folder.path) }
    }
}
