import { describe, expect, test } from 'vitest';
import type { ImapClient } from '../../support/imap-world.ts';
import { sharingWorld, type SharingWorld } from '../../support/sharing-world.ts';

const ANN = 'ann@box.test';
const SHARED = `"Other Users/${ANN}/Team"`;

const mail = (subject: string): string => `From: x@remote.example\r\nSubject: ${subject}\r\n\r\nHello\r\n`;

async function append(client: ImapClient, mailbox: string, subject: string, flags = ''): Promise<string> {
  const text = mail(subject);
  const lines = await client.command(`APPEND ${mailbox} (${flags}) {${text.length}+}\r\n${text}`);
  return lines.at(-1) ?? '';
}

/** Ann has a mailbox Team with two messages, and shares it with Bob. */
async function team(rights: string): Promise<{ world: SharingWorld; ann: ImapClient; bob: ImapClient }> {
  const world = await sharingWorld();
  const ann = await world.client('ann');
  await ann.command('CREATE Team');
  await append(ann, 'Team', 'one');
  await append(ann, 'Team', 'two', '\\Seen');
  expect((await ann.command(`SETACL Team bob@box.test ${rights}`)).at(-1)).toMatch(/^t OK/);
  return { world, ann, bob: await world.client('bob') };
}

const last = async (client: ImapClient, command: string): Promise<string> =>
  (await client.command(command)).at(-1) ?? '';

describe('rights', () => {
  test('are set, added, removed, listed and deleted by the owner', async () => {
    const { world, ann } = await team('lr');
    await using _ = world;
    expect(await ann.command('GETACL Team')).toEqual([
      '* ACL Team "ann@box.test" lrswipkxtenacd "bob@box.test" lr',
      't OK Rights listed',
    ]);
    await ann.command('SETACL Team bob@box.test +swd');
    expect((await ann.command('GETACL Team'))[0]).toBe(
      '* ACL Team "ann@box.test" lrswipkxtenacd "bob@box.test" lrswted',
    );
    await ann.command('SETACL Team bob@box.test -lw');
    expect((await ann.command('GETACL Team'))[0]).toContain('"bob@box.test" rsted');
    expect(await ann.command('LISTRIGHTS Team bob@box.test')).toEqual([
      '* LISTRIGHTS Team "bob@box.test" "" l r s w i t e n',
      't OK Rights listed',
    ]);
    await ann.command('DELETEACL Team BOB@box.test');
    expect((await ann.command('GETACL Team'))[0]).toBe('* ACL Team "ann@box.test" lrswipkxtenacd');
    expect((await ann.command('MYRIGHTS Team'))[0]).toBe('* MYRIGHTS Team lrswipkxtenacd');
  });

  test('that are unknown, stay with the owner, or are the own ones are refused', async () => {
    const { world, ann } = await team('lr');
    await using _ = world;
    expect(await last(ann, 'SETACL Team bob@box.test lrz')).toMatch(/^t BAD/);
    expect(await last(ann, 'SETACL Team bob@box.test lra')).toMatch(/^t NO \[CANNOT\]/);
    expect(await last(ann, 'SETACL Team bob@box.test lrc')).toMatch(/^t NO \[CANNOT\]/);
    expect(await last(ann, `SETACL Team ${ANN} ""`)).toMatch(/^t NO \[CANNOT\]/);
    expect(await last(ann, 'SETACL Nowhere bob@box.test lr')).toMatch(/^t NO \[NONEXISTENT\]/);
    expect(await last(ann, 'SETACL Team anyone lr')).toMatch(/^t NO \[CANNOT\]/);
    expect(await last(ann, 'SETACL Team nobody@box.test lr')).toMatch(/^t NO \[CANNOT\]/);
  });

  test('are not seen or set by those who have some', async () => {
    const { world, bob } = await team('lrswiten');
    await using _ = world;
    for (const command of [`GETACL ${SHARED}`, `LISTRIGHTS ${SHARED} cyd@box.test`, `SETACL ${SHARED} cyd@box.test lr`])
      expect(await last(bob, command)).toMatch(/^t NO \[NOPERM\]/);
    expect((await bob.command(`MYRIGHTS ${SHARED}`))[0]).toBe(`* MYRIGHTS ${SHARED} lrswitend`);
  });
});

describe('a shared mailbox', () => {
  test('is listed in the namespace of others, with its levels, and subscribed by each', async () => {
    const { world, bob } = await team('lr');
    await using _ = world;
    expect((await bob.command('NAMESPACE'))[0]).toBe('* NAMESPACE (("" "/")) (("Other Users/" "/")) NIL');
    expect((await bob.command('LIST "" "Other*" RETURN (MYRIGHTS STATUS (MESSAGES))')).slice(0, -1)).toEqual([
      '* LIST (\\NonExistent \\Noselect \\HasChildren) "/" "Other Users"',
      `* LIST (\\NonExistent \\Noselect \\HasChildren) "/" "Other Users/${ANN}"`,
      `* LIST (\\HasNoChildren) "/" ${SHARED}`,
      `* MYRIGHTS ${SHARED} lr`,
      `* STATUS ${SHARED} (MESSAGES 2)`,
    ]);
    expect(await bob.command('LSUB "" "Other*"')).toEqual(['t OK Listed']);
    await bob.command(`SUBSCRIBE ${SHARED}`);
    expect((await bob.command('LSUB "" "Other*"'))[0]).toBe(`* LSUB () "/" ${SHARED}`);
    const ann = await world.client('ann');
    await ann.command('UNSUBSCRIBE Team');
    expect((await bob.command('LIST (SUBSCRIBED) "" "*Team"'))[0]).toContain(SHARED);
  });

  test('is read with r, and nothing in it is changed', async () => {
    const { world, bob } = await team('lr');
    await using _ = world;
    const selected = await bob.command(`SELECT ${SHARED}`);
    expect(selected).toContain('* 2 EXISTS');
    expect(selected.at(-1)).toMatch(/^t OK \[READ-ONLY\]/);
    const fetched = await bob.command('FETCH 1 (BODY[] FLAGS)');
    expect(fetched.join('\n')).toContain('Subject: one');
    expect(await bob.command('SEARCH SUBJECT two')).toContain('* SEARCH 2');
    expect(await bob.command('SEARCH TEXT hello')).toContain('* SEARCH 1 2');
    expect(await bob.command('SORT (REVERSE SUBJECT) UTF-8 ALL')).toContain('* SORT 2 1');
    expect(await bob.command('THREAD REFERENCES UTF-8 ALL')).toContain('* THREAD (1)(2)');
    for (const command of ['STORE 1 +FLAGS (\\Deleted)', 'EXPUNGE', 'MOVE 1 INBOX'])
      expect(await last(bob, command)).toMatch(/^t NO/);
    const ann = await world.client('ann');
    expect(await ann.command('STATUS Team (MESSAGES UNSEEN DELETED)')).toContain(
      '* STATUS Team (MESSAGES 2 UNSEEN 1 DELETED 0)',
    );
  });

  test('needs r to be selected and counted; l alone lists it', async () => {
    const { world, bob } = await team('l');
    await using _ = world;
    expect((await bob.command('LIST "" "*Team"'))[0]).toContain(SHARED);
    expect(await last(bob, `SELECT ${SHARED}`)).toMatch(/^t NO \[NOPERM\]/);
    expect(await last(bob, `STATUS ${SHARED} (MESSAGES)`)).toMatch(/^t NO \[NOPERM\]/);
  });

  test('shows the changes of its owner to those who idle, and theirs to the owner', async () => {
    const { world, ann, bob } = await team('lrs');
    await using _ = world;
    await ann.command('SELECT Team');
    await bob.command(`SELECT ${SHARED}`);
    bob.send('i IDLE\r\n');
    expect(await bob.line()).toMatch(/^\+/);
    await append(ann, 'Team', 'three');
    expect(await bob.line()).toBe('* 3 EXISTS');
    bob.send('DONE\r\n');
    await bob.until((line) => line.startsWith('i '));
    // \Seen is shared: there is one set of flags.
    expect(await last(bob, 'STORE 3 +FLAGS (\\Seen)')).toMatch(/^t OK/);
    expect((await ann.command('NOOP')).join()).toMatch(/3 FETCH .*\\Seen/);
  });
});

describe('flags', () => {
  test('follow the rights s, t and w; what is not allowed is left out', async () => {
    const { world, ann, bob } = await team('lrst');
    await using _ = world;
    await bob.command(`SELECT ${SHARED}`);
    expect(await last(bob, 'STORE 1 +FLAGS (\\Seen \\Flagged work)')).toMatch(/^t OK/);
    expect(await last(bob, 'STORE 1 +FLAGS (\\Flagged)')).toMatch(/^t NO \[NOPERM\]/);
    expect(await last(bob, 'STORE 2 FLAGS (\\Deleted)')).toMatch(/^t OK/);
    await ann.command('SELECT Team');
    expect((await ann.command('FETCH 1:2 FLAGS')).slice(0, -1)).toEqual([
      '* 1 FETCH (FLAGS (\\Seen))',
      '* 2 FETCH (FLAGS (\\Deleted))',
    ]);
  });

  test.each([
    ['lr', '()'],
    ['lri', '()'],
    ['lrs', '(\\Seen)'],
    ['lrt', '(\\Deleted)'],
    ['lrst', '(\\Deleted \\Seen)'],
    ['lrw', '(\\Answered \\Flagged \\Draft work constructor \\*)'],
    ['lrswite', '(\\Answered \\Flagged \\Deleted \\Seen \\Draft work constructor \\*)'],
  ])('PERMANENTFLAGS with the rights %s are %s', async (rights, flags) => {
    const { world, ann, bob } = await team(rights);
    await using _ = world;
    await append(ann, 'Team', 'three', 'work constructor');
    const selected = await bob.command(`SELECT ${SHARED}`);
    expect(selected).toContain(`* OK [PERMANENTFLAGS ${flags}] Permanent flags`);
    // All flags of the mailbox are named, whoever may set them.
    expect(selected).toContain('* FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft work constructor)');
    expect(await bob.command(`EXAMINE ${SHARED}`)).toContain('* OK [PERMANENTFLAGS ()] Permanent flags');
    await bob.command(`SELECT ${SHARED}`);
    await ann.command('SELECT Team');
    await ann.command('STORE 1 +FLAGS (later)');
    const changed = flags.replace('constructor', 'constructor later');
    expect(await bob.command('NOOP')).toContain(`* OK [PERMANENTFLAGS ${changed}] New keyword`);
  });

  test('EXPUNGE needs e, also by CLOSE', async () => {
    const { world, ann, bob } = await team('lrt');
    await using _ = world;
    await bob.command(`SELECT ${SHARED}`);
    await bob.command('STORE 1 +FLAGS (\\Deleted)');
    expect(await last(bob, 'EXPUNGE')).toMatch(/^t NO \[NOPERM\]/);
    await bob.command('CLOSE');
    expect(await ann.command('STATUS Team (MESSAGES)')).toContain('* STATUS Team (MESSAGES 2)');
    await ann.command('SETACL Team bob@box.test +e');
    await bob.command(`SELECT ${SHARED}`);
    expect(await bob.command('EXPUNGE')).toContain('* 1 EXPUNGE');
    expect(await ann.command('STATUS Team (MESSAGES)')).toContain('* STATUS Team (MESSAGES 1)');
  });
});

describe('APPEND', () => {
  test('needs i, sets the flags that the rights allow, and counts to the quota of the owner', async () => {
    const { world, ann, bob } = await team('lr');
    await using _ = world;
    expect(await append(bob, SHARED, 'three')).toMatch(/^t NO \[NOPERM\]/);
    await ann.command('SETACL Team bob@box.test lris');
    expect(await append(bob, SHARED, 'three', '\\Seen \\Flagged work')).toMatch(/^t OK \[APPENDUID \d+ 3\]/);
    await ann.command('SELECT Team');
    expect((await ann.command('FETCH 3 FLAGS'))[0]).toBe('* 3 FETCH (FLAGS (\\Seen \\Recent))');
    expect(await bob.command('STATUS INBOX (MESSAGES)')).toContain('* STATUS INBOX (MESSAGES 0)');
    world.sql('UPDATE account SET quota_bytes = used_bytes WHERE id = ?', world.people.ann.account);
    expect(await append(bob, SHARED, 'four')).toMatch(/^t NO \[OVERQUOTA\]/);
    await ann.command('DELETEACL Team bob@box.test');
    expect(await append(bob, SHARED, 'five')).toMatch(/^t NO \[TRYCREATE\]/);
  });

  test('REPLACE neither takes a message of others away nor puts one there', async () => {
    const { world, ann, bob } = await team('lrswite');
    await using _ = world;
    await append(bob, 'INBOX', 'mine');
    const text = mail('new');
    await bob.command(`SELECT ${SHARED}`);
    for (const target of ['INBOX', SHARED])
      expect(await last(bob, `REPLACE 1 ${target} {${text.length}+}\r\n${text}`), target).toMatch(/^t NO \[NOPERM\]/);
    await bob.command('SELECT INBOX');
    expect(await last(bob, `REPLACE 1 ${SHARED} {${text.length}+}\r\n${text}`)).toMatch(/^t NO \[NOPERM\]/);
    expect(await ann.command('STATUS Team (MESSAGES)')).toContain('* STATUS Team (MESSAGES 2)');
    expect(await bob.command('STATUS INBOX (MESSAGES)')).toContain('* STATUS INBOX (MESSAGES 1)');
  });
});

describe('copies between people', () => {
  test('COPY takes messages with their octets into the own mailbox, and needs r', async () => {
    const { world, bob } = await team('lr');
    await using _ = world;
    await bob.command(`SELECT ${SHARED}`);
    expect(await last(bob, 'COPY 1:2 INBOX')).toMatch(/^t OK \[COPYUID \d+ 1:2 1:2\]/);
    await bob.command('SELECT INBOX');
    expect((await bob.command('FETCH 2 (FLAGS BODY.PEEK[])')).join('\r\n')).toContain(mail('two').trim());
    expect(await last(bob, `COPY 1 ${SHARED}`)).toMatch(/^t NO/);
  });

  test('COPY into a shared mailbox needs i, and counts to the quota of its owner', async () => {
    const { world, bob, ann } = await team('lri');
    await using _ = world;
    await append(bob, 'INBOX', 'from Bob', '\\Seen \\Flagged');
    await bob.command('SELECT INBOX');
    expect(await last(bob, `COPY 1 ${SHARED}`)).toMatch(/^t OK \[COPYUID \d+ 1 3\]/);
    await ann.command('SELECT Team');
    // Without s and w the copy has no flags.
    expect((await ann.command('FETCH 3 FLAGS'))[0]).toBe('* 3 FETCH (FLAGS (\\Recent))');
    world.sql('UPDATE account SET quota_bytes = used_bytes WHERE id = ?', world.people.ann.account);
    expect(await last(bob, `COPY 1 ${SHARED}`)).toMatch(/^t NO \[OVERQUOTA\]/);
  });

  test('MOVE takes the messages out of the mailbox of the owner, and needs t and e', async () => {
    const { world, bob, ann } = await team('lr');
    await using _ = world;
    await ann.command('SETACL Team bob@box.test lrt');
    await bob.command(`SELECT ${SHARED}`);
    expect(await last(bob, 'MOVE 1 INBOX')).toMatch(/^t NO \[NOPERM\]/);
    await ann.command('SETACL Team bob@box.test lrte');
    const moved = await bob.command('MOVE 1 INBOX');
    expect(moved[0]).toMatch(/^\* OK \[COPYUID \d+ 1 1\]/);
    expect(moved).toContain('* 1 EXPUNGE');
    expect(await ann.command('STATUS Team (MESSAGES)')).toContain('* STATUS Team (MESSAGES 1)');
    expect(await bob.command('STATUS INBOX (MESSAGES)')).toContain('* STATUS INBOX (MESSAGES 1)');
  });
});

describe('the end of a share', () => {
  test('closes the sessions that have the mailbox open, at once', async () => {
    const { world, ann, bob } = await team('lrs');
    await using _ = world;
    await bob.command(`SELECT ${SHARED}`);
    bob.send('i IDLE\r\n');
    await bob.line();
    await ann.command('DELETEACL Team bob@box.test');
    expect(await bob.line()).toMatch(/^\* BYE/);
    const again = await world.client('bob');
    expect(await last(again, `SELECT ${SHARED}`)).toMatch(/^t NO \[NONEXISTENT\]/);
    expect(await again.command('LIST "" "Other*"')).toEqual(['t OK Listed']);
  });

  test('leaves a session that loses only some rights', async () => {
    const { world, ann, bob } = await team('lrs');
    await using _ = world;
    await bob.command(`SELECT ${SHARED}`);
    await ann.command('SETACL Team bob@box.test -s');
    expect(await last(bob, 'STORE 1 +FLAGS (\\Seen)')).toMatch(/^t NO \[NOPERM\]/);
    expect(await bob.command('FETCH 1 UID')).toContain('* 1 FETCH (UID 1)');
  });

  test('comes when the mailbox is deleted; a new one of the same name is not shared', async () => {
    const { world, ann, bob } = await team('lrs');
    await using _ = world;
    await ann.command('DELETE Team');
    await ann.command('CREATE Team');
    expect(await last(bob, `SELECT ${SHARED}`)).toMatch(/^t NO \[NONEXISTENT\]/);
    expect(world.sql('SELECT * FROM mailbox_acl')).toEqual([]);
  });

  test('comes when one of the two accounts is frozen or deleted, and the share returns with it', async () => {
    const { world, bob } = await team('lr');
    await using _ = world;
    for (const who of ['ann', 'bob'] as const) {
      for (const state of [0, 2, 3]) {
        world.sql('UPDATE account SET state = ? WHERE id = ?', state, world.people[who].account);
        expect(await last(bob, `SELECT ${SHARED}`), `${who} ${state}`).toMatch(/^t NO \[NONEXISTENT\]/);
        world.sql('UPDATE account SET state = 1 WHERE id = ?', world.people[who].account);
      }
    }
    expect(await last(bob, `SELECT ${SHARED}`)).toMatch(/^t OK/);
  });
});

describe('nobody else', () => {
  test('reaches a shared mailbox: not a third person, not another organization, not by a row of the database', async () => {
    const { world, ann } = await team('lrswiten');
    await using _ = world;
    expect(await last(ann, 'SETACL Team eve@other.test lr')).toMatch(/^t NO \[CANNOT\]/);
    const [row] = world.sql('SELECT mailbox_id AS id FROM mailbox_acl');
    const eve = world.people.eve.account;
    world.sql(
      'INSERT INTO mailbox_acl (mailbox_id, account_id, rights, created_at) VALUES (?, ?, ?, 0)',
      Number(row?.['id']),
      eve,
      'lrswite',
    );
    for (const who of ['cyd', 'eve'] as const) {
      const client = await world.client(who);
      expect(await last(client, `SELECT ${SHARED}`), who).toMatch(/^t NO \[NONEXISTENT\]/);
      expect(await last(client, `STATUS ${SHARED} (MESSAGES)`), who).toMatch(/^t NO/);
      expect(await client.command('LIST "" "Other*"'), who).toEqual(['t OK Listed']);
      await append(client, 'INBOX', 'mine');
      await client.command('SELECT INBOX');
      expect(await last(client, `COPY 1 ${SHARED}`), who).toMatch(/^t NO/);
    }
  });

  test('is an agent: its password neither sees shared mailboxes nor shares', async () => {
    const { world, ann } = await team('lr');
    await using _ = world;
    world.sql("UPDATE credential SET scopes = scopes || ' agent' WHERE id = ?", world.people.bob.credential);
    const bob = await world.client('bob');
    expect(await last(bob, `SELECT ${SHARED}`)).toMatch(/^t NO \[NONEXISTENT\]/);
    expect(await last(bob, 'SETACL INBOX ann@box.test lr')).toMatch(/^t NO \[NOPERM\]/);
    expect(await ann.command('LIST "" "Other*"')).toEqual(['t OK Listed']);
  });

  test('creates, renames or deletes in the namespace of others', async () => {
    const { world, bob } = await team('lrswiten');
    await using _ = world;
    expect(await last(bob, `CREATE "Other Users/${ANN}/New"`)).toMatch(/^t NO \[NOPERM\]/);
    expect(await last(bob, `DELETE ${SHARED}`)).toMatch(/^t NO \[NOPERM\]/);
    expect(await last(bob, `RENAME ${SHARED} Mine`)).toMatch(/^t NO \[NOPERM\]/);
    expect(await last(bob, 'RENAME Archive "Other Users/Archive"')).toMatch(/^t NO \[NOPERM\]/);
  });
});

test('entries of METADATA: /private/ is of each reader, /shared/ of the owner and needs w or n', async () => {
  const { world, ann, bob } = await team('lr');
  await using _ = world;
  await ann.command('SETMETADATA Team (/private/comment "hers" /shared/comment "ours")');
  expect(await last(bob, `SETMETADATA ${SHARED} (/private/comment "his")`)).toMatch(/^t OK/);
  expect(await last(bob, `SETMETADATA ${SHARED} (/shared/comment "changed")`)).toMatch(/^t NO \[NOPERM\]/);
  expect((await bob.command(`GETMETADATA ${SHARED} (/private/comment /shared/comment)`))[0]).toBe(
    `* METADATA ${SHARED} ("/private/comment" "his" "/shared/comment" "ours")`,
  );
  expect((await ann.command('GETMETADATA Team (/private/comment /shared/comment)'))[0]).toContain('"hers"');
  await ann.command('SETACL Team bob@box.test +n');
  expect(await last(bob, `SETMETADATA ${SHARED} (/shared/comment "changed")`)).toMatch(/^t OK/);
  expect((await ann.command('GETMETADATA Team /shared/comment'))[0]).toContain('"changed"');
});

describe('what was refused or hidden', () => {
  test('a COPY to another account that its quota ends in the middle copies nothing and says NO', async () => {
    const { world, ann, bob } = await team('lri');
    await using _ = world;
    const text = mail('many');
    const literals = Array.from({ length: 250 }, () => ` {${text.length}+}\r\n${text}`).join('');
    expect(await last(bob, `APPEND INBOX${literals}`)).toMatch(/^t OK/);
    await bob.command('SELECT INBOX');
    world.sql('UPDATE account SET quota_count = used_count + 210 WHERE id = ?', world.people.ann.account);
    expect(await last(bob, `COPY 1:* ${SHARED}`)).toMatch(/^t NO \[OVERQUOTA\]/);
    expect((await ann.command('STATUS Team (MESSAGES)'))[0]).toBe('* STATUS Team (MESSAGES 2)');
    expect((await bob.command('STATUS INBOX (MESSAGES)'))[0]).toBe('* STATUS INBOX (MESSAGES 250)');
  });

  test('a message with \\Deleted is copied to another account as well', async () => {
    const { world, ann, bob } = await team('lri');
    await using _ = world;
    await append(bob, 'INBOX', 'marked', '\\Deleted');
    await bob.command('SELECT INBOX');
    expect(await last(bob, `COPY 1 ${SHARED}`)).toMatch(/^t OK \[COPYUID/);
    expect((await ann.command('STATUS Team (MESSAGES)'))[0]).toBe('* STATUS Team (MESSAGES 3)');
  });

  test('the right i alone lets APPEND in, and shows nothing', async () => {
    const { world, ann, bob } = await team('i');
    await using _ = world;
    expect(await append(bob, SHARED, 'dropped')).toMatch(/^t OK/);
    expect(await last(bob, `SELECT ${SHARED}`)).toMatch(/^t NO/);
    const status = await bob.command(`STATUS ${SHARED} (MESSAGES)`);
    expect(status.join()).not.toContain('MESSAGES 3');
    expect((await bob.command('LIST "" *')).join()).not.toContain('Team');
    expect((await ann.command('STATUS Team (MESSAGES)'))[0]).toBe('* STATUS Team (MESSAGES 3)');
  });
});

describe('a MOVE of many messages to another account', () => {
  /** Bob moves between Team, which Ann shares, and his INBOX. */
  async function full(count: number, mailbox: 'Team' | 'INBOX'): Promise<Awaited<ReturnType<typeof team>>> {
    const { world, ann, bob } = await team('lrite');
    const text = mail('many');
    const literals = Array.from({ length: count }, () => ` {${text.length}+}\r\n${text}`).join('');
    expect(await last(mailbox === 'Team' ? ann : bob, `APPEND ${mailbox}${literals}`)).toMatch(/^t OK/);
    return { world, ann, bob };
  }

  const counts = async ({ ann, bob }: { ann: ImapClient; bob: ImapClient }): Promise<number[]> => {
    const of = async (client: ImapClient, name: string): Promise<number> =>
      Number(/MESSAGES (\d+)/.exec((await client.command(`STATUS ${name} (MESSAGES)`))[0] ?? '')?.[1]);
    return [await of(ann, 'Team'), await of(bob, 'INBOX')];
  };

  /** Takes the rights of Bob away, in the commit that brings a table to so many rows of a mailbox. */
  const revokeAt = (
    world: SharingWorld,
    rows: { table: 'entry' | 'expunged'; mailbox: string; count: number },
  ): void => {
    const { table, mailbox, count } = rows;
    world.sql(`CREATE TRIGGER revoke_rights AFTER INSERT ON ${table}
      WHEN (SELECT count(*) FROM ${table} n JOIN mailbox m ON m.id = n.mailbox_id
            WHERE m.id = NEW.mailbox_id AND m.name = '${mailbox}') = ${count}
      BEGIN UPDATE mailbox_acl SET rights = 'lri'; END`);
  };

  test('that the quota ends in the middle moves nothing and says NO', async () => {
    const { world, ann, bob } = await full(450, 'INBOX');
    await using _ = world;
    world.sql('UPDATE account SET quota_count = used_count + 410 WHERE id = ?', world.people.ann.account);
    await bob.command('SELECT INBOX');
    const moved = await bob.command(`MOVE 1:* ${SHARED}`);
    expect(moved).toEqual(['t NO [OVERQUOTA] Over quota: delete messages and try again']);
    expect(await counts({ ann, bob })).toEqual([2, 450]);
    expect(await bob.command('UID SEARCH RETURN (COUNT MIN MAX) ALL')).toContain(
      '* ESEARCH (TAG "t") UID COUNT 450 MIN 1 MAX 450',
    );
    expect(await last(bob, `MOVE 1:408 ${SHARED}`)).toMatch(/^t OK/);
    expect(await counts({ ann, bob })).toEqual([410, 42]);
  });

  test.each([
    ['while the messages are copied', { table: 'entry', mailbox: 'INBOX', count: 300 }],
    ['before the first is removed', { table: 'entry', mailbox: 'INBOX', count: 452 }],
  ] as const)('whose rights end %s moves nothing and says NO', async (_when, rows) => {
    const { world, ann, bob } = await full(450, 'Team');
    await using _ = world;
    revokeAt(world, rows);
    await bob.command(`SELECT ${SHARED}`);
    expect(await last(bob, 'MOVE 1:* INBOX')).toMatch(/^t NO \[NOPERM\]/);
    expect(await counts({ ann, bob })).toEqual([452, 0]);
  });

  test('whose rights end while messages are removed leaves each in one mailbox', async () => {
    const { world, ann, bob } = await full(450, 'Team');
    await using _ = world;
    revokeAt(world, { table: 'expunged', mailbox: 'Team', count: 300 });
    await bob.command(`SELECT ${SHARED}`);
    const moved = await bob.command('MOVE 1:* INBOX');
    expect(moved[0]).toMatch(/^\* OK \[COPYUID \d+ 1:400 1:400\]/);
    expect(moved.filter((line) => line.endsWith('EXPUNGE'))).toHaveLength(400);
    expect(moved.at(-1)).toMatch(/^t NO \[NOPERM\]/);
    expect(await counts({ ann, bob })).toEqual([52, 400]);
  });

  test('that fails while messages are removed leaves each in one mailbox', async () => {
    const { world, ann, bob } = await full(450, 'Team');
    await using _ = world;
    world.sql(`CREATE TRIGGER broken BEFORE INSERT ON expunged
      WHEN (SELECT count(*) FROM expunged n JOIN mailbox m ON m.id = n.mailbox_id WHERE m.name = 'Team') = 200
        AND NEW.mailbox_id = (SELECT id FROM mailbox WHERE name = 'Team')
      BEGIN SELECT RAISE(ABORT, 'broken'); END`);
    await bob.command(`SELECT ${SHARED}`);
    const moved = await bob.command('MOVE 1:* INBOX');
    expect(moved[0]).toMatch(/^\* OK \[COPYUID \d+ 1:200 1:200\]/);
    expect(moved.at(-1)).toMatch(/^t NO \[SERVERBUG\]/);
    expect(moved.filter((line) => line.endsWith('EXPUNGE'))).toHaveLength(200);
    expect(await counts({ ann, bob })).toEqual([252, 200]);
    expect(world.faults).toHaveLength(1);
  });

  test('succeeds, and counts each message to the quota of its new owner', async () => {
    const { world, ann, bob } = await full(450, 'Team');
    await using _ = world;
    await bob.command(`SELECT ${SHARED}`);
    expect((await bob.command('MOVE 1:* INBOX'))[0]).toMatch(/^\* OK \[COPYUID \d+ 1:452 1:452\]/);
    expect(await counts({ ann, bob })).toEqual([0, 452]);
    const used = (who: 'ann' | 'bob'): unknown =>
      world.sql('SELECT used_count FROM account WHERE id = ?', world.people[who].account)[0]?.['used_count'];
    expect([used('ann'), used('bob')]).toEqual([0, 452]);
  });

  test('by two people at once leaves each message in one mailbox', async () => {
    const { world, ann, bob } = await full(450, 'Team');
    await using _ = world;
    await ann.command('SETACL Team cyd@box.test lrte');
    const cyd = await world.client('cyd');
    for (const client of [bob, cyd]) await client.command(`SELECT ${SHARED}`);
    await Promise.all([bob, cyd].map((client) => last(client, 'MOVE 1:* INBOX')));
    const [team, hers] = [await counts({ ann, bob }), await counts({ ann, bob: cyd })];
    expect([team[0], (team[1] ?? 0) + (hers[1] ?? 0)]).toEqual([0, 452]);
  });

  test('within the mailboxes of one owner needs no more of the quota', async () => {
    const { world, ann, bob } = await full(450, 'Team');
    await using _ = world;
    await ann.command('CREATE Team2');
    await ann.command('SETACL Team2 bob@box.test lri');
    world.sql(
      'UPDATE account SET quota_bytes = used_bytes, quota_count = used_count WHERE id = ?',
      world.people.ann.account,
    );
    await bob.command(`SELECT ${SHARED}`);
    expect(await last(bob, `MOVE 1:* "Other Users/${ANN}/Team2"`)).toMatch(/^t OK/);
    expect(await ann.command('STATUS Team2 (MESSAGES)')).toContain('* STATUS Team2 (MESSAGES 452)');
    expect((await counts({ ann, bob }))[0]).toBe(0);
  });

  test('in one account that fails in the middle names what was moved, and says NO', async () => {
    const { world, ann } = await full(450, 'Team');
    await using _ = world;
    world.sql(`CREATE TRIGGER broken BEFORE INSERT ON expunged
      WHEN (SELECT count(*) FROM expunged) = 400 BEGIN SELECT RAISE(ABORT, 'broken'); END`);
    await ann.command('SELECT Team');
    const moved = await ann.command('MOVE 1:* INBOX');
    expect(moved[0]).toMatch(/^\* OK \[COPYUID \d+ 1:400 1:400\]/);
    expect(moved.filter((line) => line.endsWith('EXPUNGE'))).toHaveLength(400);
    expect(moved.at(-1)).toMatch(/^t NO \[SERVERBUG\]/);
    expect(await ann.command('STATUS Team (MESSAGES)')).toContain('* STATUS Team (MESSAGES 52)');
    expect(world.faults).toHaveLength(1);
  });
});
