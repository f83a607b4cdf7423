import { wordsAround } from './words.ts';

const words = wordsAround(document.documentElement);

/** One result, as the server lists it. Its text is shown as text only. */
interface PaletteResult {
  kind: string;
  label: string;
  detail: string;
  href: string;
  /** True for a label that is English in every language. */
  english?: boolean;
}

const PAUSE_MS = 120;

/** Opens the command palette by Ctrl-K or Cmd-K, and by the search link of the page. */
export function openPaletteByKey(): void {
  const link = document.querySelector<HTMLAnchorElement>('a[data-palette]');
  if (link === null) return;
  const palette = new Palette(link.href);
  link.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    palette.open();
  });
  document.addEventListener('keydown', (event) => {
    if (event.key.toLowerCase() !== 'k' || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
    event.preventDefault();
    palette.open();
  });
}

/** A combobox with a list of results (ARIA 1.2): focus stays in the field, the arrow keys move the active result. */
class Palette {
  readonly #url: string;
  readonly #dialog = document.createElement('dialog');
  readonly #field = document.createElement('input');
  readonly #list = document.createElement('ul');
  readonly #status = document.createElement('p');
  #results: readonly PaletteResult[] = [];
  #active = 0;
  #request: AbortController | undefined;
  #timer = 0;

  constructor(url: string) {
    this.#url = `${url}.json`;
    this.#build();
  }

  open(): void {
    if (this.#dialog.open) return;
    if (!this.#dialog.isConnected) document.body.append(this.#dialog);
    this.#field.value = '';
    this.#dialog.showModal();
    this.#field.focus();
    this.#search();
  }

  #build(): void {
    this.#dialog.className = 'palette';
    this.#dialog.setAttribute('aria-label', words.search);
    Object.assign(this.#field, {
      type: 'text',
      role: 'combobox',
      autocomplete: 'off',
      spellcheck: false,
      maxLength: 320,
    });
    this.#field.placeholder = words.searchHint;
    for (const [name, value] of FIELD_ATTRIBUTES) this.#field.setAttribute(name, value);
    this.#list.id = 'palette-results';
    this.#list.setAttribute('role', 'listbox');
    this.#list.setAttribute('aria-label', words.results);
    this.#status.setAttribute('role', 'status');
    this.#status.className = 'small soft';
    this.#dialog.append(this.#field, this.#list, this.#status);
    this.#field.addEventListener('input', () => {
      clearTimeout(this.#timer);
      this.#timer = setTimeout(() => this.#search(), PAUSE_MS);
    });
    this.#field.addEventListener('keydown', (event) => this.#onKey(event));
    this.#dialog.addEventListener('click', (event) => {
      if (event.target === this.#dialog) this.#dialog.close();
    });
  }

  #search(): void {
    this.#request?.abort();
    const request = new AbortController();
    this.#request = request;
    void this.#load(this.#field.value, request.signal).then(
      (results) => this.#show(results),
      () => {
        if (!request.signal.aborted) this.#status.textContent = words.searchFailed;
      },
    );
  }

  async #load(query: string, signal: AbortSignal): Promise<PaletteResult[]> {
    const response = await fetch(`${this.#url}?q=${encodeURIComponent(query)}`, { signal });
    if (!response.ok) throw new Error(`search answered ${response.status}`);
    return ((await response.json()) as { results: PaletteResult[] }).results;
  }

  #show(results: readonly PaletteResult[]): void {
    this.#results = results;
    this.#list.replaceChildren(...results.map((one, at) => optionOf(one, at)));
    this.#list.hidden = results.length === 0;
    this.#field.setAttribute('aria-expanded', String(results.length > 0));
    this.#status.textContent = results.length === 0 ? words.nothingFound : words.resultCount(results.length);
    this.#select(0);
  }

  #onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) {
      event.preventDefault();
      this.#select(this.#active + step);
    } else if (event.key === 'Enter') {
      event.preventDefault();
      const chosen = this.#results[this.#active];
      if (chosen !== undefined) location.assign(chosen.href);
    }
  }

  #select(at: number): void {
    const many = this.#results.length;
    this.#active = many === 0 ? 0 : (at + many) % many;
    for (const [i, one] of [...this.#list.children].entries()) {
      one.setAttribute('aria-selected', String(i === this.#active));
      if (i === this.#active) one.scrollIntoView({ block: 'nearest' });
    }
    if (many === 0) this.#field.removeAttribute('aria-activedescendant');
    else this.#field.setAttribute('aria-activedescendant', `palette-${this.#active}`);
  }
}

const FIELD_ATTRIBUTES = [
  ['aria-label', words.search],
  ['aria-controls', 'palette-results'],
  ['aria-autocomplete', 'list'],
  ['aria-expanded', 'false'],
] as const;

function optionOf({ kind, label, detail, href, english }: PaletteResult, at: number): HTMLLIElement {
  const option = document.createElement('li');
  option.id = `palette-${at}`;
  option.setAttribute('role', 'option');
  const name = spanOf('palette-label', label);
  if (english === true) name.lang = 'en';
  option.append(name, spanOf('palette-detail', detail), spanOf('palette-kind', kind));
  option.addEventListener('click', () => location.assign(href));
  return option;
}

function spanOf(look: string, text: string): HTMLSpanElement {
  const span = document.createElement('span');
  span.className = look;
  span.textContent = text;
  return span;
}
