import { DatabaseSync } from 'node:sqlite';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ImapClient } from '../../support/imap-world.ts';
import { sharingWorld } from '../../support/sharing-world.ts';

async function append(client: ImapClient, mailbox: string, subject: string): Promise<void> {
  const text = `Subject: ${subject}\r\n\r\nHello\r\n`;
  expect((await client.command(`APPEND ${mailbox} {${text.length}+}\r\n${text}`)).at(-1)).toMatch(/^t OK/);
}

const FUZZY = 'SEARCH RETURN (RELEVANCY ALL) FUZZY SUBJECT apple';

test('FUZZY finds messages of the mailbox and account alone, by the index', async () => {
  await using world = await sharingWorld();
  const [ann, bob] = [await world.client('ann'), await world.client('bob')];
  await append(ann, 'INBOX', 'apple');
  await append(ann, 'INBOX', 'pear');
  await append(ann, 'Archive', 'apples');
  await append(bob, 'INBOX', 'pear');
  await append(bob, 'INBOX', 'apple pie');
  const search = vi.spyOn(world.box.store.text, 'search');
  for (const [client, mailbox, found] of [
    [ann, 'INBOX', '1'],
    [ann, 'Archive', '1'],
    [bob, 'INBOX', '2'],
  ] as const) {
    await client.command(`SELECT ${mailbox}`);
    expect((await client.command(FUZZY))[0]).toMatch(
      new RegExp(`RELEVANCY \\(100\\) ALL ${found}$|ALL ${found} RELEVANCY \\(100\\)`),
    );
  }
  expect(search).toHaveBeenCalledTimes(3);
  await bob.command('SELECT Archive');
  expect((await bob.command(FUZZY))[0]).not.toContain('ALL');
});

test('hits of the index are joined with the mailbox by its keys, not by a scan of it', async () => {
  await using world = await sharingWorld();
  const statements: string[] = [];
  const prepare = vi.spyOn(DatabaseSync.prototype, 'prepare');
  const ann = await world.client('ann');
  await append(ann, 'INBOX', 'apple');
  await ann.command('SELECT INBOX');
  await ann.command(FUZZY);
  for (const [sql] of prepare.mock.calls)
    if (/json_each\(\?, '\$'\) j CROSS JOIN entry/.test(sql)) statements.push(sql);
  prepare.mockRestore();
  expect(statements).toHaveLength(1);
  using db = new DatabaseSync(join(world.box.dataDir, 'mailstead.db'));
  const plan = db.prepare(`EXPLAIN QUERY PLAN ${statements[0]}`).all('[]', 1, 1) as { detail: string }[];
  const details = plan.map(({ detail }) => detail).join('\n');
  expect(details).toMatch(/SEARCH n USING (?:COVERING )?INDEX \w+ \(email_id=\?/);
  expect(details).not.toMatch(/SCAN n\b/);
});
