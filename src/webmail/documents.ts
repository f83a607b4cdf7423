import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Html, html } from '../portal/html.ts';
import type { AssetSet } from './asset.ts';
import { languageChoice, languageOf } from '../http/language.ts';
import { firstReadsUrl } from './first-reads.ts';
import { PAGE_TEXTS } from './page-texts.ts';

/** Headers of all documents of web mail. */
const COMMON = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
} as const;

/** Paths that the application reads first without {@link firstReadsUrl}: for another account than the first one. */
const READS_OF_ACCOUNT = ['/mail/jmap/session', '/mail/snoozed'];

/** The document that the application runs in. `inbox`: JMAP id. */
export function sendShell(
  request: FastifyRequest,
  reply: FastifyReply,
  assets: AssetSet,
  inbox: string | undefined,
): FastifyReply {
  const importMap = assets.importMapOf(languageOf(request));
  const hash = createHash('sha256').update(importMap).digest('base64');
  const policy = [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self' data: blob:",
    "connect-src 'self'",
    "frame-src 'self'",
    "worker-src 'self'",
    "manifest-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
  void reply.headers({ ...COMMON, 'content-security-policy': policy, 'x-frame-options': 'DENY' });
  return reply
    .type('text/html; charset=utf-8')
    .send(`<!doctype html>\n${shell(request, assets, { importMap, inbox }).text}\n`);
}

/** The import map has names of files and a hash only: nothing in it can end its element. */
function shell(
  request: FastifyRequest,
  { base, scriptOf }: AssetSet,
  { importMap, inbox }: { importMap: string; inbox: string | undefined },
): Html {
  const language = languageOf(request);
  const texts = PAGE_TEXTS[language];
  const isFirstAccount = inbox !== undefined && (request.query as { account?: unknown }).account === undefined;
  const first = isFirstAccount ? firstReadsUrl(inbox) : '';
  return html`<html
    lang="${language}"
    data-language-choice="${languageChoice(request) ?? ''}"
    data-inbox="${inbox ?? ''}"
    data-first="${first}"
  >
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
      <meta name="theme-color" content="#fbfaf7" media="(prefers-color-scheme: light)" />
      <meta name="theme-color" content="#16191a" media="(prefers-color-scheme: dark)" />
      <title>${texts.mail} - Mailstead</title>
      <link rel="manifest" href="/mail/manifest.webmanifest" />
      <link rel="icon" href="/mail/icon.svg" type="image/svg+xml" />
      <link rel="stylesheet" href="${base}style.css" />
      ${(first === '' ? READS_OF_ACCOUNT : [first]).map((path) => html`<link rel="preload" as="fetch" href="${path}" crossorigin="anonymous" />`)}
      ${new Html(`<script type="importmap">${importMap}</script>`)}
      <script defer src="${base}${scriptOf(language)}"></script>
    </head>
    <body>
      <div id="app"><p class="starting">${texts.opening}</p></div>
      <noscript><p class="starting">${texts.needsScripts}</p></noscript>
    </body>
  </html>`;
}

/** An empty document for one message. It can run no script, load nothing but images given to it, and submit nothing. */
export function sendFrame(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const origin = `${request.protocol}://${request.host}`;
  const policy = [
    "default-src 'none'",
    "style-src 'unsafe-inline'",
    `img-src data: blob: ${origin}/mail/image`,
    "form-action 'none'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    'sandbox allow-same-origin allow-popups allow-popups-to-escape-sandbox',
  ].join('; ');
  return sendEmpty(reply, policy);
}

/**
 * An empty document whose window parses the HTML of messages into inert documents, before it is sanitized. Its policy allows
 * the styles that the parser meets; nothing is ever shown in it.
 */
export function sendParser(reply: FastifyReply): FastifyReply {
  return sendEmpty(reply, "default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; frame-ancestors 'self'");
}

/**
 * The document in which a PDF document of a message is drawn. It has an origin of its own, so it can read no cookie and no
 * mail, and loads nothing but its scripts and its style: what a stranger's document makes of PDF.js can reach nobody.
 */
export function sendPdfViewer(request: FastifyRequest, reply: FastifyReply, { base }: AssetSet): FastifyReply {
  const files = `${request.protocol}://${request.host}${base}`;
  const policy = [
    "default-src 'none'",
    `script-src ${files}`,
    'worker-src blob:',
    `style-src ${files}`,
    "form-action 'none'",
    "frame-ancestors 'self'",
    "base-uri 'none'",
    'sandbox allow-scripts',
  ].join('; ');
  void reply.headers({ ...COMMON, 'content-security-policy': policy, 'x-frame-options': 'SAMEORIGIN' });
  const page = html`<html lang="${languageOf(request)}">
    <head>
      <meta charset="utf-8" />
      <title>PDF</title>
      <link rel="stylesheet" href="${base}pdf/viewer.css" />
      <script type="module" src="${base}pdf/viewer.ts"></script>
    </head>
    <body>
      <main></main>
    </body>
  </html>`;
  return reply.type('text/html; charset=utf-8').send(`<!doctype html>\n${page.text}\n`);
}

function sendEmpty(reply: FastifyReply, policy: string): FastifyReply {
  void reply.headers({ ...COMMON, 'content-security-policy': policy, 'x-frame-options': 'SAMEORIGIN' });
  return reply.type('text/html; charset=utf-8').send('<!doctype html>\n<html><head></head><body></body></html>\n');
}
