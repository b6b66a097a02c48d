/// The word lists of the generator.
enum ProjectWords {
    static let names = [
        "Community Garden Fence", "Tool Library Shelves", "Creek Cleanup Saturday", "Repair Café Winter Season",
        "Neighborhood Solar Co-op", "Bike Kitchen Workstands", "School Pollinator Patch", "Elder Visit Rota",
        "Open Map of Footpaths", "Seed Exchange Cabinet", "Rain Barrel Workshop", "Night Market Stalls",
        "Little Free Pantry", "Youth Choir Instruments", "Accessible Playground Ramp", "Orchard Grafting Day",
        "Village Hall Roof", "Storytelling Evenings", "River Otter Survey", "Community Kiln",
        "Soup Kitchen Stove", "Language Exchange Table", "Beach Dune Planting", "Makerspace Laser Cutter",
        "Oral History Archive", "Weekly Walking Bus", "Compost Collection Round", "Bee Hotel Series",
        "Mutual Aid Phone Line", "Restored Footbridge", "Skate Park Lighting", "Winter Coat Drive",
        "Meadow Mowing Team", "Radio Studio Booth", "First Aid Evenings", "Library Reading Nook",
        "Wheelchair Repair Bench", "Harvest Sharing Map", "Street Tree Watering", "Chess Tables in the Park",
    ]

    static let places = [
        "Elm Street", "North Quarter", "Mill Lane", "Harbor Side", "Old Town", "Station Road", "Hillcrest",
        "Riverside", "Maple Court", "West End", "Canal Basin", "Orchard Row", "Market Square", "Lakeside",
        "Fir Avenue", "South Bank", "Chapel Hill", "Garden Suburb", "Long Meadow", "Quarry Hill", "Bridge Street",
        "Pine Ridge", "East Village", "Cedar Close", "Mission Yard",
    ]

    static let notes = [
        "Two more volunteers have joined; posts go in on Saturday.",
        "The materials arrived and are stored in the shed.",
        "We moved the start to ten o'clock because of the forecast.",
        "The permit came through, so work can begin.",
        "Half of the budget is covered. Thank you!",
        "New photos are up, and the next session has a date.",
        "We are looking for somebody with a van on Friday.",
        "The first stage is finished; a short report follows.",
        "The meeting point changed to the north gate.",
        "A local workshop lends us tools for the month.",
        "Sign-up is open for the last three places.",
        "We are done with measuring and order wood this week.",
    ]

    static let offers = [
        "An afternoon of digging", "Two boxes of screws", "Lunch for the helpers", "A ride with the trailer",
        "An hour of bookkeeping", "Paint left over from our hall", "Lending a ladder for a week",
    ]
}
