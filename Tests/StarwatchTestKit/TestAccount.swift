package import StarwatchCore

/// Accounts of tests.
package enum TestAccount {
    /// The DID of did-jwt's published test key.
    package static let ethr = DID("did:ethr:0xF3beAC30C498D9E26865F34fCAa57dBB935b0D74")!
    package static let key = DID("did:key:z6MkhaXgBZDvotDkL5257faiztiGiC2QtKLGpbnnEGta2doK")!
    package static let other = DID("did:ethr:0x00000000000000000000000000000000000000b0")!
}
