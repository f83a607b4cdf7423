import { afterAll, beforeAll, expect, test } from 'vitest';
import { tool } from '../support/mcp.ts';
import { type PortalBox, portalBox } from '../support/visitor.ts';

let portal: PortalBox;

beforeAll(async () => {
  portal = await portalBox();
});
afterAll(() => portal.box[Symbol.asyncDispose]());

const plain = (text: string): string => text.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');

async function addresses(): Promise<string[]> {
  const { body } = await tool(portal.base, 'list_emails', { limit: 100 }, portal.acme.token);
  return (body['mailboxes'] as { address: string }[]).map(({ address }) => address);
}

const FILE =
  'address,name,alias of\nhi@acme.test,note,carl@acme.test\ncarl@acme.test,=Carl\nanna@acme.test\nx@else.test\n';

test('mailboxes and aliases come from a CSV file: a preview first, then each row, and every refused one with why', async () => {
  const { owner, path } = portal.acme;
  const page = `${path}/mailboxes/import`;
  const preview = await owner.act(page, 'preview', { csv: FILE });
  expect(preview.status).toBe(200);
  const shown = plain(preview.text);
  expect(shown).toContain('1 mailbox and 1 alias to create, 2 rows refused');
  expect(shown).toContain('A mailbox has this address already.');
  expect(shown).toContain('else.test is not a domain of this organization.');
  expect(await addresses()).toEqual(['anna@acme.test', 'bert@acme.test']);

  const csv = /name="csv" value="([^"]*)"/.exec(preview.text)?.[1] ?? '';
  const created = plain((await owner.act(page, 'create', { csv })).text);
  expect(created).toContain('2 addresses created, 2 rows refused');
  expect(await addresses()).toEqual(['anna@acme.test', 'bert@acme.test', 'carl@acme.test']);
  const again = plain((await owner.act(page, 'create', { csv })).text);
  expect(again).toContain('0 addresses created, 4 rows refused');
});

test('a file without rows changes nothing and says so', async () => {
  const { owner, path } = portal.acme;
  const said = await owner.act(`${path}/mailboxes/import`, 'preview', { csv: '# nothing\n' });
  expect([said.status, said.text.includes('the file has no rows')]).toEqual([422, true]);
});

test('the export has all of them, runs no formula in a spreadsheet, and is for members only', async () => {
  const { owner, path } = portal.acme;
  const { text, headers } = await owner.get(`${path}/mailboxes.csv`);
  expect(String(headers['content-type'])).toContain('text/csv');
  expect(text).toContain('"address","name","alias of"\r\n');
  expect(text).toContain(`"carl@acme.test","'=Carl",""\r\n`);
  expect(text).toContain('"hi@acme.test","note","carl@acme.test"\r\n');
  expect((await portal.other.owner.get(`${path}/mailboxes.csv`)).status).toBe(404);
});
