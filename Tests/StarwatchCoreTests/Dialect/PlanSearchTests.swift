import Foundation
import Testing

@testable import StarwatchCore

/// Searches for plans: their boxes and circles, their requests, and the pages that go by rows.
@Suite struct PlanSearchTests {
    private static let kind = PollKind.projectsOfInterest
    private static let me = DID("did:ethr:0x00000000000000000000000000000000000000c1")!

    private func circle(_ latitude: Double, _ longitude: Double, _ kilometers: Double) -> GeoCircle {
        GeoCircle(center: GeoPoint(latitude: latitude, longitude: longitude), kilometers: kilometers)
    }

    @Test func theCosineIsThatOfTheLibrary() {
        for degrees in stride(from: -360.0, through: 360, by: 0.5) {
            #expect(abs(GeoCircle.cosine(degrees) - cos(degrees * .pi / 180)) < 1e-13)
        }
    }

    @Test(arguments: [
        (52.52, 13.405, 20.0), (0, 0, 0.1), (-89, 20, 300), (89.99, 0, 1), (66, 179.9, 1000), (-17, -180, 50),
    ])
    func theBoxesHoldTheCircle(latitude: Double, longitude: Double, kilometers: Double) {
        let circle = circle(latitude, longitude, kilometers)
        for box in circle.boxes {
            #expect(-90 <= box.south && box.south < box.north && box.north <= 90)
            #expect(-180 <= box.west && box.west <= box.east && box.east <= 180)
        }
        // Points at nearly the distance, in all directions.
        let reach = kilometers / 6371.0088 * 0.999_99
        let north = latitude * .pi / 180
        for direction in stride(from: 0.0, to: 2 * .pi, by: 0.01) {
            let sine = sin(north) * cos(reach) + cos(north) * sin(reach) * cos(direction)
            let aside = atan2(sin(direction) * sin(reach) * cos(north), cos(reach) - sin(north) * sine)
            let turned = longitude + aside * 180 / .pi
            let point = GeoPoint(
                latitude: asin(sine) * 180 / .pi,
                longitude: turned > 180 ? turned - 360 : turned < -180 ? turned + 360 : turned
            )
            #expect(circle.contains(point))
            #expect(
                circle.boxes.contains { box in
                    (box.south...box.north).contains(point.latitude) && (box.west...box.east).contains(point.longitude)
                }
            )
        }
        var farther = circle
        farther.kilometers *= 0.999
        #expect(
            !farther.contains(
                GeoPoint(latitude: latitude + reach * 180 / .pi * (latitude < 0 ? 1 : -1), longitude: longitude)
            )
        )
    }

    @Test func aBoxCrossesNeitherAPoleNorTheMeridianOf180Degrees() {
        let cap = circle(89.9, 10, 50).boxes
        #expect(
            cap.count == 1 && cap[0].north == 90 && cap[0].south < 89.5 && cap[0].west == -180 && cap[0].east == 180
        )
        #expect(circle(10, 179.99, 5).boxes.count == 2)
        #expect(circle(10, -179.99, 5).boxes.map(\.west).max().map { $0 > 179 } == true)
        #expect(circle(10, 100, 5).boxes.count == 1)
    }

    @Test func aPlaceThatIsNoneIsOutside() {
        let circle = circle(52.52, 13.405, 20)
        for place in [(1e300, 0), (.nan, 0), (52.52, -.infinity), (-52.52, 13.405)] as [(Double, Double)] {
            #expect(!circle.contains(GeoPoint(latitude: place.0, longitude: place.1)))
        }
    }

    /// `afterId` and `beforeId` are numbers of rows in this report.
    @Test func theRequestFiltersByIdentifierAndPagesByRow() throws {
        let (after, before) = (id(1), id(9))
        var query = PageQuery(after: after, before: before)
        query.row = 51
        let chunk = PlanChunk(.word("garden"))
        let items = query.items(of: Self.kind, for: Self.me, plans: chunk, startCursor: "0").map { "\($0)=\($1)" }
        #expect(
            items == [
                "claimContents=garden", "jwtId_greaterThan=\(after.rawValue)", "jwtId_lessThan=\(before.rawValue)",
                "beforeId=51",
            ]
        )
        let first = PageQuery(after: nil).items(of: Self.kind, for: Self.me, startCursor: "0")
        #expect(first.map { "\($0)=\($1)" } == ["jwtId_greaterThan=0"])
    }

    private static let start = Timestamp(seconds: 1_767_225_600)

    private func id(_ seconds: Int) -> JWTID { .floor(.ulid, at: Self.start + .seconds(seconds)) }

    private func page(_ times: [Int], row: Int, more: Bool) throws -> Page {
        let rows = times.enumerated().map { index, time in
            #"{"jwtId":"\#(id(time).rawValue)","handleId":"p\#(time)","rowId":\#(row - index)}"#
        }
        let json = #"{"data":[\#(rows.joined(separator: ","))],"hitLimit":\#(more)}"#
        var decoder = PageDecoder(dialect: .endorser, kind: Self.kind, validation: .lenient, quarantine: false)
        decoder.validation = .strict
        return try decoder.decode(Array(json.utf8))
    }

    /// Anybody makes plans, so that one of them must not hold up all others.
    @Test func anOverlongHandleOfAnybodyIsReplacedByTheIdentifier() throws {
        let rows = [String(repeating: "x", count: 2049), "p1"].enumerated().map { index, handle in
            #"{"jwtId":"\#(id(2 - index).rawValue)","handleId":"\#(handle)","rowId":\#(9 - index)}"#
        }
        let json = #"{"data":[\#(rows.joined(separator: ","))],"hitLimit":false}"#
        let decoder = PageDecoder(dialect: .endorser, kind: Self.kind, validation: .lenient, quarantine: false)
        let page = try decoder.decode(Array(json.utf8))
        #expect(page.changes.map(\.change.plan) == [id(2).rawValue, "p1"])
    }

    /// While the second page is asked for, a plan of the first one can be edited, and one of the second page after that.
    @Test func joinedPagesMoveTheCursorNoFurtherThanTheFirstRequest() throws {
        var joined = try page([5, 30], row: 9, more: true)
        #expect(joined.lastRow == 8 && !joined.reordered)
        joined.add(try page([70, 1], row: 7, more: false), in: .endorser)
        joined.isWhole = true
        #expect(joined.changes.map(\.id) == [70, 30, 5, 1].map(id))
        var walk = PageWalk(dialect: .endorser, mode: .poll, cursor: id(0), resume: nil, chunks: 1)
        _ = walk.next(limit: nil)
        let plan = try walk.receive(joined, askedAt: Self.start + .seconds(60))
        #expect(walk.isComplete && plan.cursor == .advance(to: id(60)) && plan.interrupted?.top == id(60))
        // A single page is one view, so that the cursor follows its newest identifier.
        var other = PageWalk(dialect: .endorser, mode: .poll, cursor: id(0), resume: nil, chunks: 1)
        _ = other.next(limit: nil)
        #expect(
            try other.receive(page([5, 70], row: 9, more: false), askedAt: Self.start).cursor == .advance(to: id(70))
        )
    }

    @Test func aLongPageThatIsWholeIsTheLast() throws {
        var whole = try page(Array(1...60), row: 99, more: false)
        whole.isWhole = true
        var walk = PageWalk(dialect: .endorser, mode: .poll, cursor: id(0), resume: nil, chunks: 1)
        _ = walk.next(limit: nil)
        _ = try walk.receive(whole, askedAt: nil)
        #expect(walk.isComplete)
    }
}
