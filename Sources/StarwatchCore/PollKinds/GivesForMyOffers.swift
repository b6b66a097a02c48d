extension PollKind {
    /// Gifts that honour offers of the identity.
    public static let givesForMyOffers = PollKind(
        PollTraits(
            name: "gives_for_my_offers",
            item: .give,
            endpoint: .givesToMe,
            scope: .links(to: PollTraits.OwnReport(endpoint: .offersToMe, roles: ["offeredByDid"])),
            announced: "Gifts that honour the account's own offers",
            leftOut: "no gift that honours an offer of the account",
            filter: ("fulfillsType", "Offer")
        )
    )
}
