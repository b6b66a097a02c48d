extension PollKind {
    /// Confirmations of claims of the identity.
    public static let confirmationsOfMyClaims = PollKind(
        PollTraits(
            name: "confirmations_of_my_claims",
            item: .confirmation,
            endpoint: .claims,
            scope: .links(to: PollTraits.OwnReport(endpoint: .claims, roles: ["issuer"])),
            announced: "Confirmations of the account's own claims",
            leftOut: "no confirmation of a claim of the account",
            filter: ("claimType", "AgreeAction")
        )
    )
}
