import { version } from '../core/version.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { clientModuleRoutes, mainModule } from './client-modules.ts';

interface Asset {
  path: string;
  type: string;
  bytes: Buffer;
}

function asset(name: string, type: string): Asset {
  const bytes = readFileSync(new URL(`./${name}`, import.meta.url));
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
  const [stem = '', ending = ''] = name.split('.');
  return { path: `/portal/${stem}-${hash}.${ending}`, type, bytes };
}

/** The style sheet. The content hash in its name allows caching without expiry. */
const STYLE = asset('style.css', 'text/css; charset=utf-8');
/** Removes the token from the address bar of a page that a link opened. Optional: pages work without it. */
const STRIP_TOKEN = asset('forget.js', 'text/javascript; charset=utf-8');

/** Passes the options of a page to the browser's passkeys. */
const PASSKEY = asset('passkey.js', 'text/javascript; charset=utf-8');

export function assetRoutes(app: FastifyInstance): void {
  clientModuleRoutes(app);
  for (const { path, type, bytes } of [STYLE, STRIP_TOKEN, PASSKEY]) {
    app.get(path, async (_request, reply) =>
      reply.header('cache-control', 'public, max-age=31536000, immutable').type(type).send(bytes),
    );
  }
}

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='%230f6b52' stroke-width='2' stroke-linejoin='round'%3E%3Cpath d='M3 10.5 12 4l9 6.5V20H3z'/%3E%3Cpath d='m3 10.5 9 5.5 9-5.5'/%3E%3C/svg%3E";

/** The logo. */
const MARK = html`<svg
  viewBox="0 0 24 24"
  fill="none"
  stroke="currentColor"
  stroke-width="1.9"
  stroke-linejoin="round"
  aria-hidden="true"
>
  <path d="M3 10.5 12 4l9 6.5V20H3z" />
  <path d="m3 10.5 9 5.5 9-5.5" />
</svg>`;

interface DocumentParts {
  title: string;
  /** English without it. */
  lang?: string;
  body: HtmlPart;
  /** Opened by a link: strips the token from the address bar. */
  fromLink?: boolean;
  /** Loads the scripts of the portal. */
  scripts?: boolean;
  /** A script that the page needs. */
  script?: 'passkey' | undefined;
}

function document({ title, lang = 'en', body, fromLink = false, scripts = false, script }: DocumentParts): string {
  return `<!doctype html>\n${
    html`<html lang="${lang}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="stylesheet" href="${STYLE.path}" />
        <link rel="icon" href="${ICON}" />
        ${fromLink && html`<script src="${STRIP_TOKEN.path}"></script>`}
        ${scripts && html`<script src="${mainModule()}" type="module"></script>`}
        ${script === 'passkey' && html`<script src="${PASSKEY.path}" defer></script>`}
      </head>
      <body>
        ${body}
      </body>
    </html>`.text
  }\n`;
}

/** A narrow page with one form: sign in, claim, set a password. */
export function narrowPage(page: DocumentParts & { wide?: boolean }): string {
  const body = html`<div class="narrow ${page.wide === true && 'wide'}">
    <a class="mark" href="/">${MARK} Mailstead</a>
    <main class="stack">${page.body}</main>
    ${footer()}
  </div>`;
  return document({ ...page, title: `${page.title} - Mailstead`, body });
}

interface MenuLink {
  name: string;
  href: string;
  here: boolean;
  /** Number of pending items. */
  count: number;
}

/** Header and menu around a signed-in visitor's page. */
export interface PageFrame {
  title: string;
  /** Display name of the visitor. */
  person: string;
  formToken: string;
  /** Page that searches the organization; undefined outside of one, where no script is loaded. */
  searchPath?: string | undefined;
  /** The visitor's organizations. */
  organizations: readonly { name: string; href: string; here: boolean }[];
  /** Pages of the current organization, by heading. */
  menu: readonly { heading: string; links: readonly MenuLink[] }[];
  /** A script that the page needs. */
  script?: 'passkey' | undefined;
}

export function fullPage(around: PageFrame, body: HtmlPart): string {
  const menu = around.menu.filter((group) => group.links.length > 0);
  return document({
    title: `${around.title} - Mailstead`,
    scripts: around.searchPath !== undefined,
    script: around.script,
    body: html`<a class="skip" href="#content">Skip to the content</a>
      ${bar(around)}
      <div class="frame ${menu.length > 0 && 'with-side'}">
        ${menu.length > 0 && side(menu)}
        <main id="content">${body}</main>
      </div>
      ${footer()}`,
  });
}

function bar({ person, formToken, organizations, searchPath }: PageFrame): Html {
  return html`<header class="bar">
    <a class="mark" href="/">${MARK} Mailstead</a>
    ${switcher(organizations)}
    <div class="end">
      ${searchPath !== undefined && searchLink(searchPath)}
      <a class="who" href="/account">${person}</a>
      <form class="inline" method="post" action="/logout">
        <input type="hidden" name="form" value="${formToken}" />
        <button class="text soft">Sign out</button>
      </form>
    </div>
  </header>`;
}

function searchLink(path: string): Html {
  return html`<a class="search-link" href="${path}" data-palette>Search <kbd aria-hidden="true">Ctrl K</kbd></a>`;
}

function switcher(organizations: PageFrame['organizations']): HtmlPart {
  const here = organizations.find((one) => one.here);
  if (organizations.length === 0 || (organizations.length === 1 && here !== undefined)) {
    return here !== undefined && html`<span class="orgname">${here.name}</span>`;
  }
  return html`<details class="switch">
    <summary ${here !== undefined && html`aria-label="Organization: ${here.name}"`}>
      ${here?.name ?? 'Organizations'}
    </summary>
    <ul>
      ${organizations.map((one) => html`<li><a href="${one.href}" ${one.here && CURRENT}>${one.name}</a></li>`)}
    </ul>
  </details>`;
}

const CURRENT = html`aria-current="page"`;

function side(menu: PageFrame['menu']): Html {
  return html`<nav class="side" aria-label="Organization">
    <div>
      ${menu.map(
        ({ heading, links }) =>
          html`<h2>${heading}</h2>
            <ul>
              ${links.map(
                (one) => html`<li><a href="${one.href}" ${one.here && CURRENT}>${one.name}${counted(one)}</a></li>`,
              )}
            </ul>`,
      )}
    </div>
  </nav>`;
}

function counted({ count }: MenuLink): HtmlPart {
  return count > 0 && html` <span class="count">${count}<span class="hidden"> pending</span></span>`;
}

function footer(): Html {
  return html`<footer class="foot">Mailstead ${version()}</footer>`;
}
