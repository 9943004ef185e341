"""The report's style: colours that people with colour blindness tell apart, in light and in dark.

Put here how the page looks. Not here: what is on it (``page``).
"""

from __future__ import annotations

from typing import Final

STYLE: Final = """
:root{color-scheme:light dark;--ink:#1c2126;--soft:#59636e;--line:#d7dce2;--page:#f6f7f9;--card:#fff;
--blue:#0072b2;--sky:#56b4e9;--green:#009e73;--yellow:#c99700;--orange:#d55e00;--red:#b3261e;--purple:#8e5aa8;
--grey:#8a939c}
@media(prefers-color-scheme:dark){:root{--ink:#e6e9ec;--soft:#a5afb9;--line:#39424b;--page:#14181c;--card:#1d2329;
--blue:#4aa8e0;--sky:#8fd0f5;--green:#2fc39a;--yellow:#e6b93c;--orange:#f0894a;--red:#f2776d;--purple:#c295da;
--grey:#8a939c}}
*{box-sizing:border-box}
body{margin:0 auto;padding:1rem;max-width:100rem;background:var(--page);color:var(--ink);
font:1rem/1.45 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif}
header p,section p,footer{color:var(--soft)}
h1{margin:0;font-size:1.7rem;overflow-wrap:anywhere}h2{margin:0;font-size:1.05rem}
header p{margin:.25rem 0 1rem;overflow-wrap:anywhere}section p{margin:.25rem 0 .75rem;font-size:.9rem}
.tiles{display:grid;gap:.75rem;margin:0 0 .75rem;grid-template-columns:repeat(auto-fit,minmax(8.5rem,1fr))}
.tiles div,section{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;
min-width:0}
.tiles dt,.tiles .more{color:var(--soft);font-size:.8rem}
.tiles dd{margin:0;font-size:1.25rem;font-weight:600;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.tiles dd.more{font-weight:400}.tiles .bad dd:not(.more){color:var(--red)}
main{display:grid;gap:.75rem;grid-template-columns:repeat(auto-fit,minmax(min(100%,23rem),1fr));align-items:start}
figure{margin:0}.legend{display:flex;flex-wrap:wrap;gap:.15rem .9rem;margin:0 0 .25rem;padding:0;list-style:none;
font-size:.85rem}
.legend i{display:inline-block;width:.7rem;height:.7rem;margin-right:.35rem;border-radius:.15rem}
svg{display:block;width:100%;max-width:34rem;height:auto;overflow:visible}
svg text{font-size:12px;fill:var(--soft)}
svg .axis.x text{text-anchor:middle}
svg .axis.y text,svg .horizontal .axis.y text{text-anchor:end}
svg .guide.line{fill:none;stroke:var(--line);stroke-width:1}svg .axis .line{fill:none;stroke:var(--line)}
svg .vertical .axis.x .guide.line,svg .horizontal .axis.y .guide.line{display:none}
svg .color-0{--c:var(--s0)}svg .color-1{--c:var(--s1)}svg .color-2{--c:var(--s2)}svg .color-3{--c:var(--s3)}
svg .color-4{--c:var(--s4)}svg .color-5{--c:var(--s5)}svg .color-6{--c:var(--s6)}
svg .reactive{fill:var(--c);stroke:none}svg .reactive:hover{opacity:.7}
svg path.reactive.line{fill:none;stroke:var(--c);stroke-width:2}
.nothing{padding:1rem 0}details{margin-top:.5rem}summary{cursor:pointer;color:var(--soft);font-size:.85rem}
.wide{overflow:auto;max-height:24rem}
table{border-collapse:collapse;width:100%;font-size:.85rem;font-variant-numeric:tabular-nums}
caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
th,td{padding:.25rem .5rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child{text-align:left}tbody th{font-weight:400}thead th{position:sticky;top:0;background:var(--card)}
footer{padding:1rem 0;font-size:.9rem}footer h2{font-size:.95rem}footer ul{margin:.25rem 0;padding-left:1.2rem}
@media print{body{background:none}section{break-inside:avoid}}
"""
