import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { http, tool } from '../support/mcp.ts';
import { type PortalBox, portalBox } from '../support/visitor.ts';

let portal: PortalBox;

beforeAll(async () => {
  portal = await portalBox();
});
afterAll(() => portal.box[Symbol.asyncDispose]());

interface Found {
  kind: string;
  label: string;
  href: string;
}

async function find(who: 'acme' | 'other', query: string): Promise<Found[]> {
  const { owner, path } = portal[who];
  const { json } = await owner.get(`${path}/find.json?q=${encodeURIComponent(query)}`);
  return (json?.['results'] ?? []) as Found[];
}

describe('the search of the portal', () => {
  test('finds mailboxes, domains, pages and actions, each with the page that it leads to', async () => {
    const { path } = portal.acme;
    expect(await find('acme', 'ANNA')).toMatchObject([
      { kind: 'Mailbox', label: 'anna@acme.test', href: `${path}/mailboxes/mbx_2` },
    ]);
    expect(await find('acme', 'acme.te')).toEqual(
      expect.arrayContaining([expect.objectContaining({ kind: 'Domain', label: 'acme.test' })]),
    );
    expect(await find('acme', 'create a token')).toMatchObject([{ kind: 'Action', href: `${path}/tokens` }]);
    expect(await find('acme', 'audit')).toEqual(
      expect.arrayContaining([expect.objectContaining({ kind: 'Page', href: `${path}/audit` })]),
    );
    expect(await find('acme', 'no such thing at all')).toEqual([]);
  });

  test('finds nothing of other organizations, and answers strangers like a missing page', async () => {
    expect((await find('other', 'anna')).filter(({ kind }) => kind !== 'Page' && kind !== 'Action')).toEqual([]);
    const foreign = await portal.other.owner.get(`${portal.acme.path}/find.json?q=anna`);
    const unknown = await http('GET', `${portal.base}${portal.acme.path}/find.json?q=anna`);
    expect([foreign.status, unknown.status]).toEqual([404, 404]);
  });

  test('is a page too, which names the call that an agent would make', async () => {
    const { text } = await portal.acme.owner.get(`${portal.acme.path}/find?q=bert`);
    expect(text).toContain('/mailboxes/mbx_3"');
    expect(text).toMatch(/list_emails \{&quot;query&quot;:&quot;bert&quot;\}/);
  });

  test('list_emails takes a part of an address, in any case', async () => {
    const { body } = await tool(portal.base, 'list_emails', { query: 'BERT@' }, portal.acme.token);
    expect(body['mailboxes']).toMatchObject([{ address: 'bert@acme.test' }]);
  });
});
