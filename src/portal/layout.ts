import { version } from '../version.ts';
import { FORGET, STYLE } from './assets.ts';
import { type Html, html, type Part } from './html.ts';

const ICON =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 24' fill='none' stroke='%230f6b52' stroke-width='2' stroke-linejoin='round'%3E%3Cpath d='M3 10.5 12 4l9 6.5V20H3z'/%3E%3Cpath d='m3 10.5 9 5.5 9-5.5'/%3E%3C/svg%3E";

/** The mark: a house that is an envelope. */
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

interface Whole {
  title: string;
  body: Part;
  /** Opened by a link: the token leaves the address bar at once. */
  fromLink?: boolean;
}

function document({ title, body, fromLink = false }: Whole): string {
  return `<!doctype html>\n${
    html`<html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title}</title>
        <link rel="stylesheet" href="${STYLE.path}" />
        <link rel="icon" href="${ICON}" />
        ${fromLink && html`<script src="${FORGET.path}"></script>`}
      </head>
      <body>
        ${body}
      </body>
    </html>`.text
  }\n`;
}

/** A page with one thing to do: sign in, claim, set a password. */
export function narrowPage(page: { title: string; body: Part; fromLink?: boolean; wide?: boolean }): string {
  const body = html`<div class="narrow ${page.wide === true && 'wide'}">
    <a class="mark" href="/">${MARK} Mailstead</a>
    <main class="stack">${page.body}</main>
    ${foot()}
  </div>`;
  return document({ ...page, title: `${page.title} - Mailstead`, body });
}

interface MenuLink {
  name: string;
  href: string;
  here: boolean;
  /** What waits there; 0: nothing. */
  count: number;
}

/** What every page of somebody who is signed in has around it. */
export interface Surroundings {
  title: string;
  /** Who is signed in. */
  person: string;
  formToken: string;
  /** Where the person belongs, the present one marked. */
  organizations: readonly { name: string; href: string; here: boolean }[];
  /** The parts of the present organization, by heading. */
  menu: readonly { heading: string; links: readonly MenuLink[] }[];
}

export function fullPage(around: Surroundings, body: Part): string {
  const menu = around.menu.filter((group) => group.links.length > 0);
  return document({
    title: `${around.title} - Mailstead`,
    body: html`<a class="skip" href="#content">Skip to the content</a>
      ${bar(around)}
      <div class="frame ${menu.length > 0 && 'with-side'}">
        ${menu.length > 0 && side(menu)}
        <main id="content">${body}</main>
      </div>
      ${foot()}`,
  });
}

function bar({ person, formToken, organizations }: Surroundings): Html {
  return html`<header class="bar">
    <a class="mark" href="/">${MARK} Mailstead</a>
    ${switcher(organizations)}
    <div class="end">
      <a class="who" href="/account">${person}</a>
      <form class="inline" method="post" action="/logout">
        <input type="hidden" name="form" value="${formToken}" />
        <button class="text soft">Sign out</button>
      </form>
    </div>
  </header>`;
}

function switcher(organizations: Surroundings['organizations']): Part {
  const here = organizations.find((one) => one.here);
  if (organizations.length === 0 || (organizations.length === 1 && here !== undefined)) {
    return here !== undefined && html`<span class="orgname">${here.name}</span>`;
  }
  return html`<details class="switch">
    <summary aria-label="Organization: ${here?.name ?? 'choose one'}">${here?.name ?? 'Organizations'}</summary>
    <ul>
      ${organizations.map((one) => html`<li><a href="${one.href}" ${one.here && CURRENT}>${one.name}</a></li>`)}
    </ul>
  </details>`;
}

const CURRENT = html`aria-current="page"`;

function side(menu: Surroundings['menu']): Html {
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

function counted({ count }: MenuLink): Part {
  return count > 0 && html` <span class="count">${count}<span class="hidden"> waiting</span></span>`;
}

function foot(): Html {
  return html`<footer class="foot">Mailstead ${version()}</footer>`;
}
