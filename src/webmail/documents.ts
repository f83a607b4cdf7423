import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Html, html } from '../portal/html.ts';
import type { AssetSet } from './asset.ts';
import { languageChoice, languageOf } from './language.ts';
import { PAGE_TEXTS } from './page-texts.ts';

/** Headers of all documents of web mail. */
const COMMON = {
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
} as const;

/** The document that the application runs in. */
export function sendShell(request: FastifyRequest, reply: FastifyReply, assets: AssetSet): FastifyReply {
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
  return reply.type('text/html; charset=utf-8').send(`<!doctype html>\n${shell(request, assets, importMap).text}\n`);
}

/** The import map has names of files and a hash only: nothing in it can end its element. */
function shell(request: FastifyRequest, { base, firstModulesOf }: AssetSet, importMap: string): Html {
  const language = languageOf(request);
  const texts = PAGE_TEXTS[language];
  return html`<html lang="${language}" data-language-choice="${languageChoice(request) ?? ''}">
    <head>
      <meta charset="utf-8" />
      <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover" />
      <meta name="theme-color" content="#fbfaf7" media="(prefers-color-scheme: light)" />
      <meta name="theme-color" content="#16191a" media="(prefers-color-scheme: dark)" />
      <title>${texts.mail} - Mailstead</title>
      <link rel="manifest" href="/mail/manifest.webmanifest" />
      <link rel="icon" href="/mail/icon.svg" type="image/svg+xml" />
      <link rel="stylesheet" href="${base}style.css" />
      ${new Html(`<script type="importmap">${importMap}</script>`)}
      ${firstModulesOf(language).map((name) => html`<link rel="modulepreload" href="${base}${name}" />`)}
      <script type="module" src="${base}main.ts"></script>
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

function sendEmpty(reply: FastifyReply, policy: string): FastifyReply {
  void reply.headers({ ...COMMON, 'content-security-policy': policy, 'x-frame-options': 'SAMEORIGIN' });
  return reply.type('text/html; charset=utf-8').send('<!doctype html>\n<html><head></head><body></body></html>\n');
}
