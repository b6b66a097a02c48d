/// All that tells a kind of poll from the others.
package struct PollTraits: Sendable {
    /// The claims on a poll's pages.
    package enum Item: Sendable {
        case plan, offer, give
    }

    /// The part of the server's claims that a poll asks for.
    package enum Scope: Sendable {
        /// Those of plans that the account has starred, which the requests name.
        case starredPlans
        /// Those of plans that the account issued, or is the agent of, which the requests name.
        case ownPlans
        /// Those to the account, which the requests name.
        case recipient
        /// Those that the server finds by the token.
        case token
    }

    let name: String
    package let item: Item
    let endpoint: Endpoint
    let scope: Scope
    /// The claims that the poll announces, as the heading of a list.
    package let announced: String
    /// Other claims, such as "no offer to the account".
    let leftOut: String
}
