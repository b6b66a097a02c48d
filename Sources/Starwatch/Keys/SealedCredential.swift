import Foundation
import Glibc
import StarwatchCore
import StarwatchPolling

/// A key that only systemd and root can open: a credential, encrypted with the key of this machine.
///
/// It lies as `NAME.cred` where the configuration names the file `NAME`, and the unit loads it under that name.
package struct SealedCredential: Sendable, Hashable {
    /// The place of the clear file, which does not exist.
    package let file: String

    package init(of file: String) { self.file = file }

    /// The encrypted file.
    package var path: String { file + ".cred" }
    /// The name under which the unit loads it. systemd opens it under no other.
    package var name: String { String(file.split(separator: "/").last ?? "") }
    package var exists: Bool { access(path, F_OK) == 0 }
    /// Whether it stands for the file, which is not there itself.
    package var replacesFile: Bool { access(file, F_OK) != 0 && exists }

    /// The advice for another user. Without another credential systemd sets no directory, so that user can be the service, or
    /// call a command.
    package static let advice =
        "can be opened only by root and systemd; use sudo for a command, and LoadCredentialEncrypted= in the unit of the service."

    private static let program = "systemd-creds"
    private static let limit = Duration.seconds(30)

    /// Whether this machine can make and open credentials.
    package static var isSupported: Bool {
        let folders = ["/usr/bin", "/bin"]
        return folders.contains { access($0 + "/" + program, X_OK) == 0 }
    }

    /// The command that prints the key.
    package var command: [String] { [Self.program, "decrypt", "--name=\(name)", path, "-"] }

    /// Encrypts a new master key into the file, which must not exist.
    ///
    /// The key of the machine alone encrypts it. With a TPM too, an update of the firmware could make it unreadable.
    ///
    /// - Returns: `false` if systemd cannot encrypt it; there is then no file.
    package func make(_ key: DatabaseKey) async -> Bool {
        let argv = [Self.program, "encrypt", "--with-key=host", "--name=\(name)", "-", "-"]
        let output = try? await CommandOutput.text(
            of: argv,
            input: key.base64 + "\n",
            within: Self.limit,
            time: SystemClock()
        )
        guard let output, !output.isEmpty else { return false }
        return (try? KeyFile.create(path, output)) ?? false
    }

    /// Decrypts the key, as root.
    package func open() async throws(AgentError) -> DatabaseKey {
        guard geteuid() == 0 else {
            throw AgentError(.configuration, "\(path) \(Self.advice)")
        }
        let output: String
        do { output = try await CommandOutput.text(of: command, within: Self.limit, time: SystemClock()) } catch {
            throw AgentError(
                .configuration,
                "\(path) does not open on this machine; make it again from your copy of the key, as Security says."
            )
        }
        guard let key = DatabaseKey(base64: output) else {
            throw AgentError(.configuration, "\(path) must contain 32 bytes in base64 on one line.")
        }
        return key
    }
}
