/// The traits that tell a kind of poll from the others.
package struct PollTraits: Sendable {
    /// The claims on a poll's pages.
    package enum Item: Sendable {
        case plan, offer, give, confirmation
        /// The last version of a plan, as a row of the report of all plans.
        case project
        /// An item of a list of any server.
        case listed
    }

    /// A report of the claims that an account made.
    package struct OwnReport: Sendable, Equatable {
        package let endpoint: Endpoint
        /// The parameters that can name the account, in the order of the requests.
        package let roles: [String]
    }

    /// The part of the server's claims that a poll asks for.
    package enum Scope: Sendable, Equatable {
        /// Claims of plans that the account has starred, which the requests name.
        case starredPlans
        /// Claims of plans that the account issued, or is the agent of, which the requests name.
        case ownPlans
        /// Claims to the account, which the requests name.
        case recipient
        /// Claims that the server finds by the token.
        case token
        /// Claims of anybody. Only those that link to a claim of the account are announced.
        case links(to: OwnReport)
        /// A list that the poll's own settings describe.
        case list
    }

    let name: String
    package let item: Item
    let endpoint: Endpoint
    let scope: Scope
    /// The claims that the poll announces, as the heading of a list.
    package let announced: String
    /// Claims that it leaves out, such as "no offer to the account".
    let leftOut: String
    /// A parameter of all requests.
    var filter: (String, String)?

    /// Whether only the claims of the poll's items name their plans.
    package var namesPlanInClaim: Bool { endpoint == .offersToPlans }

    /// Whether the poll's items are plans, of the account's stars or of anybody.
    package var hasPlans: Bool { item == .plan || item == .project }
}
