/** What HTML calls it when one element is looked for among those around it, and what browsers do where tags cross. HTML 13.2. */
const set = (names: string): ReadonlySet<string> => new Set(names.split(' '));

/** What begins in another element and is not ended in it goes on behind its end. HTML 13.2.4.3. */
const FORMATTING = set('a b big code em font i nobr s small strike strong tt u');
/** Nothing goes on behind the end of these. */
const MARKERS = set('applet caption marquee object td template th');
const TABLE_PARTS = set('caption tbody td tfoot th thead tr');
/** HTML 13.2.4.2: an end that stands in one of these ends nothing that is around it. */
const SCOPE = [...MARKERS, 'select', 'table'];
const PARAGRAPHS =
  'address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary ul xmp';
const SPECIAL = new Set([
  ...PARAGRAPHS.split(' ').filter((name) => name !== 'dialog'),
  ...SCOPE,
  ...'button colgroup frameset iframe noembed noframes noscript script style tbody textarea tfoot thead title tr'.split(
    ' ',
  ),
]);
/** Around the page, whatever ends of them are written. */
const PAGE = set('html body');

const STOPS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ...['table', ...TABLE_PARTS].map((name) => [name, set('table template')] as const),
  ['p', new Set([...SCOPE, 'button'])],
  ['li', new Set([...SCOPE, 'ol', 'ul'])],
]);
const USUAL_STOPS = new Set(SCOPE);
const ITEM_STOPS = new Set([...SPECIAL].filter((name) => !['address', 'div', 'p'].includes(name)));

/** What is often left open, by what begins behind it and ends it. */
const ENDS: ReadonlyMap<string, readonly string[]> = new Map<string, readonly string[]>([
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
/** More blocks than these in a formatting element, and browsers give up ending it. HTML 13.2.6.4.7. */
const MOST_BLOCKS = 7;

interface Named {
  readonly name: string;
}

/** What ends where an element of this name begins. */
export function endedBy(name: string): readonly string[] {
  return ENDS.get(name) ?? [];
}

/** Browsers leave it out where there is no table around it. */
export function needsTable(name: string): boolean {
  return TABLE_PARTS.has(name);
}

/**
 * The element that ends of those that are open, the outermost first, which is the page itself and ends never; -1: none.
 * `by`: what begins and has it end; left out: its own end.
 */
export function endsAt(open: readonly Named[], name: string, by?: string): number {
  if (PAGE.has(name)) return -1;
  const stops =
    by !== undefined && ['li', 'dd', 'dt'].includes(name)
      ? ITEM_STOPS
      : (STOPS.get(name) ?? (SPECIAL.has(name) || FORMATTING.has(name) ? USUAL_STOPS : SPECIAL));
  let blocks = 0;
  for (let at = open.length - 1; at > 0; at--) {
    const one = open[at]?.name ?? '';
    if (one === name) return FORMATTING.has(name) && blocks > MOST_BLOCKS ? -1 : at;
    if (stops.has(one)) return -1;
    if (SPECIAL.has(one)) blocks += 1;
  }
  return -1;
}

/** Which of the elements in one that ends go on behind it. */
export function goOn<T extends Named>(name: string, inside: readonly T[]): T[] {
  if (FORMATTING.has(name)) return inside.filter((one) => FORMATTING.has(one.name) || SPECIAL.has(one.name));
  if (MARKERS.has(name)) return [];
  const end = inside.findIndex((one) => MARKERS.has(one.name));
  return inside.slice(0, end < 0 ? inside.length : end).filter((one) => FORMATTING.has(one.name));
}
