import { command, flagless, lookup, type Read, type Write } from '../../store/engine/types.ts';

/** Content by its kind: a message, mail on its way, or words of a kind outside of mail (names, notes, templates). */
export type TaintedContentName = `email/${number}` | `trace/${string}` | `words/${number}/${string}`;

/** Marks content as written by a tainted agent. */
export async function markContent(tx: Write, tenant: number, content: TaintedContentName, now = 0): Promise<void> {
  await tx.run(
    'INSERT INTO tainted_content (content, tenant, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    content,
    tenant,
    now,
  );
}

/** Removes the marks: the content is gone, or a person has approved it. */
export async function clearContent(tx: Write, contents: readonly TaintedContentName[]): Promise<void> {
  for (const content of contents) await tx.run('DELETE FROM tainted_content WHERE content = ?', content);
}

export async function isContentTainted(rx: Read, content: TaintedContentName): Promise<boolean> {
  return (await rx.get('SELECT 1 AS yes FROM tainted_content WHERE content = ?', content)) !== undefined;
}

/** Tests if words of one of the kinds are tainted in the organization of an account. STORE asks it after each change. */
export const areWordsTainted = flagless(
  lookup(
    'are-words-tainted',
    async (rx, { account, kinds }: { account: number; kinds: readonly string[] }): Promise<boolean> => {
      const row = await rx.get(
        `SELECT 1 AS yes FROM account a CROSS JOIN json_each(?2, '$') k
         CROSS JOIN tainted_content c ON c.content = 'words/' || a.tenant || '/' || k.value WHERE a.id = ?1 LIMIT 1`,
        account,
        JSON.stringify(kinds),
      );
      return row !== undefined;
    },
  ),
);

/** Marks words of a kind as written by a tainted agent, in the organization of an account. */
export async function markWordsOf(tx: Write, account: number, kind: string, now = 0): Promise<void> {
  await tx.run(
    `INSERT INTO tainted_content (content, tenant, at) SELECT 'words/' || tenant || '/' || ?2, tenant, ?3 FROM account
     WHERE id = ?1 ON CONFLICT DO NOTHING`,
    account,
    kind,
    now,
  );
}

/** Lists the messages among `emails` that a tainted agent wrote. */
export async function taintedEmails(rx: Read, emails: readonly number[]): Promise<Set<number>> {
  const rows = await rx.all<{ id: number }>(
    `SELECT g.value AS id FROM json_each(?) g CROSS JOIN tainted_content c ON c.content = 'email/' || g.value`,
    JSON.stringify(emails),
  );
  return new Set(rows.map(({ id }) => id));
}

/** A new message of an account. `by`: the agent that wrote it; null: a person, or an outside sender. */
interface NewEmail {
  id: number;
  account: number;
  blob: number;
  by: string | null;
  /** The agent that chose its keywords, which a copy need not have from its original. */
  namedBy: string | null;
  copyOf?: number;
}

/** Marks a message that an agent stores, if the agent is tainted or copies tainted content unread. */
export async function markNewEmail(tx: Write, email: NewEmail): Promise<void> {
  const { id, account, blob, by, namedBy, copyOf } = email;
  if (namedBy !== null) await markKeywords(tx, { account, by: namedBy, email: id });
  if (copyOf !== undefined) {
    if (await isContentTainted(tx, `email/${copyOf}`)) await markEmail(tx, account, id);
    return;
  }
  if (by !== null && ((await isTaintedBlob(tx, blob)) || (await isTaintedWriter(tx, account, by)))) {
    await markEmail(tx, account, id);
  }
}

/** Marks a message of an account. */
export async function markEmail(tx: Write, account: number, id: number): Promise<void> {
  await tx.run(
    `INSERT INTO tainted_content (content, tenant, at) SELECT ?1, tenant, 0 FROM account WHERE id = ?2
     ON CONFLICT DO NOTHING`,
    `email/${id}`,
    account,
  );
}

/** Marks a message and the labels of its organization if a tainted agent chose a keyword of it: that is text of the agent. */
export async function markKeywords(
  tx: Write,
  { account, by, email }: { account: number; by: string; email: number },
): Promise<void> {
  if (await markLabels(tx, { account, by })) await markEmail(tx, account, email);
}

/** Marks the labels of an organization if the agent that names one is tainted. Answers if it is. */
export async function markLabels(tx: Write, { account, by }: { account: number; by: string }): Promise<boolean> {
  const isTainted = await isTaintedWriter(tx, account, by);
  if (isTainted) await markWordsOf(tx, account, 'labels');
  return isTainted;
}

/** Marks the new version of a message if the old one is marked or its editor tainted; a person's edit clears the mark. */
export async function markEditedEmail(
  tx: Write,
  { account, by, email, replaces }: { account: number; by: string | null; email: number; replaces: number },
): Promise<void> {
  if (by === null) return clearContent(tx, [`email/${email}`]);
  const tainted = (await isContentTainted(tx, `email/${replaces}`)) || (await isTaintedWriter(tx, account, by));
  if (tainted) await markEmail(tx, account, email);
}

async function isTaintedBlob(rx: Read, blob: number): Promise<boolean> {
  const row = await rx.get(
    `SELECT 1 AS yes FROM email e CROSS JOIN tainted_content c ON c.content = 'email/' || e.id WHERE e.blob_id = ? LIMIT 1`,
    blob,
  );
  return row !== undefined;
}

/**
 * Tests if an agent that changes an account is tainted. Purged readers are not, so the time does not matter; a password
 * holder may hold any token of the tenant, and the other way round.
 */
export async function isTaintedWriter(rx: Read, account: number, by: string): Promise<boolean> {
  const row = await rx.get(
    `SELECT 1 AS yes FROM tainted_reader x JOIN account a ON a.tenant = x.tenant WHERE a.id = ?1
       AND (?3 = 1 OR x.by_password = 1 OR x.reader = coalesce((SELECT reader FROM derived_reader WHERE credential = ?2), ?2))
     LIMIT 1`,
    account,
    by,
    Number(!by.startsWith('tok_')),
  );
  return row !== undefined;
}

/** Marks words of an account's organization if an agent that writes them is tainted. */
export const markWordsOfWriter = command(
  'mark-words-of-writer',
  async (
    tx,
    { account, by, kinds }: { account: number; by: string; kinds: readonly string[] },
    { now },
  ): Promise<void> => {
    if (!(await isTaintedWriter(tx, account, by))) return;
    for (const kind of kinds) await markWordsOf(tx, account, kind, now);
  },
);

/** Records that a token shares the reader of the token that created it. */
export async function deriveReader(tx: Write, credential: string, creator: string): Promise<void> {
  await tx.run(
    `INSERT INTO derived_reader (credential, reader)
     VALUES (?1, coalesce((SELECT reader FROM derived_reader WHERE credential = ?2), ?2)) ON CONFLICT DO NOTHING`,
    credential,
    creator,
  );
}
