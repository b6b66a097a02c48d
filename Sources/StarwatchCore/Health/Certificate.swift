/// The owner of a certificate that the agent has or meets.
package enum CertificateOwner: Sendable, Hashable {
    case server
    case port(String)
    case sink(String)

    private static let portPrefix = "port:"

    /// The word in metrics and in the status: `server`, `port:http`, or the name of a sink, which has no colon.
    package var word: String {
        switch self {
        case .server: "server"
        case .port(let name): Self.portPrefix + name
        case .sink(let name): name
        }
    }

    /// Reads a ``word``.
    package init(word: String) {
        self =
            word == "server"
            ? .server
            : word.hasPrefix(Self.portPrefix) ? .port(String(word.dropFirst(Self.portPrefix.count))) : .sink(word)
    }

    /// The owner for a person.
    fileprivate var phrase: String {
        switch self {
        case .server: "the server"
        case .port(let name): "port \(name)"
        case .sink(let name): "sink \(name)"
        }
    }

    /// The reason of a problem with the certificate; `nil` for a sink, which has a label of its own.
    fileprivate var reason: String? {
        switch self {
        case .server: "server"
        case .port(let name): name
        case .sink: nil
        }
    }
}

/// A certificate whose expiry is known.
package struct Certificate: Sendable, Hashable {
    package let owner: CertificateOwner
    /// The expiry by the local clock.
    package let expiry: Timestamp

    /// The time before the expiry in which a renewal is due. Programs that renew do so earlier.
    package static let noted = Duration.seconds(14 * 86_400)
    /// The time before the expiry in which it is urgent.
    package static let urgent = Duration.seconds(2 * 86_400)

    package init(of owner: CertificateOwner, expiry: Timestamp) { (self.owner, self.expiry) = (owner, expiry) }

    /// The problem with the certificate; `nil` if it is valid for long.
    package func problem(now: Timestamp) -> Problem? {
        let left = expiry - now
        guard left < Self.noted else { return nil }
        let certificate = "the certificate of \(owner.phrase)"
        let (kind, phrase): (Problem.Kind, String) =
            if left <= .zero {
                // A sink that is seldom used can have a new one, which no connection has shown.
                switch owner {
                case .sink:
                    (.certificateExpiring, "\(certificate) expired, unless it was renewed since its last connection")
                case .server, .port: (.certificateExpired, "\(certificate) has expired")
                }
            } else {
                (
                    left < Self.urgent ? .certificateExpiring : .certificateRenewalDue,
                    "\(certificate) expires in \(AgeText.duration(left.inSeconds))"
                )
            }
        return Problem(
            kind,
            of: owner.word,
            phrase,
            reason: owner.reason,
            since: kind == .certificateExpired ? expiry : expiry - (left < Self.urgent ? Self.urgent : Self.noted)
        )
    }
}

/// The chain of certificates that the other end of a connection sent.
extension Certificate {
    /// The time when the chain expires; `nil` if that of the first certificate is not known.
    ///
    /// An expired certificate behind the first one did not keep the connection from being made, so it is not needed.
    ///
    /// - Parameter expiries: Those of its certificates, the other end's own first.
    package static func expiry(ofChain expiries: [Timestamp?], now: Timestamp) -> Timestamp? {
        guard let own = expiries.first ?? nil else { return nil }
        return expiries.dropFirst().compactMap(\.self).filter { $0 > now }.reduce(own, min)
    }

    /// Parses the date of a certificate as libcurl writes it: `Nov  6 08:49:37 2027 GMT` with OpenSSL, `2027-11-06 08:49:37
    /// GMT` with other libraries.
    package static func date(_ text: String) -> Timestamp? {
        let parts = text.split(separator: " ")
        if parts.count == 3, parts[2] == "GMT" { return Timestamp(iso8601: "\(parts[0])T\(parts[1])Z") }
        guard parts.count == 5, parts[4] == "GMT" else { return nil }
        // The third form of dates in HTTP, but for its weekday.
        let form = (["Sun"] + parts.dropLast()).joined(separator: " ")
        return HTTPDate.parse(form, now: Timestamp(milliseconds: 0))
    }
}
