import { defaultTreeAdapter as tree, type DefaultTreeAdapterTypes, parse } from 'parse5';
import { expect, test } from 'vitest';
import { walkHtml } from '../../../mail/policy/html-walk.ts';
import { Random } from '../../support/random.ts';

const PAGES = 3_000;
const BLOCKS = ['div', 'p', 'span', 'b', 'i', 'ul', 'li', 'center'];
const TABLES = [...BLOCKS, 'a', 'font', 'h1', 'blockquote', 'table', 'tr', 'td'];
const WORD = /W\d+/g;

/** Makes a page of tags in no order, and of words that are all different. */
function tagSoup(random: Random, names: readonly string[]): string {
  return Array.from({ length: 4 + random.below(14) }, (_, i) => {
    const name = random.one(names);
    const kind = random.below(3);
    if (kind === 0) return `W${i}`;
    if (kind === 1) return `</${name}>`;
    return random.chance(0.2) ? `<${name} style="display:none">` : `<${name}>`;
  }).join('');
}

/** Lists the words that are shown. */
function shownWords(html: string): string[] {
  const texts = [...walkHtml(html)].flatMap((piece) => (piece.kind === 'text' && !piece.unseen ? [piece.text] : []));
  return texts.flatMap((text) => text.match(WORD) ?? []).sort();
}

/** Lists those that the tree of the HTML standard shows, as parse5 builds it. */
function shownInTree(node: DefaultTreeAdapterTypes.Node): string[] {
  if (tree.isTextNode(node)) return node.value.match(WORD) ?? [];
  if (tree.isElementNode(node) && node.attrs.some(({ value }) => value === 'display:none')) return [];
  return 'childNodes' in node ? node.childNodes.flatMap(shownInTree) : [];
}

test.each([
  ['of blocks and of words', 1, BLOCKS],
  ['with tables', 2, TABLES],
])('no word is shown that the HTML standard hides, in pages %s whose tags cross or are left out', (_, seed, names) => {
  const random = new Random(seed);
  let fewer = 0;
  for (let i = 0; i < PAGES; i++) {
    const page = tagSoup(random, names);
    const inTree = shownInTree(parse(page)).sort();
    const shown = shownWords(page);
    const known = new Set(inTree);
    expect(
      shown.filter((word) => !known.has(word)),
      page,
    ).toEqual([]);
    fewer += Number(shown.length < inTree.length);
  }
  // A block that a later tag moves out of a hidden element stays hidden here: the walk goes through the text once.
  expect(fewer).toBeLessThan(0.05 * PAGES);
});
