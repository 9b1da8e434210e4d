/** Follows the reader's choice of light or dark. */
export const STYLE = `
:root { color-scheme: light dark; --ink: #1d2129; --soft: #5c6470; --line: #dde1e7; --page: #fff; --card: #f6f7f9; --link: #0b5cad;
  --get: #1a7f4b; --post: #8a4b08; --bad: #b3261e; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa3b0; --line: #333a45; --page: #15181d; --card: #1d2127;
  --link: #7db7f5; --get: #63c995; --post: #e0a458; --bad: #f2867f; } }
body { font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--page); max-width: 62rem; margin: 2.5rem auto; padding: 0 1.2rem; }
h1 { font-size: 1.7rem; margin-bottom: .3rem; } h2 { font-size: 1.2rem; margin: 2.4rem 0 .2rem; }
h4 { font-size: .8rem; text-transform: uppercase; letter-spacing: .05em; color: var(--soft); margin: 1.2rem 0 .3rem; } h4:empty { display: none; }
a { color: var(--link); } p { max-width: 46rem; } ul { padding-left: 1.2rem; }
code { font: .9em ui-monospace, monospace; }
details { background: var(--card); border: 1px solid var(--line); border-radius: 8px; margin: .5rem 0; padding: .55rem .9rem; }
details:target { border-color: var(--link); }
summary { cursor: pointer; } .what { color: var(--soft); margin-left: .4rem; }
.method { display: inline-block; min-width: 3rem; font: 700 .78rem ui-monospace, monospace; } .get { color: var(--get); } .post { color: var(--post); }
.wide { overflow-x: auto; } table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th { text-align: left; font-weight: 600; color: var(--soft); } td, th { padding: .3rem .9rem .3rem 0; vertical-align: top; border-bottom: 1px solid var(--line); }
tr:last-child td { border-bottom: 0; } .type, small { color: var(--soft); } .needed { color: var(--bad); font-size: .78rem; }
.status { font: 700 .88rem ui-monospace, monospace; } .s2 { color: var(--get); } .s4, .s5 { color: var(--bad); }
`;
