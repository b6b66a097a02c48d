package import StarwatchCore
import StarwatchPolling
package import StarwatchTelemetry

/// A configured poll, ready to run.
///
/// A class, because each cycle keeps it, and a copy of its fields takes references to a dozen values.
package final class Poll: Sendable {
    package let options: PollOptions
    /// The poll's name as a label value.
    package let label: ConfiguredName
    package let schedule: Schedule
    /// Maximum time without a success.
    package let staleAfter: Duration
    /// The fixed delay after the scheduled time, of this installation or of one of many accounts.
    package let splay: Duration
    /// The longest time between two runs.
    package let longestGap: Duration
    /// The polls that can have the same claims; the poll itself is among them.
    package let overlapping: [PollName]
    /// The way to the server of a list; `nil`: the poll asks the account's server.
    let server: EndorserAPI?

    package init(
        _ options: PollOptions,
        label: ConfiguredName,
        schedule: Schedule,
        splay: Duration,
        longestGap: Duration,
        overlapping: [PollName],
        server: EndorserAPI? = nil
    ) {
        (self.options, self.label, self.schedule) = (options, label, schedule)
        staleAfter = options.staleAfter ?? Schedule.staleAfter(longestGap: longestGap)
        (self.splay, self.longestGap, self.overlapping, self.server) = (splay, longestGap, overlapping, server)
    }

    /// The same poll with the delay of one of many accounts.
    fileprivate func delayed(for account: DID) -> Poll {
        Poll(
            options,
            label: label,
            schedule: schedule,
            splay: Splay.delay(instance: account.rawValue, poll: name, within: options.splay),
            longestGap: longestGap,
            overlapping: overlapping,
            server: server
        )
    }

    package var name: PollName { options.name }
    package var kind: PollKind { options.kind }

    /// Returns the stream of an account. Lists have no server there, so that another URL begins none of them anew.
    func stream(of account: DID, on server: String) -> StreamKey {
        StreamKey(account: account, server: kind.isList ? StreamKey.lists : server, poll: name)
    }
}

extension Account {
    /// Returns the stream of an identity's poll.
    func stream(of poll: Poll, for did: DID) -> StreamKey { poll.stream(of: did, on: server) }
}

extension [Poll] {
    /// The polls of one of many accounts.
    func delayed(for account: DID) -> [Poll] { map { $0.delayed(for: account) } }

    /// Returns the configured poll of that name. Removed polls can have rows too, but a mistyped name must be an error.
    func named(_ name: String) throws(ControlError) -> Poll {
        if let poll = first(where: { $0.name.rawValue == name }) { return poll }
        throw ControlError(.notFound, "There is no poll of that name; starwatch status lists them.")
    }
}

extension Schedule {
    /// The schedule of a configured poll.
    ///
    /// - Throws: ``AgentError`` of kind `configuration`.
    init(of poll: PollOptions) throws(AgentError) {
        do throws(PollTimingError) { self = try Schedule(poll.timing) } catch {
            let problem =
                switch error {
                case .zone(let error): "timezone \(error)"
                case .cron(let error): "schedule: \(error)"
                }
            throw AgentError(.configuration, "polls.\(poll.name).\(problem)")
        }
    }
}
