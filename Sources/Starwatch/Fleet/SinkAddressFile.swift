import FoundationEssentials
package import StarwatchCore
import StarwatchTransport

/// A file with the address that an account brings for a sink, for a command.
package enum SinkAddressFile {
    private static let limitBytes = 65_536

    /// - Throws: ``AgentError`` if others can read or own the file, or for another content. It repeats none of it.
    package static func read(_ path: String) throws(AgentError) -> SinkAddress {
        let bytes = try SecretFile(path: path, setting: "--sink", limitBytes: limitBytes).bytes()
        guard let address = try? JSONDecoder().decode(SinkAddress.self, from: Data(bytes)), !address.hasUnknownFields
        else {
            throw AgentError(
                .configuration,
                #"The file of --sink must be JSON of the form {"url": "https://…", "secret": "…"}; correct it."#
            )
        }
        return address
    }
}
