extension StatusPage {
    /// A five-pointed star in a box of 24.
    static let star: HTML = "M12 1.8l3.1 6.6 7.2.9-5.3 5 1.4 7.2L12 18l-6.4 3.5L7 14.3l-5.3-5 7.2-.9z"

    static let icon: HTML = """
        data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24'%3E%3Cpath fill='%23c28a1c' \
        d='M12 1.8l3.1 6.6 7.2.9-5.3 5 1.4 7.2L12 18l-6.4 3.5L7 14.3l-5.3-5 7.2-.9z'/%3E%3C/svg%3E
        """

    /// Every pair of text and background has a contrast of at least 4.5.
    static let style: HTML = """
        :root {
          --page: #f5f5f2; --card: #fff; --line: #e2e2dc; --text: #1f2328; --soft: #5c636b; --link: #2457a6;
          --good: #1f7a45; --good-page: #e2f3e8; --warn: #8a5a00; --warn-page: #fdf1d3;
          --bad: #b3261e; --bad-page: #fce6e4; --busy: #3b6fc4; --star: #c28a1c;
        }
        @media (prefers-color-scheme: dark) { :root {
          --page: #15171a; --card: #1e2125; --line: #31363c; --text: #e7e9ec; --soft: #a0a8b1; --link: #8db4f0;
          --good: #6fcf97; --good-page: #173424; --warn: #f0c35a; --warn-page: #3a2d0c;
          --bad: #ff9c94; --bad-page: #451c19; --busy: #7da7ea; --star: #e0b04c;
        } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; max-width: 68rem; padding: 1.5rem clamp(1rem, 4vw, 2rem) 2rem; background: var(--page);
          color: var(--text); font: 1rem/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif;
          font-variant-numeric: tabular-nums; -webkit-text-size-adjust: 100%; }
        header { display: flex; align-items: center; justify-content: space-between; gap: 1rem; margin-bottom: 1.25rem; }
        h1 { display: flex; align-items: center; gap: .5rem; margin: 0; font-size: 1.4rem; letter-spacing: -.01em; }
        h1 svg { width: 1.6rem; height: 1.6rem; fill: var(--star); }
        h2 { margin: 1.75rem 0 .6rem; font-size: .8rem; font-weight: 600; letter-spacing: .06em;
          text-transform: uppercase; color: var(--soft); }
        h3 { display: flex; align-items: center; justify-content: space-between; gap: .75rem; margin: 0 0 .75rem;
          font-size: 1.05rem; overflow-wrap: anywhere; }
        .grid { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(19rem, 100%), 1fr)); gap: .9rem; }
        article { background: var(--card); border: 1px solid var(--line); border-radius: .75rem; padding: 1rem 1.15rem; }
        dl { display: grid; grid-template-columns: auto minmax(0, 1fr); gap: .3rem 1rem; margin: 0; }
        dt { color: var(--soft); overflow-wrap: anywhere; }
        dd { margin: 0; text-align: right; overflow-wrap: anywhere; }
        small, .caption { font-size: .85rem; color: var(--soft); }
        @media (min-width: 26rem) { small { white-space: nowrap; } }
        .caption { margin: .35rem 0 .8rem; }
        .none { color: var(--soft); margin: 0; }
        .pill { display: inline-block; flex: none; padding: .1rem .6rem; border-radius: 1rem; font-size: .85rem;
          font-weight: 600; background: var(--line); color: var(--text); }
        .pill.good { background: var(--good-page); color: var(--good); }
        .pill.warn { background: var(--warn-page); color: var(--warn); }
        .pill.bad { background: var(--bad-page); color: var(--bad); }
        .banner { margin: 0 0 .75rem; padding: .75rem 1.1rem; border-radius: .75rem; border-left: .3rem solid; }
        .banner strong { display: block; }
        .banner.warn { background: var(--warn-page); border-color: var(--warn); }
        .banner.bad { background: var(--bad-page); border-color: var(--bad); }
        .banner ul { margin: .2rem 0 0; padding-left: 1.1rem; }
        .bar { display: block; width: 100%; height: .5rem; border-radius: .25rem; background: var(--line); }
        rect.good { fill: var(--good); } rect.warn { fill: var(--warn); } rect.bad { fill: var(--bad); }
        rect.busy { fill: var(--busy); }
        .numbers { display: grid; grid-template-columns: repeat(4, 1fr); gap: .5rem; margin-bottom: .9rem; }
        .number { color: var(--soft); font-size: .9rem; }
        .number b { display: block; font-size: clamp(1.3rem, 5vw, 1.8rem); line-height: 1.2; font-weight: 600;
          color: var(--text); }
        .number.bad, .number.bad b { color: var(--bad); }
        @media (min-width: 46rem) {
          dl.wide { grid-template-columns: 2fr 2fr 1fr; grid-template-rows: auto auto; grid-auto-flow: column;
            gap: 0 .5rem; }
          dl.wide dd { text-align: left; }
        }
        code { font: .9em ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; overflow-wrap: anywhere; }
        footer { margin-top: 1.75rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .9rem;
          color: var(--soft); }
        footer p { margin: .5rem 0 0; }
        nav { display: flex; flex-wrap: wrap; gap: 0 1.25rem; }
        a { color: var(--link); padding: .4rem 0; }

        """
}
