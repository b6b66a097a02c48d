/// The phases of a request, each timed from the end of the one before it.
public enum RequestPhase: String, Sendable, CaseIterable {
    case dns
    case connect
    case tls
    case firstByte = "first_byte"
    case transfer
}
