#include "report/style.hpp"

namespace lugpu::report {

// Colours s0 to s7 differ from the paper by a contrast of 4.5 or more, light and dark.
const char* const kStyle = R"css(
:root {
  color-scheme: light dark;
  --paper: #ffffff; --ink: #1d2127; --dim: #59616c; --rule: #d9dde3; --soft: #f3f5f8; --bad: #b3261e;
  --s0: #0060a8; --s1: #b3440a; --s2: #00725a; --s3: #a0307a; --s4: #80600a; --s5: #5a52cc;
  --s6: #0b6e80; --s7: #50565e;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #14171b; --ink: #e6e9ed; --dim: #a0a8b3; --rule: #363c45; --soft: #1e2228; --bad: #ff8a80;
    --s0: #62b3ff; --s1: #ff9a66; --s2: #45cfa5; --s3: #f08fd0; --s4: #e2c14d; --s5: #aaa5ff;
    --s6: #5fd0e0; --s7: #b8c0ca;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0 auto; padding: 1.2rem 1rem 3rem; max-width: 74rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1 { font-size: 1.7rem; line-height: 1.2; margin: .2rem 0 .3rem; }
h2 { font-size: 1.25rem; margin: 2.6rem 0 .6rem; padding-top: .6rem; border-top: 2px solid var(--rule); }
h2::first-letter { text-transform: uppercase; }
p { margin: .4rem 0; max-width: 46rem; }
a { color: var(--s0); }
.dim, figcaption span { color: var(--dim); }
.bad { color: var(--bad); }
ul.plain { margin: .4rem 0; padding-left: 1.2rem; max-width: 52rem; }
nav ul { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; list-style: none; margin: .8rem 0 0; padding: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .4rem 0 1rem; }
dt { color: var(--dim); }
dd { margin: 0; }
code { font: .88em/1.5 ui-monospace, monospace; }
.figures { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); gap: 1.6rem 2rem; }
figure { margin: 0; break-inside: avoid; }
figcaption { margin-bottom: .3rem; line-height: 1.35; }
figcaption span { display: block; font-size: .88rem; }
h3 { font-size: 1rem; margin: 1rem 0 .3rem; }
figure > svg { display: block; width: 100%; height: auto; }
svg text { fill: var(--ink); font: 12px system-ui, sans-serif; }
svg .end { text-anchor: end; }
svg .middle { text-anchor: middle; }
svg .name, svg .note { fill: var(--dim); }
svg .note { paint-order: stroke; stroke: var(--paper); stroke-width: 3px; }
svg .inside { fill: var(--paper); font-size: 11px; }
svg .grid { stroke: var(--rule); }
svg .axis { stroke: var(--dim); }
svg .level { stroke: var(--ink); stroke-width: 1.2; }
svg .losing { fill: var(--soft); }
svg .line { fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linejoin: round; }
svg .rival .line, .key.rival .line { stroke-dasharray: 5 3; }
svg .mark { fill: currentColor; stroke: currentColor; stroke-width: 1.4; }
svg .rival .mark, .key.rival .mark { fill: var(--paper); }
svg .band { fill: currentColor; opacity: .2; }
svg .whisker { stroke: currentColor; stroke-width: 1; }
svg .cross { stroke: var(--bad); stroke-width: 2; }
svg .part { fill: currentColor; stroke: var(--paper); }
.s0 { color: var(--s0); } .s1 { color: var(--s1); } .s2 { color: var(--s2); } .s3 { color: var(--s3); }
.s4 { color: var(--s4); } .s5 { color: var(--s5); } .s6 { color: var(--s6); } .s7 { color: var(--s7); }
.legend { display: flex; flex-wrap: wrap; gap: .1rem 1rem; list-style: none; margin: .2rem 0 0; padding: 0; font-size: .88rem; }
.key { height: .8em; width: auto; margin-right: .35em; vertical-align: -.05em; }
.beside { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 0 3rem; }
.beside > * { max-width: 100%; }
.scroll { overflow-x: auto; margin: 1rem 0; }
.scroll:focus-visible { outline: 2px solid var(--s0); }
table { border-collapse: collapse; font-size: .88rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
caption span { display: inline-block; position: sticky; left: 0; max-width: calc(100vw - 2rem); }
th, td { text-align: left; font-weight: normal; padding: .2rem .8rem .2rem 0; border-bottom: 1px solid var(--rule); vertical-align: top; overflow-wrap: normal; }
thead th { color: var(--dim); vertical-align: bottom; }
tbody th { min-width: 3.5rem; }
.group th { font-weight: 600; padding-top: .7rem; }
.group th span { position: sticky; left: 0; }
td.status { min-width: 14rem; }
.num { text-align: right; }
.num { white-space: nowrap; }
@media screen and (max-width: 30rem) {
  table { font-size: .78rem; }
  th, td { padding-right: .5rem; }
}
@media print {
  :root {
    color-scheme: light;
    --paper: #ffffff; --ink: #000000; --dim: #444444; --rule: #bbbbbb; --soft: #f0f0f0; --bad: #a00000;
    --s0: #0060a8; --s1: #b3440a; --s2: #00725a; --s3: #a0307a; --s4: #80600a; --s5: #5a52cc;
    --s6: #0b6e80; --s7: #50565e;
  }
  @page { margin: 14mm; }
  html { font-size: 10pt; }
  body { max-width: none; padding: 0; font-size: 10pt; print-color-adjust: exact; }
  nav { display: none; }
  .figures { grid-template-columns: 1fr 1fr; gap: 5mm 8mm; }
  .scroll { overflow: visible; }
  table { font-size: 7pt; }
  th, td { padding-right: .45rem; }
  td.status { min-width: 0; }
  caption span { max-width: none; }
  tr { break-inside: avoid; }
  h2 { break-after: avoid; }
}
)css";

}  // namespace lugpu::report
