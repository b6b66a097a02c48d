/// JavaScript that measures a page.
enum PageMeasures {
    /// The number of blocks of code of which a part is out of sight.
    static let cutCode = """
        [...document.querySelectorAll("pre")].filter((pre) => pre.scrollWidth > pre.clientWidth).length
        """

    /// Width of the page beyond the window.
    static let overflow = "document.documentElement.scrollWidth - document.documentElement.clientWidth"

    static let html = "document.documentElement.outerHTML"

    /// Places of the ages of the cards of a feed: below the polls, or beside them at the right end; what is wrong with any
    /// other. Each age is tried with a short text and with the longest.
    static let agePlaces = """
        [...document.querySelectorAll("article .caption")].flatMap((caption) =>
          ["now", "in 36499 d 23 h 2026-01-01 12:00:05 UTC"].map((text) => {
            const time = caption.querySelector("time"), former = time.innerHTML;
            time.textContent = text;
            const [age, polls, all] = [time, caption.querySelector("span"), caption]
              .map((element) => element.getBoundingClientRect());
            time.innerHTML = former;
            if (age.height > 2 * parseFloat(getComputedStyle(time).fontSize)) return "wrapped: " + text;
            if (age.top >= polls.bottom - 1) return Math.abs(age.left - all.left) <= 1 ? "below" : "not at the left";
            return Math.abs(age.right - all.right) <= 1 ? "right" : "not at the right";
          }))
        """

    /// The text of every element whose contrast with what is behind it is below 4.5, with the contrast.
    static let weakContrasts = """
        (() => {
          const parse = (text) => (text.match(/[\\d.]+/g) ?? [0, 0, 0, 0]).map(Number);
          const part = (value) => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
          const light = ([r, g, b]) => 0.2126 * part(r) + 0.7152 * part(g) + 0.0722 * part(b);
          const behind = (element) => {
            for (let e = element; e; e = e.parentElement) {
              const colour = parse(getComputedStyle(e).backgroundColor);
              if (colour.length < 4 || colour[3] === 1) return colour;
            }
            return [255, 255, 255];
          };
          const weak = [];
          const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const element = walker.currentNode.parentElement, text = walker.currentNode.data.trim();
            if (!text || !element.checkVisibility() || element.closest("script, style")) continue;
            const [a, b] = [light(parse(getComputedStyle(element).color)), light(behind(element))];
            const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
            if (contrast < 4.5) weak.push(text + ": " + contrast.toFixed(2));
          }
          return weak;
        })()
        """
}
