// Element scopes, implied end tags and misnested formatting elements, as browsers handle them. HTML 13.2.
/** Formatting elements: reopened after the end of the element in which they were left open. HTML 13.2.4.3. */
const FORMATTING = new Set('a b big code em font i nobr s small strike strong tt u'.split(' '));
/** Nothing is reopened after the end of these elements. */
const MARKERS = new Set('applet caption marquee object td template th'.split(' '));
const TABLE_PARTS = new Set('caption tbody td tfoot th thead tr'.split(' '));
/** Scope boundaries: an end tag inside one of these closes nothing outside of it. HTML 13.2.4.2. */
const SCOPE_ELEMENTS = [...MARKERS, 'select', 'table'];
const PARAGRAPHS =
  'address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary ul xmp';
const SPECIAL = new Set([
  ...PARAGRAPHS.split(' '),
  ...SCOPE_ELEMENTS,
  ...'button colgroup frameset iframe noembed noframes noscript script style tbody textarea tfoot thead title tr'.split(
    ' ',
  ),
]);
SPECIAL.delete('dialog');
/** Never closed, whatever end tags are written. */
const ROOT_ELEMENTS = new Set('html body'.split(' '));

const SCOPE_LIMITS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...['table', ...TABLE_PARTS].map((name) => [name, new Set('table template'.split(' '))] as const),
  ['p', new Set([...SCOPE_ELEMENTS, 'button'])],
  ['li', new Set([...SCOPE_ELEMENTS, 'ol', 'ul'])],
]);
const DEFAULT_SCOPE_LIMITS = new Set(SCOPE_ELEMENTS);
const LIST_ITEM_SCOPE_LIMITS = new Set(SPECIAL);
for (const name of ['address', 'div', 'p']) LIST_ITEM_SCOPE_LIMITS.delete(name);

/** Elements that a start tag closes implicitly. */
const IMPLIED_END_TAGS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
  ...PARAGRAPHS.split(' ').map((name) => [name, ['p']] as const),
  ['li', ['li', 'p']],
  ['dd', ['dd', 'dt', 'p']],
  ['dt', ['dd', 'dt', 'p']],
  ['td', ['td', 'th']],
  ['th', ['td', 'th']],
  ['tr', ['td', 'th', 'tr']],
  ['a', ['a']],
  ['nobr', ['nobr']],
]);
/** Browsers do not close a formatting element that contains more blocks than this. HTML 13.2.6.4.7. */
const MAX_BLOCKS = 7;

interface NamedElement {
  readonly name: string;
}

/** Returns the elements that a start tag with this name closes. */
export function implicitlyClosedBy(name: string): readonly string[] {
  return IMPLIED_END_TAGS.get(name) ?? [];
}

/** True for elements that browsers ignore outside of a table. */
export function requiresTable(name: string): boolean {
  return TABLE_PARTS.has(name);
}

/**
 * Returns the index of the open element that is closed, -1 for none. The first one is the body, which is never closed. `by`:
 * start tag that closes it; left out: its own end tag.
 */
export function findElementToClose(open: readonly NamedElement[], name: string, by?: string): number {
  if (ROOT_ELEMENTS.has(name)) return -1;
  const stops =
    by !== undefined && ['li', 'dd', 'dt'].includes(name)
      ? LIST_ITEM_SCOPE_LIMITS
      : (SCOPE_LIMITS.get(name) ?? (SPECIAL.has(name) || FORMATTING.has(name) ? DEFAULT_SCOPE_LIMITS : SPECIAL));
  let blocks = 0;
  for (let at = open.length - 1; at > 0; at--) {
    const one = open[at]?.name ?? '';
    if (one === name) return FORMATTING.has(name) && blocks > MAX_BLOCKS ? -1 : at;
    if (stops.has(one)) return -1;
    if (SPECIAL.has(one)) blocks += 1;
  }
  return -1;
}

/** Returns the elements inside a closed element that are reopened after it. */
export function elementsToReopen<T extends NamedElement>(name: string, inside: readonly T[]): T[] {
  if (FORMATTING.has(name)) return inside.filter((one) => FORMATTING.has(one.name) || SPECIAL.has(one.name));
  if (MARKERS.has(name)) return [];
  const end = inside.findIndex((one) => MARKERS.has(one.name));
  return inside.slice(0, end < 0 ? inside.length : end).filter((one) => FORMATTING.has(one.name));
}
