import { type Html, html, type Part } from './html.ts';

const DATE = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
const TIME = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** A moment, UTC. */
export function moment(at: string | number): Html {
  const date = new Date(at);
  return html`<time datetime="${date.toISOString()}" title="${date.toISOString()}">${TIME.format(date)}</time>`;
}

/** A day, UTC. */
export function day(at: string): Html {
  const date = new Date(at);
  return html`<time datetime="${date.toISOString()}" title="${date.toISOString()}">${DATE.format(date)}</time>`;
}

export function bytes(count: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB'];
  const step = count < 1000 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(count) / 3));
  const value = count / 1000 ** step;
  return `${step === 0 || value >= 100 ? Math.round(value) : value.toFixed(1)} ${units[step] ?? ''}`;
}

export function tag(text: string, look: 'ok' | 'warn' | 'bad' | '' = ''): Html {
  return html`<span class="tag ${look}">${text}</span>`;
}

/** A mail address, which breaks behind its @ when it has to. */
export function address(text: string): Part {
  const at = text.lastIndexOf('@') + 1;
  return at === 0 ? text : html`${text.slice(0, at)}<wbr />${text.slice(at)}`;
}

/** Words of others, set apart: nothing in them passes for words of the page. */
export function theirs(words: Part): Html {
  return html`<q class="said" dir="auto">${words}</q>`;
}

/** A page's own head: what it is, and what for. */
export function head(title: Part, about?: Part, beside?: Part): Html {
  return html`<div class="head">
    <div>
      <h1>${title}</h1>
      ${about !== undefined && html`<p>${about}</p>`}
    </div>
    ${beside}
  </div>`;
}

/** The way back to the list that a thing is of. */
export function crumb(href: string, name: string): Html {
  return html`<a class="crumb" href="${href}">&larr; ${name}</a>`;
}

/** What stands where nothing is yet: what belongs here, and what to do. */
export function empty(title: string, next: Part): Html {
  return html`<div class="empty"><strong>${title}</strong>${next}</div>`;
}

/** A table; on small screens each row is a card and the headings stand beside the values. */
export function table(caption: string, headings: readonly string[], rows: readonly (readonly Part[])[]): Html {
  return html`<div class="table">
    <table>
      <caption class="hidden">
        ${caption}
      </caption>
      <thead>
        <tr>
          ${headings.map((one) => html`<th scope="col">${one === '' ? html`<span class="hidden">Actions</span>` : one}</th>`)}
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

/** What is short keeps to itself, so that what is long has room. */
function cellOf(cell: Part, heading: string): Html {
  const short = typeof cell === 'number' || (typeof cell === 'string' && cell.length <= 8);
  const look = heading === '' ? 'end' : short ? 'short' : '';
  return html`<td data-label="${heading}" class="${look}"><div>${cell}</div></td>`;
}

export function facts(rows: readonly (readonly [string, Part] | false)[]): Html {
  return html`<dl class="facts">
    ${rows.map(
      (row) =>
        row !== false &&
        html`<dt>${row[0]}</dt>
          <dd>${row[1]}</dd>`,
    )}
  </dl>`;
}

/** Several small acts beside one another. */
export function acts(...all: readonly Part[]): Html {
  return html`<div class="acts">${all}</div>`;
}

/** The way to the rest of a list. */
export function nextPage(path: string, cursor: string | null | undefined): Part {
  return (
    typeof cursor === 'string' &&
    html`<p class="pages"><a href="${path}?after=${encodeURIComponent(cursor)}">More &rarr;</a></p>`
  );
}

/** The cursor that a page was asked with. */
export function cursorOf(query: Readonly<Record<string, unknown>>): { cursor?: string } {
  const { after } = query;
  return typeof after === 'string' && after.length <= 200 ? { cursor: after } : {};
}

/** A secret that is shown once, to be copied whole. */
export function secret(title: string, rows: readonly (readonly [string, string])[], about: Part): Html {
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
