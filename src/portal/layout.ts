import { version } from '../core/version.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LANGUAGES, languageChoice, languageLink } from '../http/language.ts';
import { clientModuleRoutes, mainModule } from './client-modules.ts';
import { ENGLISH, type Translator, translatorOf } from './translator.ts';

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
const STRIP_TOKEN = asset('strip-token.js', 'text/javascript; charset=utf-8');

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
  /** The request that the page answers: it has the language of the reader. */
  request: FastifyRequest;
  body: HtmlPart;
  /** True for a page whose title and body are English in every language: they are marked so. */
  untranslated?: boolean | undefined;
  /** Leaves out the choice of a language, whose links have the address of the page: errors repeat nothing of a request. */
  withoutLanguages?: boolean;
  /** Opened by a link: strips the token from the address bar. */
  fromLink?: boolean;
  /** Loads the scripts of the portal. */
  scripts?: boolean;
  /** A script that the page needs. */
  script?: 'passkey' | undefined;
}

function document(parts: DocumentParts): string {
  const { title, request, body, fromLink = false, scripts = false, script } = parts;
  const { language } = translatorOf(request);
  return `<!doctype html>\n${
    html`<html lang="${language}">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title ${englishMark(parts)}>${title}</title>
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

/** Marks English words on a page in another language: screen readers and browsers choose the voice and the translation by it. */
function englishMark({ request, untranslated }: Pick<DocumentParts, 'request' | 'untranslated'>): HtmlPart {
  return untranslated === true && translatorOf(request) !== ENGLISH && html`lang="en"`;
}

/** A narrow page with one form: sign in, claim, set a password. */
export function narrowPage(page: DocumentParts & { wide?: boolean }): string {
  const body = html`<div class="narrow ${page.wide === true && 'wide'}">
    <a class="mark" href="/">${MARK} Mailstead</a>
    <main class="stack" ${englishMark(page)}>${page.body}</main>
    ${footer(page)}
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
  request: FastifyRequest;
  /** True for a page whose title and body are English in every language. */
  untranslated?: boolean | undefined;
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
  const { request, untranslated } = around;
  const t = translatorOf(request);
  return document({
    title: `${around.title} - Mailstead`,
    request,
    untranslated,
    scripts: around.searchPath !== undefined,
    script: around.script,
    body: html`<a class="skip" href="#content">${t('layout.skip')}</a>
      ${bar(around, t)}
      <div class="frame ${menu.length > 0 && 'with-side'}">
        ${menu.length > 0 && side(menu, t)}
        <main id="content" ${englishMark(around)}>${body}</main>
      </div>
      ${footer(around)}`,
  });
}

function bar({ person, formToken, organizations, searchPath }: PageFrame, t: Translator): Html {
  return html`<header class="bar">
    <a class="mark" href="/">${MARK} Mailstead</a>
    ${switcher(organizations, t)}
    <div class="end">
      ${searchPath !== undefined && searchLink(searchPath, t)}
      <a class="who" href="/account">${person}</a>
      <form class="inline" method="post" action="/logout">
        <input type="hidden" name="form" value="${formToken}" />
        <button class="text soft">${t('layout.sign-out')}</button>
      </form>
    </div>
  </header>`;
}

function searchLink(path: string, t: Translator): Html {
  return html`<a class="search-link" href="${path}" data-palette
    >${t('layout.search')} <kbd aria-hidden="true">Ctrl K</kbd></a
  >`;
}

function switcher(organizations: PageFrame['organizations'], t: Translator): HtmlPart {
  const here = organizations.find((one) => one.here);
  if (organizations.length === 0 || (organizations.length === 1 && here !== undefined)) {
    return here !== undefined && html`<span class="orgname">${here.name}</span>`;
  }
  return html`<details class="switch">
    <summary ${here !== undefined && html`aria-label="${t('layout.organization-of', { name: here.name })}"`}>
      ${here?.name ?? t('layout.organizations')}
    </summary>
    <ul>
      ${organizations.map((one) => html`<li><a href="${one.href}" ${one.here && CURRENT}>${one.name}</a></li>`)}
    </ul>
  </details>`;
}

const CURRENT = html`aria-current="page"`;

function side(menu: PageFrame['menu'], t: Translator): Html {
  return html`<nav class="side" aria-label="${t('layout.organization')}">
    <div>
      ${menu.map(
        ({ heading, links }) =>
          html`<h2>${heading}</h2>
            <ul>
              ${links.map(
                (one) => html`<li><a href="${one.href}" ${one.here && CURRENT}>${one.name}${counted(one, t)}</a></li>`,
              )}
            </ul>`,
      )}
    </div>
  </nav>`;
}

function counted({ count }: MenuLink, t: Translator): HtmlPart {
  return count > 0 && html` <span class="count">${count}<span class="hidden"> ${t('layout.pending')}</span></span>`;
}

function footer({ request, withoutLanguages }: Pick<DocumentParts, 'request' | 'withoutLanguages'>): Html {
  return html`<footer class="foot">
    Mailstead ${version()} ${withoutLanguages !== true && languageChoices(request)}
  </footer>`;
}

/** Each in its own language, as a reader looks for it who cannot read the page. */
const LANGUAGE_NAMES = { en: 'English', de: 'Deutsch', es: 'Español' } as const;

/** Links that show the page in each language, and in the browser's after a choice. */
function languageChoices(request: FastifyRequest): HtmlPart {
  const t = translatorOf(request);
  if (languageLink(request, t.language) === undefined) return undefined;
  const link = (language: (typeof LANGUAGES)[number]): Html => {
    const name = LANGUAGE_NAMES[language];
    if (language === t.language) return html`<li aria-current="true">${name}</li>`;
    return html`<li><a href="${languageLink(request, language)}" lang="${language}" rel="nofollow">${name}</a></li>`;
  };
  return html`<ul class="languages" aria-label="${t('layout.language')}">
    ${LANGUAGES.map(link)}
    ${languageChoice(request) !== undefined && html`<li><a href="${languageLink(request, undefined)}" rel="nofollow">${t('layout.language-browser')}</a></li>`}
  </ul>`;
}
