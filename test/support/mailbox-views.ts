import type { JmapClient } from './jmap-client.ts';
import { answerOf } from './mailbox-activity.ts';
import type { MailboxReader } from './mailbox-reader.ts';
import type { Visitor } from './visitor.ts';

/** A mailbox as one protocol shows it. */
export interface MailboxView {
  /** Subjects of the messages, in order. */
  subjects: string[];
  /** Octets that count in the quota. */
  used: number;
}

const SUBJECT = /Subject: (\S+)/g;

/** Messages and quota over IMAP; STORAGE counts units of 1,024 octets. */
export async function viewByImap(reader: MailboxReader): Promise<MailboxView> {
  const listed = await answerOf(reader, 'LIST "" *');
  const subjects: string[] = [];
  for (const [, name = ''] of listed.matchAll(/^\* LIST \([^)]*\) \S+ (.*)\r$/gm)) {
    if ((await answerOf(reader, `EXAMINE ${name}`)).includes('* 0 EXISTS')) continue;
    const fetched = await answerOf(reader, 'FETCH 1:* BODY.PEEK[HEADER.FIELDS (SUBJECT)]');
    subjects.push(...subjectsIn(fetched));
  }
  const [, units = ''] = /STORAGE (\d+) /.exec(await answerOf(reader, 'GETQUOTAROOT INBOX')) ?? [];
  return { subjects: subjects.toSorted(), used: Number(units) * 1024 };
}

/** Messages and quota over JMAP. */
export async function viewByJmap(jmap: JmapClient): Promise<MailboxView> {
  const { ids } = await jmap.call('Email/query', {});
  const { list } = await jmap.call('Email/get', { ids, properties: ['subject', 'mailboxIds'] });
  const quotas = (await jmap.call('Quota/get', { ids: null }))['list'] as { resourceType: string; used: number }[];
  const used = quotas.find(({ resourceType }) => resourceType === 'octets')?.used ?? Number.NaN;
  return { subjects: (list as { subject: string }[]).map(({ subject }) => subject).toSorted(), used };
}

/** Messages over MCP, and the quota of the mailbox. */
export async function viewByMcp(
  tool: (name: string, args: object) => Promise<Record<string, unknown>>,
  address: string,
): Promise<MailboxView> {
  const found = await tool('search_messages', { mailbox: address, query: 'after:2000-01-01', limit: 50 });
  const messages = found['messages'] as { untrusted: { subject: string } }[];
  const { mailboxes } = (await tool('list_emails', {})) as { mailboxes: { address: string; usedBytes: number }[] };
  const used = mailboxes.find((one) => one.address === address)?.usedBytes ?? Number.NaN;
  return { subjects: messages.map(({ untrusted }) => untrusted.subject).toSorted(), used };
}

/** The page of a mailbox: used octets as they are shown, and subjects of deleted messages. */
export async function viewByPortal(person: Visitor, path: string): Promise<{ deleted: string[]; stored: string }> {
  const [, stored = ''] = /<dt>Stored<\/dt>\s*<dd>\s*([^<]*?) of /.exec((await person.get(path)).text) ?? [];
  const { text } = await person.get(`${path}/deleted`);
  return { deleted: [...text.matchAll(/Zyq\w+subject/g)].map(([word]) => word).toSorted(), stored };
}

function subjectsIn(fetched: string): string[] {
  return [...fetched.matchAll(SUBJECT)].map(([, subject = '']) => subject);
}
