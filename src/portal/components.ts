import { type Html, html, type HtmlPart } from './html.ts';
import { ENGLISH, type Translator } from './translator.ts';

/** Date and time, UTC: the server does not know the reader's zone. A script of the page replaces it. */
export function timestamp(at: string | number, t: Translator = ENGLISH): Html {
  const date = new Date(at);
  return html`<time datetime="${date.toISOString()}" title="${date.toISOString()}" data-local
    >${t.dates.minute.format(date)} UTC</time
  >`;
}

/** The same with seconds. */
export function timestampWithSeconds(at: string, t: Translator = ENGLISH): Html {
  const date = new Date(at);
  return html`<time datetime="${date.toISOString()}" data-local="seconds">${t.dates.second.format(date)} UTC</time>`;
}

/** Date, UTC. */
export function dateOnly(at: string, t: Translator = ENGLISH): Html {
  const date = new Date(at);
  return html`<time datetime="${date.toISOString()}" title="${date.toISOString()}">${t.dates.day.format(date)}</time>`;
}

export function bytes(count: number, { language }: Translator = ENGLISH): string {
  if (language !== 'en') return localBytes(count, language);
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const step = count < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step] ?? ''}`;
}

const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

function localBytes(count: number, language: string): string {
  const step = count < 1000 ? 0 : Math.min(BYTE_UNITS.length - 1, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** step;
  const maximumFractionDigits = step === 0 || value >= 100 ? 0 : 1;
  // The short form of bytes has no plural.
  const unitDisplay = step === 0 ? 'long' : 'short';
  const format = { style: 'unit', unit: BYTE_UNITS[step] ?? 'byte', unitDisplay, maximumFractionDigits } as const;
  return new Intl.NumberFormat(language, format).format(value);
}

/** A duration as people say it, rounded down. */
export function durationOf(seconds: number, { language }: Translator = ENGLISH): string {
  if (language !== 'en') return localDuration(seconds, language);
  if (seconds < 60) return `${seconds < 1 && seconds > 0 ? seconds : Math.floor(seconds)} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} days`;
}

function localDuration(seconds: number, language: string): string {
  const [step, unit] =
    seconds < 60
      ? ([1, 'second'] as const)
      : seconds < 3600
        ? ([60, 'minute'] as const)
        : seconds < 48 * 3600
          ? ([3600, 'hour'] as const)
          : ([86_400, 'day'] as const);
  const value = seconds < 1 ? seconds : Math.floor(seconds / step);
  return new Intl.NumberFormat(language, { style: 'unit', unit, unitDisplay: 'short' }).format(value);
}

export function tag(text: HtmlPart, look: 'ok' | 'warn' | 'bad' | '' = ''): Html {
  return html`<span class="tag ${look}">${text}</span>`;
}

/** An email address with a line break opportunity after the @. */
export function address(text: string): HtmlPart {
  const at = text.lastIndexOf('@') + 1;
  return at === 0 ? text : html`${text.slice(0, at)}<wbr />${text.slice(at)}`;
}

/** A DNS name with line break opportunities after its dots. */
export function breakableName(text: string): HtmlPart {
  return text.split('.').map((label, at) => (at === 0 ? label : html`.<wbr />${label}`));
}

/** Untrusted text as a quotation, so that it cannot pass for text of the page. */
export function quotedText(words: HtmlPart): Html {
  return html`<q class="said" dir="auto">${words}</q>`;
}

/** Heading of a page with a description and an action. */
export function pageHead(title: HtmlPart, about?: HtmlPart, beside?: HtmlPart): Html {
  return html`<div class="head">
    <div>
      <h1>${title}</h1>
      ${about !== undefined && html`<p>${about}</p>`}
    </div>
    ${beside}
  </div>`;
}

/** Link back to the list. */
export function backLink(href: string, name: string): Html {
  return html`<a class="crumb" href="${href}">&larr; ${name}</a>`;
}

/** Placeholder for an empty list, with the next step. */
export function emptyState(title: string, next: HtmlPart): Html {
  return html`<div class="empty"><strong>${title}</strong>${next}</div>`;
}

/** A table. On small screens each row is a card with the headings beside the values. */
export function table(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly HtmlPart[])[],
  t: Translator = ENGLISH,
): Html {
  return html`<div class="table">
    <table>
      <caption class="hidden">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${headings.map((one) => html`<th scope="col">${one === '' ? html`<span class="hidden">${t('table.actions')}</span>` : one}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${rows.map(
          (row) =>
            html`<tr>
              ${row.map((cell, i) => cellOf(cell, headings[i] ?? ''))}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
}

/** Keeps short cells narrow, so that long ones have room. */
function cellOf(cell: HtmlPart, heading: string): Html {
  const short = typeof cell === 'number' || (typeof cell === 'string' && cell.length <= 8);
  const look = heading === '' ? 'end' : short ? 'short' : '';
  return html`<td data-label="${heading}" class="${look}"><div>${cell}</div></td>`;
}

export function descriptionList(rows: readonly (readonly [HtmlPart, HtmlPart] | false)[]): Html {
  return html`<dl class="facts">
    ${rows.map(
      (row) =>
        row !== false &&
        html`<dt>${row[0]}</dt>
          <dd>${row[1]}</dd>`,
    )}
  </dl>`;
}

/** A part of a page that a script keeps up to date as long as it `changes`; without scripts it says how to. */
export function liveSection(id: string, changes: boolean, body: HtmlPart, t: Translator = ENGLISH): Html {
  return html`<div id="${id}" class="live" ${changes && html`data-live-section`}>
    ${body} ${changes && html`<p class="small soft" data-without-script>${t('import.reload')}</p>`}
  </div>`;
}

/** A bar of what is done of a whole. */
export function progressBar(label: string, done: number, whole: number): Html {
  return html`<progress aria-label="${label}" max="${whole}" value="${Math.min(done, whole)}"></progress>`;
}

/** Several buttons in a row. */
export function buttonRow(...all: readonly HtmlPart[]): Html {
  return html`<div class="acts">${all}</div>`;
}

/** Link to the next page of a list. */
export function nextPage(path: string, cursor: string | null | undefined, t: Translator = ENGLISH): HtmlPart {
  return (
    typeof cursor === 'string' &&
    html`<p class="pages">
      <a href="${path}${path.includes('?') ? '&' : '?'}after=${encodeURIComponent(cursor)}"
        >${t('layout.more')} &rarr;</a
      >
    </p>`
  );
}

/** Cursor from the query string. */
export function cursorOf(query: Readonly<Record<string, unknown>>): { cursor?: string } {
  const { after } = query;
  return typeof after === 'string' && after.length <= 200 ? { cursor: after } : {};
}

/** A secret that is shown once. */
export function secret(title: string, rows: readonly (readonly [string, string])[], about: HtmlPart): Html {
  return html`<div class="secret" role="status">
    <h2>${title}</h2>
    ${rows.map(
      ([name, value]) =>
        html`<div>
          ${rows.length > 1 && html`<p class="small soft">${name}</p>`}
          <output aria-label="${name}">${value}</output>
        </div>`,
    )}
    <p class="small">${about}</p>
  </div>`;
}
