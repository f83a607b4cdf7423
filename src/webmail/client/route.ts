import { signal } from '@preact/signals';

/** Folder and thread that are open, as in the address bar. */
export interface Route {
  /** Folder id, or 'search'. */
  folder: string;
  /** The search, for 'search'. */
  search: string;
  thread: string | undefined;
}

export const route = signal<Route>({ folder: '', search: '', thread: undefined });

/** Reads `#/FOLDER[/THREAD]` or `#/search/TEXT[/THREAD]`. */
function readHash(): Route {
  const [folder = '', second, third] = location.hash.replace(/^#\/?/, '').split('/').map(decode);
  const isSearch = folder === 'search';
  return { folder, search: isSearch ? (second ?? '') : '', thread: isSearch ? third : second };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

/** The address of a folder, search or thread. */
export function hrefOf({ folder, search, thread }: Route): string {
  const parts = folder === 'search' ? [folder, search] : [folder];
  return `#/${[...parts, ...(thread === undefined ? [] : [thread])].map(encodeURIComponent).join('/')}`;
}

/** Opens a folder, search or thread; the browser's Back returns. */
export function go(next: Partial<Route>): void {
  location.hash = hrefOf({ ...route.value, thread: undefined, ...next });
}

export function watchRoute(): void {
  addEventListener('hashchange', () => {
    route.value = readHash();
  });
  route.value = readHash();
}

/** True while the settings are open, in the place of a folder. */
export function showsSettings(): boolean {
  return route.value.folder === 'settings';
}
