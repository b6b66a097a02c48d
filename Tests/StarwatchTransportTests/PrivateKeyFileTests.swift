import Testing

@testable import StarwatchTransport

@Suite struct PrivateKeyFileTests {
    private static let number = Hex.decode(Vector.keyHex.utf8)!
    private static let curve = element(0x06, DERReader.secp256k1)
    private static let otherCurve = element(0x06, [0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07])

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        content.count < 128
            ? [tag, UInt8(content.count)] + content : [tag, 0x81, UInt8(content.count)] + content
    }

    private static func pem(_ label: String, _ der: [UInt8]) -> [UInt8] {
        var text = Base64.encode(der)[...]
        var lines: [Substring] = []
        while !text.isEmpty {
            lines.append(text.prefix(64))
            text = text.dropFirst(64)
        }
        return Array("-----BEGIN \(label)-----\n\(lines.joined(separator: "\n"))\n-----END \(label)-----\n".utf8)
    }

    private static func sec1(curve: [UInt8]?, number: [UInt8] = number) -> [UInt8] {
        let publicKey = element(0xa1, element(0x03, [0] + Hex.decode(Vector.publicKeyHex.utf8)!))
        return element(
            0x30,
            element(0x02, [1]) + element(0x04, number) + (curve.map { element(0xa0, $0) } ?? []) + publicKey
        )
    }

    private static func pkcs8(curve: [UInt8]) -> [UInt8] {
        let algorithm = element(0x30, element(0x06, DERReader.ecPublicKey) + curve)
        return element(0x30, element(0x02, [0]) + algorithm + element(0x04, sec1(curve: nil)))
    }

    @Test func everyFormGivesTheSameKey() throws {
        let parameters = Self.pem("EC PARAMETERS", Self.curve)
        let forms: [[UInt8]] = [
            Array(Vector.keyHex.utf8), Array("0x\(Vector.keyHex.uppercased())\r\n".utf8),
            Self.pem("EC PRIVATE KEY", Self.sec1(curve: Self.curve)),
            parameters + Self.pem("EC PRIVATE KEY", Self.sec1(curve: Self.curve)),
            Self.pem("PRIVATE KEY", Self.pkcs8(curve: Self.curve)),
        ]
        for form in forms {
            #expect(try PrivateKeyFile.parse(form).key.address == EthereumAddress(Vector.did))
        }
    }

    @Test func aNumberWithoutItsLeadingZerosIsPadded() throws {
        let short = Self.pem("EC PRIVATE KEY", Self.sec1(curve: Self.curve, number: [5]))
        let long = String(repeating: "0", count: 63) + "5"
        #expect(try PrivateKeyFile.parse(short).key.address == PrivateKeyFile.parse(Array(long.utf8)).key.address)
    }

    @Test func otherCurvesAndEncryptedKeysHaveTheirOwnErrors() {
        #expect(throws: PrivateKeyFile.Failure.wrongCurve) {
            try PrivateKeyFile.parse(Self.pem("EC PRIVATE KEY", Self.sec1(curve: Self.otherCurve)))
        }
        #expect(throws: PrivateKeyFile.Failure.wrongCurve) {
            try PrivateKeyFile.parse(Self.pem("PRIVATE KEY", Self.pkcs8(curve: Self.otherCurve)))
        }
        #expect(throws: PrivateKeyFile.Failure.encrypted) {
            try PrivateKeyFile.parse(Self.pem("ENCRYPTED PRIVATE KEY", [0x30, 0]))
        }
    }

    @Test func truncatedKeysAreRejectedWithoutATrap() {
        let whole = Self.pkcs8(curve: Self.curve)
        for length in 0..<whole.count {
            #expect(throws: PrivateKeyFile.Failure.self) {
                try PrivateKeyFile.parse(Self.pem("PRIVATE KEY", Array(whole[..<length])))
            }
        }
    }

    @Test(arguments: ["", "12", String(repeating: "g", count: 64), "-----BEGIN PRIVATE KEY-----\nAAAA"])
    func otherTextsAreRejected(text: String) {
        #expect(throws: PrivateKeyFile.Failure.unreadable) { try PrivateKeyFile.parse(Array(text.utf8)) }
    }
}
