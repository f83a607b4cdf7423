import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { catalogueSha256, changeOf, digestsOf, pinnedTools } from '../../../src/core/catalogue-pin.ts';
import { toolOf } from '../../../src/mcp/tool-listing.ts';
import { catalogueOffer } from '../../../src/mcp/offer.ts';
import { readToolSelection } from '../../../src/mcp/tool-selection.ts';
import { CATALOGUE } from '../../../src/operations/catalogue.ts';
import { twoTenants } from '../../support/tenants.ts';

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

describe('the pin of the catalogue', () => {
  test('is that of the tools as they are: if not, run `npm run docs`', () => {
    expect(pinnedTools()).toEqual(digestsOf(CATALOGUE, toolOf));
  });

  test('is what a client finds that hashes its own list', async () => {
    await using tenants = await twoTenants();
    const offer = catalogueOffer(tenants.world);
    const tools = (await offer.tools(
      tenants.a.caller,
      readToolSelection(new URLSearchParams(), () => undefined),
    )) as {
      name: string;
    }[];
    const sorted = tools.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    const lines = sorted.map((tool) => `${tool.name} ${sha256(JSON.stringify(tool))}\n`);
    expect(offer.listMeta).toEqual({ 'dev.mailstead/catalogSha256': sha256(lines.join('')) });
  });

  test('changes with any word of any tool, and says which', () => {
    const before = pinnedTools();
    const [first] = CATALOGUE;
    if (first === undefined) throw new Error('the catalogue is empty');
    const other = digestsOf([{ ...first, description: `${first.description} ` }, ...CATALOGUE.slice(1)], (one) => ({
      ...toolOf(one),
      description: one.description,
    }));
    expect(catalogueSha256(other)).not.toBe(catalogueSha256(before));
    expect(changeOf(before, other)).toEqual({ added: [], removed: [], changed: [first.name] });
    expect(changeOf(before, before)).toBe(undefined);
    expect(changeOf({ a: '1', b: '2' }, { b: '2', c: '3' })).toEqual({ added: ['c'], removed: ['a'], changed: [] });
  });
});
